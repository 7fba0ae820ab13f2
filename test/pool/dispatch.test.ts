// Distribution of jobs to workers, and the messages that carry them.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { depthOf, shareOf } from '../../src/pool/dispatcher.ts'
import { JobOutdatedError } from '../../src/pool/settlement.ts'
import { type DispatchedJob, encodeOutcomes } from '../../src/pool/wire.ts'
import { bodyOf, type FakeWorker } from './support/fake-worker.ts'
import { createHarness, type Harness, SETTINGS, settled, startHarness } from './support/harness.ts'
import { jobOf, revisionOf, targetOf, uuidOf } from './support/jobs.ts'

/** A pool that has measured a job of 0.06 ms. */
const startWithShortJobs = async (workers: number): Promise<Harness> => {
  const harness = await startHarness({ workers })
  await harness.load(1)
  await harness.answer(0, harness.worker(0).jobs, 0.06)
  return harness
}

const batchSizes = ({ batches }: FakeWorker): number[] => batches.map(({ length }) => length)
const jobCounts = (workers: readonly FakeWorker[]): number[] => workers.map(({ jobs }) => jobs.length)

describe('batching', () => {
  test('jobs of one turn are shared evenly, with one message per worker', async () => {
    const { load, workers } = await startHarness()
    await load(10)
    expect(workers.map(batchSizes)).toEqual([[5], [5]])
  })

  test('a message contains at most maxBatch jobs, and a worker at most maxInFlight', async () => {
    const { load, worker, pool, answer } = await startHarness({ workers: 1, limits: { maxBatch: 4, maxInFlight: 10 } })
    await load(25)
    expect(batchSizes(worker(0))).toEqual([4, 4, 2])
    expect(pool.stats()).toMatchObject({ inFlight: 10, queued: 15, pending: 25, busy: 1, workers: 1 })
    await answer(0, worker(0).batches[0])
    expect(batchSizes(worker(0))).toEqual([4, 4, 2, 4])
  })

  test('jobs are sent in the order of their submission', async () => {
    const { load, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 3 } })
    await load(9)
    for (let answered = 0; answered < 9; answered++) await answer(0, worker(0).jobs.slice(answered, answered + 1))
    expect(worker(0).jobs.map((job) => job.uuid)).toEqual(Array.from({ length: 9 }, (_, number) => uuidOf(number)))
  })

  test('each job goes to the worker with the fewest jobs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), fc.nat(2), fc.nat(9)), { maxLength: 12 }), async (turns) => {
        const { load, workers, answer } = await startHarness({ workers: 3, limits: { maxInFlight: 1000 } })
        const held: DispatchedJob[][] = [[], [], []]
        for (const [jobs, who, answers] of turns) {
          const before = jobCounts(workers)
          const least = Math.min(...held.map((list) => list.length))
          await load(jobs)
          workers.forEach((each, index) => void held[index]?.push(...each.jobs.slice(before[index])))
          const after = held.map((list) => list.length)
          const sent = workers.map((each, index) => each.jobs.length - (before[index] ?? 0))
          // A worker that got jobs has at most one more than the least loaded worker.
          sent.forEach((count, index) => {
            if (count > 0) expect(after[index]).toBeLessThanOrEqual(Math.min(...after) + 1)
          })
          expect(sent.reduce((sum, count) => sum + count, 0)).toBe(jobs)
          expect(Math.min(...after)).toBeGreaterThanOrEqual(least)
          await answer(who, held[who]?.splice(0, answers))
        }
      }),
      { numRuns: 25 },
    )
  })

  test('short jobs fill a share of 0.3 ms of one worker before the next worker wakes', async () => {
    const { load, workers } = await startWithShortJobs(3)
    await load(12, 1)
    expect(workers.map((worker) => batchSizes(worker).at(-1))).toEqual([5, 5, 2])
  })

  test('short jobs that arrive one by one fill the share of a worker that is awake', async () => {
    const { load, workers } = await startWithShortJobs(3)
    const counts: number[][] = []
    for (let number = 1; number <= 12; number++) {
      await load(1, number)
      counts.push(jobCounts(workers))
    }
    expect([...counts.slice(3, 7), counts.at(-1)]).toEqual([
      [5, 0, 0],
      [6, 0, 0],
      [6, 1, 0],
      [6, 2, 0],
      [6, 5, 2],
    ])
  })

  test('a worker that is busy with a longer job does not get short jobs', async () => {
    const { load, time, workers } = await startWithShortJobs(2)
    await load(1, 1)
    time.stall(2)
    await load(1, 2)
    expect(jobCounts(workers)).toEqual([2, 1])
  })

  test('a share is at least one job and at most the limit', () => {
    const limits = { wakeWorthMs: 0.15, maxShare: 8 }
    expect([0, 0.001, 0.02, 0.04, 0.1, 0.2, 50].map((meanMs) => shareOf(meanMs, limits))).toEqual([1, 8, 7, 3, 1, 1, 1])
  })

  test('a worker holds two batches and the work of a long turn, up to the limit', () => {
    const limits = { maxInFlight: 64, bridgedTurnMs: 50 }
    expect([0, 0.4, 12, 50, 900].map((turnMs) => depthOf(turnMs, 0.25, limits))).toEqual([64, 65, 112, 264, 264])
    expect(depthOf(20, 0, limits)).toBe(64)
  })

  test('a worker gets more jobs while the turns of the main thread are long', async () => {
    const { load, submit, pump, time, worker, pool, answer } = await startHarness({
      workers: 1,
      limits: { maxInFlight: 4 },
    })
    await load(1)
    await answer(0, worker(0).jobs, 2)
    for (let number = 1; number <= 40; number++) void submit(number)
    // The turn lasts ten jobs of 2 ms.
    time.stall(20)
    await pump()
    expect(pool.stats()).toMatchObject({ inFlight: 14, queued: 26 })
    for (let turn = 0; turn < 200; turn++) await load(1, 100 + turn)
    await answer(0, worker(0).jobs.slice(1), 28)
    expect(pool.stats().inFlight).toBe(4)
  })
})

