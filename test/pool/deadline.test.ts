// Invariant 4: nothing is sent after the deadline, and every job past its deadline gets 408, regardless of what hangs.
import { describe, expect, test } from 'bun:test'
import type { DeadlineExceededError } from '../../src/domain/errors.ts'
import { bodyOf, type FakeWorker } from './support/fake-worker.ts'
import { createHarness, type Harness, type HarnessOptions, startHarness } from './support/harness.ts'
import { jobOf, targetOf, uuidOf } from './support/jobs.ts'

const EXPIRED = { code: 'DEADLINE_EXCEEDED' }
const TOO_LATE = { status: 'failed', code: 'DEADLINE_EXCEEDED', detail: '', errorClass: null } as const
const PATIENT = { workers: 1, limits: { hangMs: 60_000 } }

const withheldBy = ({ controls }: FakeWorker): string[] =>
  controls.flatMap((control) => (control.type === 'withheld' ? [...control.uuids] : []))

describe('a job past its deadline', () => {
  test('gets 408 while it waits for a worker', async () => {
    const { load, advance, pool } = createHarness()
    const { answers } = await load(2, 1)
    await advance(24_999)
    expect(pool.stats()).toMatchObject({ queued: 2, expired: 0 })
    await advance(1)
    expect(await Promise.all(answers)).toMatchObject([EXPIRED, EXPIRED])
    expect(pool.stats()).toMatchObject({ queued: 0, pending: 0, expired: 2 })
  })

  test('gets 408 while its worker is silent, and is no longer pending', async () => {
    const { load, advance, pool } = await startHarness(PATIENT)
    const {
      answers: [answer],
    } = await load(1, 1)
    await advance(25_000)
    expect(await answer).toMatchObject(EXPIRED)
    expect(pool.stats()).toMatchObject({ inFlight: 1, pending: 0, expired: 1 })
  })

  test('is refused at submission, and dropped before dispatch', async () => {
    const { load, time, submit, worker, pool, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    expect(await submit(1, { deadlineMs: time.clock.monotonicMs() })).toMatchObject(EXPIRED)
    await load(1, 2)
    const late = submit(3, { deadlineMs: time.clock.monotonicMs() + 10 })
    // The worker becomes free before the timer fires.
    time.stall(11)
    await answer(0)
    expect(await late).toMatchObject(EXPIRED)
    expect(worker(0).jobs.map((job) => job.uuid)).toEqual([uuidOf(2)])
    expect(pool.stats().expired).toBe(2)
  })

  test('expires to the millisecond, even if its deadline is earlier than that of earlier jobs', async () => {
    const { time, submit, advance, pool } = createHarness()
    const late = submit(1)
    const early = submit(2, { deadlineMs: time.clock.monotonicMs() + 100 })
    await advance(99)
    expect(pool.stats().expired).toBe(0)
    await advance(1)
    expect(await early).toMatchObject(EXPIRED)
    expect(pool.stats().queued).toBe(1)
    await advance(25_000)
    expect(await late).toMatchObject(EXPIRED)
  })
})

describe('the error of a job states that nothing was signed', () => {
  const start = async (behaviour: HarnessOptions['behaviour'] = () => ({})) => {
    const harness = await startHarness({ workers: 1, limits: { hangMs: 60_000, maxInFlight: 1 }, behaviour })
    const { pool, time, pump } = harness
    const submit = (number: number): Promise<unknown> =>
      pool
        .submit(jobOf(number, { deadlineMs: time.clock.monotonicMs() + 25_000 }), targetOf())
        .then(() => null)
        .catch(({ nothingSigned }: DeadlineExceededError) => nothingSigned)
    const results = [submit(1), submit(2)]
    await pump()
    return { ...harness, results }
  }

  test.each<[string, (harness: Harness) => Promise<void>]>([
    ['waits in the queue', ({ advance }) => advance(25_000)],
    [
      'leaves the queue after the deadline',
      ({ time, answer }) => {
        time.stall(25_000)
        return answer(0)
      },
    ],
    [
      'was not sent before the pool stops',
      async ({ pool, advance }) => {
        const drained = pool.drain(1_000)
        await advance(1_000)
        expect(await drained).toBe(false)
      },
    ],
  ])('if the job %s, but not if a worker holds it', async (_name, end) => {
    const { results, ...harness } = await start()
    await end(harness)
    expect(await Promise.all(results)).toEqual([false, true])
  })

  test.each([true, false])('if its worker reports so: %p', async (nothingSigned) => {
    const { advance, outcome, results } = await start()
    await outcome(0, { ...TOO_LATE, nothingSigned })
    await advance(25_000)
    expect(await results[0]).toBe(nothingSigned)
  })

  test('if its worker was lost without a record of it, and there was no other worker', async () => {
    const { advance, lose, workers, results } = await start((spawned) => ({ silent: spawned > 0 }))
    await lose(0)
    await advance(25_000)
    expect(workers.flatMap(({ jobs }) => jobs)).toHaveLength(1)
    expect(await results[0]).toBe(true)
  })
})

describe('an answer after the deadline', () => {
  test('is not delivered, and the log records that it was withheld', async () => {
    const { load, advance, worker, pool, answer, eventsOf } = await startHarness(PATIENT)
    const { answers } = await load(2, 1)
    await advance(25_000)
    await answer(0)
    expect(await Promise.all(answers)).toMatchObject([EXPIRED, EXPIRED])
    expect(withheldBy(worker(0))).toEqual([uuidOf(1), uuidOf(2)])
    expect(eventsOf('withheld')).toEqual([{ type: 'withheld', uuids: [uuidOf(1), uuidOf(2)] }])
    expect(pool.stats()).toMatchObject({ answered: 0, expired: 2, withheld: 2, inFlight: 0 })
  })

  test('is withheld even if it arrives before the timer fires', async () => {
    const { load, time, worker, answer } = await startHarness({ workers: 1 })
    const {
      answers: [answered],
    } = await load(1, 1)
    time.stall(25_000)
    await answer(0)
    expect(await answered).toMatchObject(EXPIRED)
    expect(withheldBy(worker(0))).toEqual([uuidOf(1)])
  })

  test('is not withheld if it is a failure', async () => {
    const { load, advance, worker, outcome } = await startHarness(PATIENT)
    await load(1, 1)
    await advance(25_000)
    await outcome(0, { ...TOO_LATE, nothingSigned: true })
    expect(withheldBy(worker(0))).toEqual([])
  })

  test('is recorded by another worker if the first is lost before it confirms', async () => {
    const { load, advance, worker, answer, lose } = await startHarness({
      limits: { hangMs: 60_000 },
      behaviour: (spawned) => ({ mute: spawned === 0 }),
    })
    await load(1, 1)
    await advance(25_000)
    await answer(0)
    expect(withheldBy(worker(1))).toEqual([])
    await lose(0)
    expect(withheldBy(worker(1))).toEqual([uuidOf(1)])
  })
})

describe('the worker’s clock', () => {
  test.each([-1_000_000, -1, 0, 1, 1_000_000])('may be %p ms ahead: deadlines are translated', async (clockAheadMs) => {
    const { load, time, worker } = await startHarness({ workers: 1, behaviour: () => ({ clockAheadMs }) })
    await load(1)
    expect(worker(0).jobs[0]?.deadlineMs).toBe(time.clock.monotonicMs() + 25_000 + clockAheadMs)
  })

  test('is measured by the fastest handshake, which never gives the worker more time', async () => {
    const { pool, time, worker, load } = createHarness({ workers: 1 })
    const started = pool.start()
    // Transit times of the messages: ready, then three handshakes.
    for (const transitMs of [0, 30, 4, 7]) {
      time.stall(transitMs)
      worker(0).deliver()
    }
    await started
    await load(1)
    expect(worker(0).jobs[0]?.deadlineMs).toBe(time.clock.monotonicMs() + 25_000 - 4)
  })

  test('may be slightly ahead: a failure before the deadline is answered at the deadline', async () => {
    const { load, advance, pool, outcome } = await startHarness(PATIENT)
    const {
      answers: [answer],
    } = await load(1, 1)
    await advance(24_990)
    await outcome(0, { ...TOO_LATE, nothingSigned: true })
    expect(pool.stats()).toMatchObject({ pending: 1, inFlight: 0, expired: 0 })
    await advance(10)
    expect(await answer).toMatchObject(EXPIRED)
  })
})

test('an answer before the deadline is delivered, and cancels the timer', async () => {
  const { load, advance, pool, answer } = await startHarness({ workers: 1 })
  const {
    answers: [answered],
  } = await load(1, 1)
  await answer(0)
  expect((await answered)?.answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  await advance(30_000)
  expect(pool.stats()).toMatchObject({ expired: 0, answered: 1, withheld: 0 })
})
