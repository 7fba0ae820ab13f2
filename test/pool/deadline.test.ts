// Invariant 4: nothing is sent after the deadline, and every job past it is answered 408, whatever hangs.
import { describe, expect, test } from 'bun:test'
import type { DeadlineExceededError } from '../../src/domain/errors.ts'
import { bodyOf } from './support/fake-worker.ts'
import { createHarness, type HarnessOptions, startHarness } from './support/harness.ts'
import { jobOf, targetOf, uuidOf } from './support/jobs.ts'

const TOO_LATE = { status: 'failed', code: 'DEADLINE_EXCEEDED', detail: '', errorClass: null } as const

const withheldBy = (worker: { controls: readonly { type: string }[] }): string[] =>
  worker.controls.flatMap((control) =>
    control.type === 'withheld' ? [...(control as never as { uuids: string[] }).uuids] : [],
  )

describe('a job past its deadline', () => {
  test('is answered 408 while it waits for a worker that never comes', async () => {
    const { submit, advance, pool } = createHarness()
    const answers = [submit(1), submit(2)]
    await advance(24_999)
    expect(pool.stats()).toMatchObject({ queued: 2, expired: 0 })
    await advance(1)
    expect(await Promise.all(answers)).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }, { code: 'DEADLINE_EXCEEDED' }])
    expect(pool.stats()).toMatchObject({ queued: 0, pending: 0, expired: 2 })
  })

  test('is answered 408 while its worker is silent, and then not waited for', async () => {
    const { pump, submit, advance, pool } = await startHarness({ limits: { hangMs: 60_000 } })
    const answer = submit(1)
    await pump()
    await advance(25_000)
    expect(await answer).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(pool.stats()).toMatchObject({ inFlight: 1, pending: 0, expired: 1 })
  })

  test('is refused when it comes, and dropped when its turn comes', async () => {
    const { pump, time, submit, worker, pool, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    expect(await submit(1, { deadlineMs: time.clock.monotonicMs() })).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    void submit(2)
    await pump()
    const late = submit(3, { deadlineMs: time.clock.monotonicMs() + 10 })
    // The main thread is busy, so the timer has not fired when the worker becomes free.
    time.stall(11)
    await answer(0)
    expect(await late).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(worker(0).jobs.map((job) => job.uuid)).toEqual([uuidOf(2)])
    expect(pool.stats().expired).toBe(2)
  })

  test('shorter deadlines that overtake are kept to the millisecond', async () => {
    const { time, submit, advance, pool } = createHarness()
    const late = submit(1)
    const early = submit(2, { deadlineMs: time.clock.monotonicMs() + 100 })
    await advance(99)
    expect(pool.stats().expired).toBe(0)
    await advance(1)
    expect(await early).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(pool.stats().queued).toBe(1)
    await advance(25_000)
    expect(await late).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  })
})

describe('the error of a job states that nothing was signed', () => {
  const LIMITS = { hangMs: 60_000, maxInFlight: 1 }
  const oneWorker = async (behaviour: HarnessOptions['behaviour'] = () => ({})) => {
    const harness = await startHarness({ workers: 1, limits: LIMITS, behaviour })
    const { pool, time, worker } = harness
    const submit = (number: number): Promise<unknown> =>
      pool
        .submit(jobOf(number, { deadlineMs: time.clock.monotonicMs() + 25_000 }), targetOf())
        .then(() => null)
        .catch(({ nothingSigned }: DeadlineExceededError) => nothingSigned)
    const reportTooLate = async (nothingSigned: boolean): Promise<void> => {
      worker(0).outcomes([{ ...TOO_LATE, sequence: worker(0).jobs[0]?.sequence ?? -1, nothingSigned }])
      await harness.pump()
    }
    return { ...harness, submit, reportTooLate }
  }

  test('while the job waits in the queue, but not while a worker holds it', async () => {
    const { pump, submit, advance } = await oneWorker()
    const results = [submit(1), submit(2)]
    await pump()
    await advance(25_000)
    expect(await Promise.all(results)).toEqual([false, true])
  })

  test('if its turn comes after the deadline', async () => {
    const { pump, submit, time, answer } = await oneWorker()
    const results = [submit(1), submit(2)]
    await pump()
    time.stall(25_000)
    await answer(0)
    expect(await Promise.all(results)).toEqual([false, true])
  })

  test.each([true, false])('if its worker reports so: %p', async (nothingSigned) => {
    const { pump, submit, advance, reportTooLate } = await oneWorker()
    const result = submit(1)
    await pump()
    await reportTooLate(nothingSigned)
    await advance(25_000)
    expect(await result).toBe(nothingSigned)
  })

  test('if its worker was lost without a record of it, and no other came', async () => {
    const { pump, submit, advance, lose, workers } = await oneWorker((spawned) => ({ silent: spawned > 0 }))
    const result = submit(1)
    await pump()
    await lose(0)
    await advance(25_000)
    expect(workers.flatMap(({ jobs }) => jobs)).toHaveLength(1)
    expect(await result).toBe(true)
  })

  test('if the pool stops before a worker gets it', async () => {
    const { pump, submit, advance, pool } = await oneWorker()
    const results = [submit(1), submit(2)]
    await pump()
    const drained = pool.drain(1_000)
    await advance(1_000)
    expect(await drained).toBe(false)
    expect(await Promise.all(results)).toEqual([false, true])
  })
})

