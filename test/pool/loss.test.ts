// Jobs of a lost worker: answered from its log, retried or failed, but never signed twice.
import { describe, expect, test } from 'bun:test'
import { LATCH_FENCED, SHARED_LATCH } from '../../src/pool/protocol.ts'
import type { PoolAnswer } from '../../src/pool/settlement.ts'
import { bodyOf, type FakeWorker } from './support/fake-worker.ts'
import { createHarness, type Harness, type HarnessOptions, type Settled, startHarness } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'

const recordedAnswer = (number: number): PoolAnswer => ({
  compliant: true,
  ruleId: 'rule',
  body: `{"recorded":"${uuidOf(number)}"}`,
})

const jobAt = (worker: FakeWorker, index: number) => {
  const job = worker.jobs.at(index)
  if (job === undefined) throw new Error(`the worker has no job ${index}`)
  return job
}

const uuidsOf = (worker: FakeWorker): string[] => worker.jobs.map((job) => job.uuid)
const allAnswered = async (answers: readonly Promise<Settled>[]): Promise<boolean> =>
  (await Promise.all(answers)).every(({ answer }) => answer !== null)

/** One worker with jobs 0 to `count` - 1. */
const loadOneWorker = async (count: number, options: HarnessOptions = {}) => {
  const harness = await startHarness({ workers: 1, ...options })
  return { harness, ...(await harness.load(count)) }
}

/** The latest worker begins a job (defaults to its last) and crashes. */
const crashAt = async (harness: Harness, uuid?: string): Promise<void> => {
  const worker = harness.workers.at(-1) as FakeWorker
  worker.work(uuid === undefined ? jobAt(worker, -1) : jobAt(worker, uuidsOf(worker).indexOf(uuid)))
  worker.die()
  await harness.pump()
  await harness.advance(1_000)
}

describe('jobs of a lost worker', () => {
  test('that are in its log are answered from there, byte for byte, and not retried', async () => {
    const { harness, answers } = await loadOneWorker(3)
    harness.recorded.set(uuidOf(1), recordedAnswer(1))
    await harness.lose(0)
    expect((await answers[1])?.answer).toEqual(recordedAnswer(1))
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(0), uuidOf(2)])
    expect(harness.recoveries).toEqual([
      { slot: 0, generation: 0, segmentPath: '/decisions/w00/segment', uuids: [uuidOf(0), uuidOf(1), uuidOf(2)] },
    ])
    await harness.answer(1)
    expect((await answers[0])?.answer?.body).toBe(bodyOf({ uuid: uuidOf(0) }))
  })

  test('return to the head of the queue, in their order, with their uuids', async () => {
    const { harness, answers } = await loadOneWorker(5, { limits: { maxInFlight: 3 } })
    await harness.lose(0)
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(0), uuidOf(1), uuidOf(2)])
    await harness.answer(1)
    await harness.answer(1, harness.worker(1).jobs.slice(3))
    const settled = await Promise.all(answers)
    expect(settled.map(({ answer }) => answer?.body)).toEqual(
      settled.map((_, index) => bodyOf({ uuid: uuidOf(index) })),
    )
  })

  test('go to another worker immediately', async () => {
    const harness = await startHarness({ workers: 2 })
    const { answers } = await harness.load(2)
    await harness.lose(0)
    expect([...uuidsOf(harness.worker(1)), ...uuidsOf(harness.worker(2))].sort()).toEqual([uuidOf(0), uuidOf(1)])
    await harness.answerAll()
    expect(await allAnswered(answers)).toBe(true)
  })

  test('fail after they have lost three workers', async () => {
    const { harness, answers } = await loadOneWorker(2)
    for (let lost = 0; lost < 3; lost++) {
      await harness.lose(harness.workers.length - 1)
      await harness.advance(1000)
    }
    const failure = { code: 'DEPENDENCY_UNAVAILABLE', detail: 'the signing workers failed' }
    expect(await Promise.all(answers)).toMatchObject([failure, failure])
  })

  test('are not retried after their deadline, and recorded ones are withheld', async () => {
    const { harness, answers } = await loadOneWorker(2, { limits: { hangMs: 60_000 } })
    await harness.advance(25_000)
    harness.recorded.set(uuidOf(0), recordedAnswer(0))
    await harness.lose(0)
    expect(await Promise.all(answers)).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }, { code: 'DEADLINE_EXCEEDED' }])
    expect(harness.worker(1).jobs).toEqual([])
    expect(harness.worker(1).controls.filter(({ type }) => type === 'withheld')).toEqual([
      { type: 'withheld', uuids: [uuidOf(0)] },
    ])
  })

  test.each([
    ['after the deadline', (harness: Harness) => harness.advance(25_000)],
    ['after the deadline, before its timer fires', (harness: Harness) => harness.time.stall(25_000)],
  ])('that are read from the log %s are withheld', async (_when, passDeadline) => {
    const reading = Promise.withResolvers<ReadonlyMap<string, PoolAnswer>>()
    const { harness, answers } = await loadOneWorker(1, {
      recover: () => reading.promise,
      limits: { recoverTimeoutMs: 60_000 },
    })
    await harness.lose(0)
    await passDeadline(harness)
    reading.resolve(new Map([[uuidOf(0), recordedAnswer(0)]]))
    await harness.pump()
    expect(await answers[0]).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(harness.pool.stats()).toMatchObject({ answered: 0, withheld: 1 })
  })
})

