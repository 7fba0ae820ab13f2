// The life of a worker: start, crash, hang, replacement, resizing and stop.
import { describe, expect, test } from 'bun:test'
import type { WorkerHandle } from '../../src/pool/worker-handle.ts'
import { WorkersUnusableError } from '../../src/pool/worker-supervisor.ts'
import { createThreadReaper } from '../../src/pool/worker-threads.ts'
import { bodyOf } from './support/fake-worker.ts'
import { createHarness, type Harness, type HarnessOptions, type Settled, startHarness } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'

const allAnswered = async (answers: readonly Promise<Settled>[]): Promise<boolean> =>
  (await Promise.all(answers)).every(({ answer }) => answer !== null)

test('the end of a thread is reported once', () => {
  const reaper = createThreadReaper({ after: () => () => undefined, endOfTurn: () => undefined }, 1_000)
  const handle = { threadGone: false, terminate: () => undefined } as unknown as WorkerHandle
  const ends: boolean[] = []
  reaper.end(handle, (gone) => ends.push(gone))
  expect([reaper.gone(handle), reaper.gone(handle), ends]).toEqual([true, false, [true]])
})

describe('the first start', () => {
  test('resolves when every worker is ready, with an event for each', async () => {
    const harness = await startHarness({ workers: 3 })
    expect(harness.pool.stats()).toMatchObject({ workers: 3, wanted: 3, restarts: { start: 0 } })
    expect(harness.eventsOf('worker-ready').map(({ slot }) => slot)).toEqual([0, 1, 2])
  })

  test.each<[string, HarnessOptions['behaviour'], (harness: Harness) => Promise<void>, number, string]>([
    [
      'a worker reports a reason',
      (spawned) => (spawned === 1 ? { unusable: 'the passphrase opens no keystore' } : {}),
      (harness) => harness.advance(10_000),
      2,
      'the passphrase opens no keystore',
    ],
    [
      'a worker is not ready in time',
      () => ({ silent: true }),
      (harness) => harness.advance(60_000),
      2,
      'starting a signing worker timed out',
    ],
    [
      'a worker ends before it is ready',
      () => ({ silent: true }),
      (harness) => harness.lose(0),
      2,
      'a signing worker stopped while starting',
    ],
    [
      'no thread can be created',
      () => {
        throw new Error('no threads')
      },
      (harness) => harness.pump(),
      0,
      'could not create a signing worker thread',
    ],
  ])('fails without a retry if %s', async (_name, behaviour, act, spawned, detail) => {
    const harness = createHarness({ workers: 2, ...(behaviour && { behaviour }) })
    const reason = harness.pool.start().catch((error) => error)
    await harness.pump()
    await act(harness)
    expect(await reason).toBeInstanceOf(WorkersUnusableError)
    expect((await reason).detail).toBe(detail)
    await harness.advance(10_000)
    expect(harness.workers.map(({ terminated, dead }) => terminated || dead)).toEqual(Array(spawned).fill(true))
    await harness.pool.close()
  })
})