describe('an answer after the deadline', () => {
  test('is never delivered, and the log is told that it was withheld', async () => {
    const harness = await startHarness({ workers: 1, limits: { hangMs: 60_000 } })
    const { pump, submit, advance, worker, pool } = harness
    const answers = [submit(1), submit(2)]
    await pump()
    await advance(25_000)
    worker(0).answer()
    await pump()
    expect(await Promise.all(answers)).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }, { code: 'DEADLINE_EXCEEDED' }])
    expect(withheldBy(worker(0))).toEqual([uuidOf(1), uuidOf(2)])
    expect(harness.eventsOf('withheld')).toEqual([{ type: 'withheld', uuids: [uuidOf(1), uuidOf(2)] }])
    expect(pool.stats()).toMatchObject({ answered: 0, expired: 2, withheld: 2, inFlight: 0 })
  })

  test('is withheld also when it is there before the timer fires', async () => {
    const { pump, time, submit, worker } = await startHarness({ workers: 1 })
    const answer = submit(1)
    await pump()
    time.stall(25_000)
    worker(0).answer()
    await pump()
    expect(await answer).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(withheldBy(worker(0))).toEqual([uuidOf(1)])
  })

  test('a failure after the deadline is nothing to withhold', async () => {
    const { pump, submit, advance, worker } = await startHarness({ workers: 1, limits: { hangMs: 60_000 } })
    void submit(1)
    await pump()
    await advance(25_000)
    const sequence = worker(0).jobs[0]?.sequence ?? -1
    worker(0).outcomes([{ ...TOO_LATE, sequence, nothingSigned: true }])
    await pump()
    expect(withheldBy(worker(0))).toEqual([])
  })

  test('is told to another worker when the first is lost before it confirms', async () => {
    const { pump, submit, advance, worker, answer, lose } = await startHarness({
      limits: { hangMs: 60_000 },
      behaviour: (spawned) => ({ mute: spawned === 0 }),
    })
    void submit(1)
    await pump()
    await advance(25_000)
    await answer(0)
    expect(withheldBy(worker(1))).toEqual([])
    await lose(0)
    expect(withheldBy(worker(1))).toEqual([uuidOf(1)])
  })
})

describe('the worker’s clock', () => {
  for (const clockAheadMs of [-1_000_000, -1, 0, 1, 1_000_000]) {
    test(`${clockAheadMs} ms ahead of ours: the deadline arrives translated`, async () => {
      const { pump, pool, time, worker } = await startHarness({ workers: 1, behaviour: () => ({ clockAheadMs }) })
      const deadlineMs = time.clock.monotonicMs() + 500
      pool.submit(jobOf(1, { deadlineMs }), targetOf()).catch(() => undefined)
      await pump()
      expect(worker(0).jobs[0]?.deadlineMs).toBe(deadlineMs + clockAheadMs)
    })
  }

  test('slow handshakes leave the worker less time than there is, never more; the fastest of them counts', async () => {
    const harness = createHarness({ workers: 1 })
    const { pool, time, pump } = harness
    const started = pool.start()
    const worker = harness.worker(0)
    // Each message to us is on its way for this long: ready, then three handshakes.
    for (const transitMs of [0, 30, 4, 7]) {
      time.stall(transitMs)
      worker.deliver()
    }
    await started
    const deadlineMs = time.clock.monotonicMs() + 500
    pool.submit(jobOf(1, { deadlineMs }), targetOf()).catch(() => undefined)
    await pump()
    expect(worker.jobs[0]?.deadlineMs).toBe(deadlineMs - 4)
  })

  test('a worker that thinks it is too late a moment early changes nothing: the answer comes at the deadline', async () => {
    const { pump, submit, advance, worker, pool } = await startHarness({ workers: 1, limits: { hangMs: 60_000 } })
    const answer = submit(1)
    await pump()
    await advance(24_990)
    const sequence = worker(0).jobs[0]?.sequence ?? -1
    worker(0).outcomes([{ ...TOO_LATE, sequence, nothingSigned: true }])
    await pump()
    expect(pool.stats()).toMatchObject({ pending: 1, inFlight: 0, expired: 0 })
    await advance(10)
    expect(await answer).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  })
})

test('an answer in time is delivered, and its timer harms nobody', async () => {
  const { pump, submit, advance, worker, pool } = await startHarness({ workers: 1 })
  const answer = submit(1)
  await pump()
  worker(0).answer()
  await pump()
  expect((await answer).answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  await advance(30_000)
  expect(pool.stats()).toMatchObject({ expired: 0, answered: 1, withheld: 0 })
})