describe('answers', () => {
  test('each caller gets the body with its uuid', async () => {
    const { load, pump, workers } = await startHarness()
    const { answers } = await load(7)
    for (const worker of workers) worker.answer([...worker.jobs].reverse())
    await pump()
    const all = await Promise.all(answers)
    expect(all.map(({ answer }) => answer?.body)).toEqual(all.map((_, number) => bodyOf({ uuid: uuidOf(number) })))
  })

  const rule = { policy: 'p', revision: 'r', rule: 'one', reason: 'absent', subject: 'call.args.to' } as const
  const error = { code: 'DEPENDENCY_UNAVAILABLE', detail: 'the policy could not be evaluated' } as const
  test.each([
    ['a failure returns its code and reports its class in an event', undefined, 'job-failed', { errorClass: 'E' }],
    ['a failed rule is reported with its place', rule, 'rule-failed', rule],
  ] as const)('%s, without a retry', async (_name, failedRule, type, reported) => {
    const harness = await startHarness({ workers: 1 })
    const {
      answers: [failed],
    } = await harness.load(1, 1)
    const outcome = { status: 'failed', ...error, errorClass: 'E', nothingSigned: true } as const
    await harness.outcome(0, failedRule === undefined ? outcome : { ...outcome, rule: failedRule })
    expect(await failed).toEqual({ answer: null, ...error })
    expect(harness.events.filter((event) => ['job-failed', 'rule-failed'].includes(event.type))).toEqual([
      { type, requestId: 'request-1', uuid: uuidOf(1), ...reported } as never,
    ])
    expect(harness.worker(0).jobs).toHaveLength(1)
  })

  test('an answer to a job that the worker does not hold is dropped', async () => {
    const harness = await startHarness({ workers: 1 })
    const {
      answers: [answered],
    } = await harness.load(1, 1)
    const [job] = harness.worker(0).jobs as [DispatchedJob]
    await harness.answer(0, [{ ...job, sequence: job.sequence + 1 }, job, job])
    expect((await answered)?.answer?.body).toBe(bodyOf(job))
    expect(harness.pool.stats().answered).toBe(1)
  })

  test('a worker that sends an invalid message is replaced, and the next worker answers its job', async () => {
    const harness = await startHarness({ workers: 1 })
    const {
      answers: [answered],
    } = await harness.load(1, 1)
    harness.worker(0).report(`${encodeOutcomes({ busyMs: 1, outcomes: [] })}\n{"stray":true}`)
    await harness.pump()
    expect(harness.worker(0).terminated).toBe(true)
    await harness.answer(1)
    expect((await answered)?.answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  })
})

describe('the bounded queue', () => {
  test('refuses jobs while it is full', async () => {
    const { load, submit, worker, pool, answer } = await startHarness({
      workers: 1,
      queueLimit: 3,
      limits: { maxInFlight: 2 },
    })
    await load(2)
    const { answers: waiting } = await load(3, 2)
    expect(await submit(5)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats()).toMatchObject({ queued: 3, refused: 1 })
    await answer(0, worker(0).jobs.slice(0, 1))
    void submit(6)
    expect(pool.stats()).toMatchObject({ queued: 3, refused: 1 })
    for (const sent of [1, 3, 5]) await answer(0, worker(0).jobs.slice(sent, sent + 2))
    expect((await Promise.all(waiting)).every(({ answer }) => answer !== null)).toBe(true)
  })

  test('reports a refusal before the submission', async () => {
    const { load, pool } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const { organizationId } = targetOf()
    const refusal = (deadlineMs: number) => pool.refusal(organizationId, deadlineMs)
    expect(refusal(Number.MAX_SAFE_INTEGER)).toBeNull()
    await load(3)
    expect(refusal(Number.MAX_SAFE_INTEGER)).toBeNull()
    expect(refusal(0)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats().refused).toBe(1)
  })

  test('refuses only the organization that floods it, and serves others immediately', async () => {
    const { pump, time, pool, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 2 } })
    const [flooding, quiet] = [targetOf({ organizationId: 'org_flooding' }), targetOf({ organizationId: 'org_quiet' })]
    const deadlineMs = time.clock.monotonicMs() + 1_000
    const submit = (number: number, target: typeof quiet) =>
      settled(pool.submit(jobOf(number, { deadlineMs }), target)).then(({ code }) => code)
    void submit(0, flooding)
    await pump()
    await answer(0, worker(0).jobs, 10)
    // 700 ms of the deadline at 10 ms per job allow 70 jobs, two of which are at the worker.
    const flood = Array.from({ length: 200 }, (_, number) => submit(1 + number, flooding))
    await pump()
    expect(pool.stats()).toMatchObject({ queued: 68, inFlight: 2, refused: 130 })
    for (const number of [201, 202]) void submit(number, flooding)
    expect(pool.refusal('org_flooding', deadlineMs)).toMatchObject({ retryAfterSeconds: 1 })
    expect(pool.refusal('org_quiet', deadlineMs)).toBeNull()
    const served = submit(900, quiet)
    await answer(0, worker(0).jobs.slice(1, 3), 20)
    expect(worker(0).jobs.map(({ uuid }) => uuid)).toContain(uuidOf(900))
    await answer(0)
    expect(await served).toBeNull()
    expect((await Promise.all(flood.slice(70))).every((code) => code === 'OVERLOADED')).toBe(true)
  })

  test('fills while there is no worker', async () => {
    const { load, submit, pool } = createHarness({ queueLimit: 2 })
    await load(2)
    expect(await submit(2)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats().predictedWaitMs).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('definitions', () => {
  /** Ids of the targets and revisions of each definition. */
  const definitions = ({ controls }: FakeWorker) =>
    controls.flatMap((control) =>
      control.type === 'define' ? [[control.targets.map(({ id }) => id), control.revisions.map(({ id }) => id)]] : [],
    )
  const submitTo = ({ pool }: Harness, ...targets: ReturnType<typeof targetOf>[]): void => {
    for (const target of targets) pool.submit(jobOf(1, { targetId: target.id }), target).catch(() => undefined)
  }

  test('a worker gets each target and revision once, before the first job that needs it', async () => {
    const { load, worker } = await startHarness({ workers: 1 })
    await load(1, 1)
    await load(1, 2)
    expect(worker(0).controls.filter(({ type }) => type === 'define')).toEqual([
      { type: 'define', targets: [targetOf()], revisions: [revisionOf('revision_1')] },
    ])
  })

  test('a shadow revision is sent with its target, and a shared revision once', async () => {
    const harness = await startHarness({ workers: 1 })
    submitTo(harness, targetOf({ shadowRevisionId: 'revision_2' }), targetOf({ id: 'target_2' }))
    await harness.pump()
    expect(definitions(harness.worker(0))).toEqual([
      [['target_1'], ['revision_1', 'revision_2']],
      [['target_2'], []],
    ])
  })

  test('a worker that reports a missing target gets it again with the job, up to a limit', async () => {
    const harness = await startHarness({ workers: 1 })
    const {
      answers: [submitted],
    } = await harness.load(1, 1)
    for (let round = 1; round <= 4; round++) {
      expect(definitions(harness.worker(0))).toHaveLength(round)
      await harness.outcome(0, { status: 'target-not-cached' })
    }
    expect(await submitted).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the policy could not be loaded',
    })
    expect(harness.worker(0).jobs).toHaveLength(4)
  })

  test('a target that exceeds the size of the worker’s cache is sent again', async () => {
    const harness = await startHarness({ workers: 1, settings: { ...SETTINGS, revisionCacheSize: 2 } })
    submitTo(harness, ...['a', 'b', 'c', 'a', 'c'].map((id) => targetOf({ id })))
    await harness.pump()
    expect(definitions(harness.worker(0)).map(([targets]) => targets?.[0])).toEqual(['a', 'b', 'c', 'a'])
  })

  test('a job whose revision is unavailable fails unsigned, without effect on other jobs', async () => {
    const { pump, pool, answer } = await startHarness({
      workers: 1,
      definitions: { revision: (id) => (id === 'revision_1' ? revisionOf(id) : undefined) },
    })
    const failed = pool
      .submit(jobOf(1, { targetId: 'other' }), targetOf({ id: 'other', revisionId: 'gone' }))
      .catch((error: unknown) => error)
    const answered = pool.submit(jobOf(2), targetOf())
    await pump()
    expect(await failed).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    await answer(0)
    expect((await answered).body).toBe(bodyOf({ uuid: uuidOf(2) }))
  })
})

describe('a job that waits while a key or a policy changes', () => {
  test('is checked once before it is sent, and fails unsigned if it is outdated', async () => {
    const { pump, pool, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const checked: number[] = []
    const outdated = new Set<number>()
    const submit = (number: number): Promise<unknown> =>
      pool
        .submit(jobOf(number), targetOf(), pool.changes(), () => {
          checked.push(number)
          return !outdated.has(number)
        })
        .catch((error: unknown) => error)
    const results = [1, 2, 3].map(submit)
    await pump()
    outdated.add(1).add(2)
    pool.noteChange()
    expect(checked).toEqual([])
    const after = submit(4)
    await answer(0)
    expect(checked).toEqual([2, 3])
    expect(await results[1]).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    expect(await results[1]).toBeInstanceOf(JobOutdatedError)
    await answer(0)
    await answer(0)
    // The first was at its worker before the change, and the last was submitted after it.
    expect(worker(0).jobs.map(({ uuid }) => uuid)).toEqual([1, 3, 4].map(uuidOf))
    expect(checked).toEqual([2, 3])
    expect(await after).toMatchObject({ compliant: true })
  })

  test('is always checked if it was submitted without the number of known changes', async () => {
    const { pump, pool, worker } = await startHarness({ workers: 1 })
    const results = [false, true].map((isCurrent, number) =>
      pool.submit(jobOf(number), targetOf(), undefined, () => isCurrent).catch((error: unknown) => error),
    )
    await pump()
    expect(worker(0).jobs.map(({ uuid }) => uuid)).toEqual([uuidOf(1)])
    expect(await results[0]).toBeInstanceOf(JobOutdatedError)
  })
})

test('statistics contain waiting times, run times and the predicted wait', async () => {
  const { load, worker, pool, advance, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 2 } })
  await load(6)
  await advance(40)
  await answer(0, worker(0).jobs, 8)
  expect(pool.stats()).toMatchObject({
    wait: { count: 4, sumMs: 80 },
    run: { count: 2, sumMs: 80 },
    meanServiceMs: 4,
    queued: 2,
    predictedWaitMs: 8,
  })
})