describe('replacement', () => {
  test('is immediate, in the same slot, with a higher generation', async () => {
    const harness = await startHarness({ workers: 2 })
    await harness.lose(1)
    expect(harness.worker(2).settings).toMatchObject({ slot: 1, generation: 2 })
    expect(harness.pool.stats()).toMatchObject({ workers: 2, restarts: { crash: 1, hang: 0, start: 0 } })
  })

  test('backs off while replacements fail, until a worker completes a job', async () => {
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
    const { answers } = await harness.load(1, 1)
    await harness.answer(6)
    expect(await allAnswered(answers)).toBe(true)
    await harness.lose(6)
    expect(harness.workers).toHaveLength(8)
  })

  test('is reported and retried if the replacement cannot start', async () => {
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

describe('a worker without a heartbeat', () => {
  /** The worker begins job 1; `act` runs every 50 ms. */
  const workFor = async (milliseconds: number, act: (harness: Harness) => void = () => undefined) => {
    const harness = await startHarness({ workers: 1 })
    const {
      answers: [answer],
    } = await harness.load(1, 1)
    const [worker] = harness.workers
    for (const job of worker?.jobs ?? []) worker?.work(job)
    for (let elapsed = 0; elapsed < milliseconds; elapsed += 50) {
      act(harness)
      await harness.advance(50)
    }
    return { harness, answer }
  }

  test('is measured from its first job: neither the time without jobs nor a later job counts', async () => {
    const harness = await startHarness({ workers: 1 })
    await harness.load(1, 1)
    await harness.advance(300)
    await harness.answer(0)
    for (let idleMs = 0; idleMs < 5_000; idleMs += 250) await harness.advance(250)
    const { answers: hung } = await harness.load(1, 2)
    for (let waitedMs = 0; waitedMs < 750; waitedMs += 250) {
      await harness.advance(250)
      expect(harness.eventsOf('worker-lost')).toEqual([])
      await harness.load(1, 10 + waitedMs)
    }
    for (let waitedMs = 0; waitedMs < 750; waitedMs += 250) {
      void harness.submit(1_000 + waitedMs)
      await harness.advance(250)
    }
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'hang' }])
    await harness.answer(1)
    expect(await allAnswered(hung)).toBe(true)
  })

  test('is replaced after hangMs, and the next worker gets its job', async () => {
    const { harness, answer } = await workFor(1_500)
    expect(harness.worker(0).terminated).toBe(true)
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'hang', culpritUuid: uuidOf(1) }])
    await harness.answer(1)
    expect((await answer)?.answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  })

  test('is not replaced before hangMs, nor while its heartbeat continues', async () => {
    const before = await workFor(900)
    const beating = await workFor(10_000, ({ worker }) => {
      for (const job of worker(0).jobs) worker(0).work(job)
    })
    expect([before, beating].map(({ harness }) => harness.worker(0).terminated)).toEqual([false, false])
  })

  test('is not replaced without jobs, and has hangMs for its first job', async () => {
    const harness = await startHarness({ workers: 1 })
    await harness.advance(60_000)
    await harness.load(1, 1)
    await harness.advance(700)
    expect(harness.worker(0).terminated).toBe(false)
    expect(harness.pool.stats().restarts).toEqual({ crash: 0, hang: 0, start: 0 })
  })

  test('is not replaced because the main thread was suspended', async () => {
    const harness = await startHarness({ workers: 1 })
    await harness.load(1, 1)
    await harness.advance(300)
    harness.time.stall(20_000)
    await harness.advance(0)
    expect(harness.worker(0).terminated).toBe(false)
    await harness.answer(0)
    expect(harness.pool.stats()).toMatchObject({ answered: 1, restarts: { hang: 0 } })
  })

  test('that cannot be terminated is replaced in another slot, and counted until it ends', async () => {
    const harness = await startHarness({ workers: 1, behaviour: (spawned) => ({ unkillable: spawned === 0 }) })
    await harness.load(1, 1)
    await harness.advance(3_000)
    expect(harness.worker(1).settings?.slot).toBe(1)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, abandoned: 1 })
    await harness.lose(0)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, abandoned: 0, restarts: { hang: 1, crash: 0 } })
    expect(harness.workers).toHaveLength(2)
  })

  test('costs at most two workers per job', async () => {
    const { harness, answer } = await workFor(1_500)
    for (const job of harness.worker(1).jobs) harness.worker(1).work(job)
    await harness.advance(3_000)
    expect(await answer).toMatchObject({ code: 'INTERNAL' })
    expect(harness.workers).toHaveLength(3)
  })
})

