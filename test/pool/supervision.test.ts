// Workers' lives: starting, dying, hanging, growing, shrinking, stopping.
import { describe, expect, test } from 'bun:test'
import { WorkersUnusableError } from '../../src/pool/worker-supervisor.ts'
import { bodyOf } from './support/fake-worker.ts'
import { createHarness, startHarness } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'

describe('the first start', () => {
  test('resolves once every worker is ready, and says which they are', async () => {
    const harness = createHarness({ workers: 3 })
    const started = harness.pool.start()
    await harness.pump()
    await started
    expect(harness.pool.stats()).toMatchObject({ workers: 3, wanted: 3, restarts: { start: 0 } })
    expect(harness.eventsOf('worker-ready').map(({ slot }) => slot)).toEqual([0, 1, 2])
  })

  const failStart = async (options: Parameters<typeof createHarness>[0], waitMs = 0) => {
    const harness = createHarness({ workers: 2, ...options })
    const reason = harness.pool.start().then(
      () => null,
      (error) => error,
    )
    await harness.pump()
    await harness.advance(waitMs)
    await harness.advance(10_000)
    return { harness, reason: await reason }
  }

  test('fails with the worker’s reason, and starts no worker again', async () => {
    const { harness, reason } = await failStart({
      behaviour: (spawned) => (spawned === 1 ? { unusable: 'the passphrase opens no keystore' } : {}),
    })
    expect(reason).toBeInstanceOf(WorkersUnusableError)
    expect(reason.detail).toBe('the passphrase opens no keystore')
    expect(harness.workers).toHaveLength(2)
    expect(harness.workers.every((worker) => worker.terminated)).toBe(true)
  })

  test('fails when a worker is not ready in time', async () => {
    const { harness, reason } = await failStart({ behaviour: () => ({ silent: true }) }, 60_000)
    expect(reason.detail).toBe('starting a signing worker timed out')
    expect(harness.workers).toHaveLength(2)
  })

  test('fails when a worker ends before it is ready', async () => {
    const harness = createHarness({ workers: 1, behaviour: () => ({ silent: true }) })
    const reason = harness.pool.start().catch((error) => error.detail)
    await harness.lose(0)
    expect(await reason).toBe('a signing worker stopped while starting')
    expect(harness.workers).toHaveLength(1)
    // Nothing is waited for: it is gone.
    await harness.pool.close()
  })

  test('fails when no thread can be made', async () => {
    const harness = createHarness({
      workers: 1,
      behaviour: () => {
        throw new Error('no threads')
      },
    })
    const reason = harness.pool.start().catch((error) => error.detail)
    await harness.pump()
    expect(await reason).toBe('could not create a signing worker thread')
  })
})

describe('replacement', () => {
  test('is at once, in the same slot, with a higher generation', async () => {
    const harness = await startHarness({ workers: 2 })
    await harness.lose(1)
    expect(harness.worker(2).settings).toMatchObject({ slot: 1, generation: 2 })
    expect(harness.pool.stats()).toMatchObject({ workers: 2, restarts: { crash: 1, hang: 0, start: 0 } })
  })

  test('backs off while replacements come to nothing, and no longer once one has answered', async () => {
    const harness = await startHarness({ workers: 1, behaviour: (spawned) => ({ silent: spawned > 0 && spawned < 6 }) })
    await harness.lose(0)
    const startedAt: number[] = []
    for (let spawned = 1; spawned < 6; spawned++) {
      const from = harness.time.clock.monotonicMs()
      await harness.lose(spawned)
      while (harness.workers.length === spawned + 1) await harness.advance(50)
      startedAt.push(harness.time.clock.monotonicMs() - from)
    }
    expect(startedAt).toEqual([100, 200, 400, 800, 1600])
    const answer = harness.submit(1)
    await harness.pump()
    await harness.answer(6)
    expect((await answer).answer).not.toBeNull()
    await harness.lose(6)
    expect(harness.workers).toHaveLength(8)
  })

  test('a worker that can’t start later is reported and tried again, not fatal', async () => {
    const harness = await startHarness({
      workers: 1,
      behaviour: (spawned) => (spawned === 1 ? { unusable: 'a keystore is gone' } : {}),
    })
    await harness.lose(0)
    expect(harness.eventsOf('worker-unusable')).toEqual([
      { type: 'worker-unusable', slot: 0, reason: 'a keystore is gone' },
    ])
    await harness.advance(100)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, restarts: { crash: 1, start: 1 } })
  })
})