describe('the job in progress when a worker is lost', () => {
  test('is retried alone on an idle worker, and the other jobs on other workers', async () => {
    const harness = await startHarness({ workers: 2 })
    const { answers } = await harness.load(4)
    const suspect = jobAt(harness.worker(0), 1)
    harness.worker(0).work(suspect)
    await harness.lose(0)
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'crash', culpritUuid: suspect.uuid, inFlight: 2 }])
    const replacement = harness.worker(2)
    expect(uuidsOf(replacement)).toEqual([suspect.uuid])
    answers.push(...(await harness.load(6, 10)).answers)
    expect(uuidsOf(replacement)).toEqual([suspect.uuid])
    await harness.answer(2)
    await harness.load(1, 20)
    expect(uuidsOf(replacement)).toHaveLength(2)
    await harness.answer(1)
    expect(await allAnswered(answers)).toBe(true)
  })

  test('waits for a busy worker, which does not get other jobs until then', async () => {
    // The replacement does not start, so one busy worker is left.
    const harness = await startHarness({ workers: 2, behaviour: (spawned) => ({ silent: spawned >= 2 }) })
    await harness.load(2)
    const suspect = jobAt(harness.worker(0), 0)
    harness.worker(0).work(suspect)
    await harness.lose(0)
    await harness.load(1, 2)
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1)])
    await harness.answer(1)
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1), suspect.uuid])
    await harness.answer(1, harness.worker(1).jobs.slice(1))
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1), suspect.uuid, uuidOf(2)])
  })

  test('fails after it crashes a second worker, without effect on other jobs', async () => {
    const { harness, answers } = await loadOneWorker(3)
    for (let crash = 0; crash < 2; crash++) await crashAt(harness, uuidOf(1))
    expect(await answers[1]).toMatchObject({ code: 'INTERNAL', detail: 'the request could not be processed' })
    await harness.answer(2)
    expect((await Promise.all([answers[0], answers[2]])).every((settled) => settled?.answer !== null)).toBe(true)
    expect(harness.pool.stats().restarts).toEqual({ crash: 2, hang: 0, start: 0 })
  })

  test('does not delay the next suspect after its failure', async () => {
    const { harness, answers } = await loadOneWorker(1)
    for (let crash = 0; crash < 2; crash++) await crashAt(harness)
    expect(await answers[0]).toMatchObject({ code: 'INTERNAL' })
    const { answers: next } = await harness.load(1, 1)
    await crashAt(harness)
    expect(uuidsOf(harness.worker(3))).toEqual([uuidOf(1)])
    await harness.answer(3)
    expect(await allAnswered(next)).toBe(true)
  })

  test('is retried after other suspects, one at a time', async () => {
    const harness = await startHarness({ workers: 3 })
    await harness.load(3)
    for (const worker of harness.workers.slice(0, 2)) {
      worker.work(jobAt(worker, 0))
      worker.die()
    }
    await harness.pump()
    expect([harness.worker(3), harness.worker(4)].flatMap(uuidsOf)).toHaveLength(1)
    for (const worker of harness.workers.slice(3)) worker.answer()
    await harness.pump()
    expect(harness.workers.slice(2).flatMap(uuidsOf).sort()).toEqual([uuidOf(0), uuidOf(1), uuidOf(2)])
  })

  test('frees the worker that is reserved for it when it expires', async () => {
    const { harness } = await loadOneWorker(1, { behaviour: (spawned) => ({ silent: spawned === 1 }) })
    harness.worker(0).work(jobAt(harness.worker(0), 0))
    await harness.lose(0)
    await harness.advance(25_000)
    await harness.advance(60_000)
    const {
      answers: [next],
    } = await harness.load(1, 5)
    await harness.answer(harness.workers.length - 1)
    expect((await next)?.answer?.body).toBe(bodyOf({ uuid: uuidOf(5) }))
  })
})