describe('resizing', () => {
  test('to more workers adds workers that get jobs', async () => {
    const harness = await startHarness({ workers: 1 })
    harness.pool.resize(3)
    await harness.pump()
    expect(harness.pool.stats()).toMatchObject({ workers: 3, wanted: 3 })
    await harness.load(6)
    expect(harness.workers.map((worker) => worker.jobs.length)).toEqual([2, 2, 2])
  })

  test('to fewer workers lets them finish their jobs, sends them no more, and then closes them', async () => {
    const harness = await startHarness({ workers: 3 })
    const { answers } = await harness.load(6)
    harness.pool.resize(1)
    answers.push(...(await harness.load(4, 10)).answers)
    expect(harness.workers.map((worker) => worker.jobs.length)).toEqual([6, 2, 2])
    expect(harness.worker(1).terminated).toBe(false)
    await harness.answerAll()
    expect(harness.workers.map((worker) => worker.dead)).toEqual([false, true, true])
    expect(harness.worker(2).controls.at(-1)).toEqual({ type: 'close' })
    expect(await allAnswered(answers)).toBe(true)
    expect(harness.pool.stats()).toMatchObject({ workers: 1, wanted: 1, restarts: { crash: 0 } })
  })

  test('uses a free slot again', async () => {
    const harness = await startHarness({ workers: 2 })
    for (const workers of [1, 2]) {
      harness.pool.resize(workers)
      await harness.pump()
    }
    expect(harness.worker(2).settings).toMatchObject({ slot: 1, generation: 2 })
  })

  test('does not lose jobs of a retiring worker that crashes', async () => {
    const harness = await startHarness({ workers: 2 })
    const { answers } = await harness.load(2)
    harness.pool.resize(1)
    await harness.lose(1)
    await harness.answer(0)
    expect(await allAnswered(answers)).toBe(true)
    expect(harness.workers).toHaveLength(2)
  })

  test('terminates a retiring worker that does not close', async () => {
    const harness = await startHarness({ workers: 2 })
    Object.assign(harness.worker(1).behaviour, { silent: true })
    harness.pool.resize(1)
    await harness.pump()
    expect(harness.worker(1).terminated).toBe(false)
    await harness.advance(5_000)
    expect(harness.worker(1).terminated).toBe(true)
    harness.pool.resize(2)
    await harness.pump()
    expect(harness.worker(2).settings?.slot).toBe(1)
  })
})

describe('drain', () => {
  test('refuses new jobs and waits for pending jobs', async () => {
    const harness = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const { answers } = await harness.load(2)
    const drained = harness.pool.drain(10_000)
    expect(await harness.submit(2)).toMatchObject({ code: 'SHUTTING_DOWN' })
    await harness.answer(0, harness.worker(0).jobs.slice(0, 1))
    await harness.answer(0, harness.worker(0).jobs.slice(1))
    expect(await drained).toBe(true)
    expect(await allAnswered(answers)).toBe(true)
  })

  test('fails the remaining jobs after its timeout; later answers are withheld', async () => {
    const harness = await startHarness({ workers: 1, limits: { hangMs: 60_000 } })
    const {
      answers: [answer],
    } = await harness.load(1)
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

  test('without jobs resolves immediately', async () => {
    const harness = await startHarness()
    expect(await harness.pool.drain(1)).toBe(true)
  })
})

describe('close', () => {
  test('ends every worker, fails the remaining jobs and clears all timers; calling close or submit again is safe', async () => {
    const harness = await startHarness({ workers: 3 })
    const {
      answers: [answer],
    } = await harness.load(1)
    const closed = Promise.all([harness.pool.close(), harness.pool.close()])
    expect(await answer).toMatchObject({ code: 'SHUTTING_DOWN' })
    await harness.answerAll()
    await closed
    expect(await harness.submit(1)).toMatchObject({ code: 'SHUTTING_DOWN' })
    expect(harness.workers.every((worker) => worker.dead)).toBe(true)
    expect(harness.time.pendingTimers).toBe(0)
    expect(harness.pool.stats().workers).toBe(0)
  })

  test('does not wait for a worker that hangs', async () => {
    const harness = await startHarness({ workers: 1, behaviour: () => ({ unkillable: true }) })
    await harness.load(1)
    const closed = harness.pool.close()
    await harness.advance(10_000)
    await closed
    expect(harness.pool.stats().abandoned).toBe(1)
  })
})