describe('a worker without a sign of life', () => {
  const hungAfter = async (milliseconds: number, act: (harness: Awaited<ReturnType<typeof startHarness>>) => void) => {
    const harness = await startHarness({ workers: 1 })
    const answer = harness.submit(1)
    await harness.pump()
    const job = harness.worker(0).jobs[0]
    if (job === undefined) throw new Error('no job was sent')
    harness.worker(0).work(job)
    for (let elapsed = 0; elapsed < milliseconds; elapsed += 50) {
      act(harness)
      await harness.advance(50)
    }
    return { harness, answer }
  }

  test('is measured from its first job: neither the time without jobs nor a later job counts', async () => {
    const harness = await startHarness({ workers: 1 })
    void harness.submit(1)
    await harness.pump()
    await harness.advance(300)
    await harness.answer(0)
    for (let idleMs = 0; idleMs < 5_000; idleMs += 250) await harness.advance(250)
    const hung = harness.submit(2)
    await harness.pump()
    for (let waitedMs = 0; waitedMs < 750; waitedMs += 250) {
      await harness.advance(250)
      expect(harness.eventsOf('worker-lost')).toEqual([])
      void harness.submit(10 + waitedMs)
      await harness.pump()
    }
    for (let waitedMs = 0; waitedMs < 750; waitedMs += 250) {
      void harness.submit(1_000 + waitedMs)
      await harness.advance(250)
    }
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'hang' }])
    await harness.answer(1)
    expect((await hung).answer).not.toBeNull()
  })

  test('is replaced after hangMs, and its job done by the next', async () => {
    const { harness, answer } = await hungAfter(1_500, () => undefined)
    expect(harness.worker(0).terminated).toBe(true)
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'hang', culpritUuid: uuidOf(1) }])
    await harness.answer(1)
    expect((await answer).answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  })

  test('is left alone before that', async () => {
    const { harness } = await hungAfter(900, () => undefined)
    expect(harness.worker(0).terminated).toBe(false)
  })

  test('is left alone while its heartbeat goes on', async () => {
    const { harness } = await hungAfter(10_000, ({ worker }) => {
      const job = worker(0).jobs[0]
      if (job !== undefined) worker(0).work(job)
    })
    expect(harness.worker(0).terminated).toBe(false)
  })

  test('is left alone while it has nothing to do', async () => {
    const harness = await startHarness()
    await harness.advance(60_000)
    expect(harness.pool.stats().restarts).toEqual({ crash: 0, hang: 0, start: 0 })
  })

  test('is given its time when a job comes after long idleness', async () => {
    const harness = await startHarness({ workers: 1 })
    await harness.advance(60_000)
    void harness.submit(1)
    await harness.pump()
    await harness.advance(700)
    expect(harness.worker(0).terminated).toBe(false)
  })

  test('is not blamed for a main thread that stood still', async () => {
    const harness = await startHarness({ workers: 1 })
    void harness.submit(1)
    await harness.pump()
    await harness.advance(300)
    harness.time.stall(20_000)
    await harness.advance(0)
    expect(harness.worker(0).terminated).toBe(false)
    await harness.answer(0)
    expect(harness.pool.stats()).toMatchObject({ answered: 1, restarts: { hang: 0 } })
  })

  test('that native code keeps alive is replaced in a slot of its own, and counted until it ends', async () => {
    const harness = await startHarness({ workers: 1, behaviour: (spawned) => ({ unkillable: spawned === 0 }) })
    void harness.submit(1)
    await harness.pump()
    await harness.advance(3_000)
    expect(harness.worker(1).settings?.slot).toBe(1)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, abandoned: 1 })
    await harness.lose(0)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, abandoned: 0, restarts: { hang: 1, crash: 0 } })
    expect(harness.workers).toHaveLength(2)
  })

  test('hung again and again: each job costs two workers at most', async () => {
    const harness = await startHarness({ workers: 1 })
    const answer = harness.submit(1)
    await harness.pump()
    for (let hang = 0; hang < 2; hang++) {
      const worker = harness.workers.at(-1)
      const job = worker?.jobs[0]
      if (worker === undefined || job === undefined) throw new Error('the job was not sent')
      worker.work(job)
      await harness.advance(3_000)
    }
    expect(await answer).toMatchObject({ code: 'INTERNAL' })
    expect(harness.workers).toHaveLength(3)
  })
})