describe('when it is unknown which jobs were recorded', () => {
  const expectUnreadable = async (harness: Harness, answers: Promise<Settled>[]) => {
    const detail = 'the decision log of a failed worker cannot be read'
    expect(await Promise.all(answers)).toMatchObject(answers.map(() => ({ code: 'DEPENDENCY_UNAVAILABLE', detail })))
    // No job is signed again, and the answers count as withheld.
    expect(harness.worker(1).jobs).toEqual([])
    expect(harness.worker(1).controls.filter(({ type }) => type === 'withheld')).toEqual([
      { type: 'withheld', uuids: [uuidOf(0), uuidOf(1)] },
    ])
  }

  test('because the log cannot be read, no job is signed again', async () => {
    const { harness, answers } = await loadOneWorker(2, {
      recover: () => {
        throw new RangeError('secret path')
      },
    })
    await harness.lose(0)
    await expectUnreadable(harness, answers)
    expect(harness.eventsOf('recovery-failed')).toEqual([
      { type: 'recovery-failed', slot: 0, errorClass: 'RangeError' },
    ])
  })

  test('because reading the log times out, no job is signed again', async () => {
    const { harness, answers } = await loadOneWorker(2, { recover: () => new Promise(() => undefined) })
    await harness.lose(0)
    await harness.advance(500)
    await expectUnreadable(harness, answers)
  })

  test('because the thread is blocked in an append, no job is signed again', async () => {
    const { harness, answers } = await loadOneWorker(2, { behaviour: (spawned) => ({ unkillable: spawned === 0 }) })
    const stuck = harness.worker(0)
    stuck.enterCommit()
    // A slow disk has more time than a silent worker.
    await harness.advance(9_000)
    expect(stuck.terminated).toBe(false)
    await harness.advance(3_000)
    expect(stuck.terminated).toBe(true)
    await expectUnreadable(harness, answers)
    // If the append ends later, the worker is fenced.
    expect(stuck.leaveCommit()).toBe(false)
    expect(harness.pool.stats().abandoned).toBe(1)
    expect(harness.worker(1).settings?.slot).toBe(1)
  })
})

test.each([
  ['that ends', (harness: Harness) => harness.lose(0)],
  [
    'that is blocked and then terminated',
    async (harness: Harness) => {
      for (let elapsed = 0; elapsed < 12_000; elapsed += 50) await harness.advance(50)
    },
  ],
])('the log of a worker %s inside an append is complete', async (_name, end) => {
  const { harness, answers } = await loadOneWorker(2)
  harness.recorded.set(uuidOf(0), recordedAnswer(0))
  harness.worker(0).enterCommit()
  await end(harness)
  expect((await answers[0])?.answer).toEqual(recordedAnswer(0))
  expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1)])
  expect(harness.worker(1).settings?.slot).toBe(0)
})

test('messages from an abandoned worker are ignored', async () => {
  const { harness, answers } = await loadOneWorker(1, { behaviour: (spawned) => ({ unkillable: spawned === 0 }) })
  const first = harness.worker(0)
  const job = jobAt(first, 0)
  first.work(job)
  await harness.advance(3_000)
  expect(Atomics.load(first.words, SHARED_LATCH)).toBe(LATCH_FENCED)
  await harness.answer(0, [{ ...job, uuid: 'from the abandoned worker' }])
  expect(harness.pool.stats().answered).toBe(0)
  await harness.answer(harness.workers.length - 1)
  expect((await answers[0])?.answer?.body).toBe(bodyOf(job))
})

test('the log of a worker without jobs in flight is not read', async () => {
  const harness = await startHarness({ workers: 1 })
  await harness.lose(0)
  expect(harness.recoveries).toEqual([])
  expect(harness.pool.stats()).toMatchObject({ workers: 1, restarts: { crash: 1 } })
})

test('jobs that are submitted before the start wait for the first worker', async () => {
  const harness = createHarness({ workers: 1 })
  const { answers } = await harness.load(1)
  const started = harness.pool.start()
  await harness.pump()
  await started
  await harness.answer(0)
  expect(await allAnswered(answers)).toBe(true)
})