describe('resizing while running', () => {
  test('growing adds workers that take jobs', async () => {
    const harness = await startHarness({ workers: 1 })
    harness.pool.resize(3)
    await harness.pump()
    expect(harness.pool.stats()).toMatchObject({ workers: 3, wanted: 3 })
    for (let number = 0; number < 6; number++) void harness.submit(number)
    await harness.pump()
    expect(harness.workers.map((worker) => worker.jobs.length)).toEqual([2, 2, 2])
  })

  test('shrinking lets a worker finish, gives it nothing more, and then closes it', async () => {
    const harness = await startHarness({ workers: 3 })
    const answers = Array.from({ length: 6 }, (_, number) => harness.submit(number))
    await harness.pump()
    harness.pool.resize(1)
    const more = Array.from({ length: 4 }, (_, number) => harness.submit(10 + number))
    await harness.pump()
    expect(harness.workers.map((worker) => worker.jobs.length)).toEqual([6, 2, 2])
    expect(harness.worker(1).terminated).toBe(false)
    for (const worker of harness.workers) worker.answer()
    await harness.pump()
    expect(harness.workers.map((worker) => worker.dead)).toEqual([false, true, true])
    expect(harness.worker(2).controls.at(-1)).toEqual({ type: 'close' })
    expect((await Promise.all([...answers, ...more])).every(({ answer }) => answer !== null)).toBe(true)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, wanted: 1, restarts: { crash: 0 } })
  })

  test('a slot that was given back is used again', async () => {
    const harness = await startHarness({ workers: 2 })
    harness.pool.resize(1)
    await harness.pump()
    harness.pool.resize(2)
    await harness.pump()
    expect(harness.worker(2).settings).toMatchObject({ slot: 1, generation: 2 })
  })

  test('a retiring worker that dies loses no job', async () => {
    const harness = await startHarness({ workers: 2 })
    const answers = [harness.submit(0), harness.submit(1)]
    await harness.pump()
    harness.pool.resize(1)
    await harness.lose(1)
    await harness.answer(0)
    expect((await Promise.all(answers)).every(({ answer }) => answer !== null)).toBe(true)
    expect(harness.workers).toHaveLength(2)
  })

  test('a retiring worker that does not close is ended', async () => {
    const harness = await startHarness({ workers: 2 })
    const { worker } = harness
    // It never answers `close`.
    Object.assign(worker(1).behaviour, { silent: true })
    harness.pool.resize(1)
    await harness.pump()
    expect(worker(1).terminated).toBe(false)
    await harness.advance(5_000)
    expect(worker(1).terminated).toBe(true)
    harness.pool.resize(2)
    await harness.pump()
    expect(harness.worker(2).settings?.slot).toBe(1)
  })
})

describe('stopping', () => {
  test('drain takes no more jobs and waits for those it has', async () => {
    const harness = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const answers = [harness.submit(0), harness.submit(1)]
    await harness.pump()
    const drained = harness.pool.drain(10_000)
    expect(await harness.submit(2)).toMatchObject({ code: 'SHUTTING_DOWN' })
    await harness.answer(0, harness.worker(0).jobs.slice(0, 1))
    await harness.answer(0, harness.worker(0).jobs.slice(1))
    expect(await drained).toBe(true)
    expect((await Promise.all(answers)).every(({ answer }) => answer !== null)).toBe(true)
  })

  test('drain fails what is left when its time is over; answers after that are withheld', async () => {
    const harness = await startHarness({ workers: 1, limits: { hangMs: 60_000 } })
    const answer = harness.submit(0)
    await harness.pump()
    const drained = harness.pool.drain(2_000)
    await harness.advance(2_000)
    expect(await drained).toBe(false)
    expect(await answer).toMatchObject({ code: 'SHUTTING_DOWN' })
    const closed = harness.pool.close()
    await harness.answer(0)
    await closed
    const types = harness.worker(0).controls.map(({ type }) => type)
    expect(types.slice(-2)).toEqual(['withheld', 'close'])
  })

  test('drain with nothing to do is done', async () => {
    const harness = await startHarness()
    expect(await harness.pool.drain(1)).toBe(true)
  })

  test('close ends every worker, fails what is left and leaves no timer', async () => {
    const harness = await startHarness({ workers: 3 })
    const answer = harness.submit(0)
    await harness.pump()
    const closed = harness.pool.close()
    expect(await answer).toMatchObject({ code: 'SHUTTING_DOWN' })
    for (const worker of harness.workers) worker.answer()
    await harness.pump()
    await closed
    expect(harness.workers.every((worker) => worker.dead)).toBe(true)
    expect(harness.time.pendingTimers).toBe(0)
    expect(harness.pool.stats().workers).toBe(0)
  })

  test('close does not wait for a worker that hangs', async () => {
    const harness = await startHarness({ workers: 1, behaviour: () => ({ unkillable: true }) })
    void harness.submit(0)
    await harness.pump()
    const closed = harness.pool.close()
    await harness.advance(10_000)
    await closed
    expect(harness.pool.stats().abandoned).toBe(1)
  })

  test('close twice is close', async () => {
    const harness = await startHarness()
    const both = Promise.all([harness.pool.close(), harness.pool.close()])
    await harness.pump()
    await both
    expect(await harness.submit(1)).toMatchObject({ code: 'SHUTTING_DOWN' })
  })
})
