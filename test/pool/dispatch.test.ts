// Which worker gets which job, and in what messages.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { depthOf, shareOf } from '../../src/pool/dispatcher.ts'
import { JobOutdatedError } from '../../src/pool/settlement.ts'
import { type DispatchedJob, encodeOutcomes } from '../../src/pool/wire.ts'
import { bodyOf } from './support/fake-worker.ts'
import { createHarness, SETTINGS, settled, startHarness } from './support/harness.ts'
import { jobOf, revisionOf, targetOf, uuidOf } from './support/jobs.ts'

/** The pool knows by a first job, number 0, that one takes 0.06 ms. */
const startWithShortJobs = async (workers: number) => {
  const harness = await startHarness({ workers })
  const { pump, submit, worker } = harness
  void submit(0)
  await pump()
  worker(0).answer(worker(0).jobs, 0.06)
  await pump()
  return harness
}

describe('batching', () => {
  test('jobs of one turn leave in one message a worker, shared evenly', async () => {
    const { pump, submit, worker } = await startHarness()
    for (let number = 0; number < 10; number++) void submit(number)
    await pump()
    expect(worker(0).batches.map((batch) => batch.length)).toEqual([5])
    expect(worker(1).batches.map((batch) => batch.length)).toEqual([5])
  })

  test('a message holds at most maxBatch jobs, and a worker at most maxInFlight', async () => {
    const { pump, submit, worker, pool, answer } = await startHarness({
      workers: 1,
      limits: { maxBatch: 4, maxInFlight: 10 },
    })
    for (let number = 0; number < 25; number++) void submit(number)
    await pump()
    expect(worker(0).batches.map((batch) => batch.length)).toEqual([4, 4, 2])
    expect(pool.stats()).toMatchObject({ inFlight: 10, queued: 15, pending: 25, busy: 1, workers: 1 })
    await answer(0, worker(0).batches[0])
    expect(worker(0).batches.map((batch) => batch.length)).toEqual([4, 4, 2, 4])
  })

  test('jobs leave in the order in which they came', async () => {
    const { pump, submit, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 3 } })
    for (let number = 0; number < 9; number++) void submit(number)
    await pump()
    for (let answered = 0; answered < 9; answered++) {
      await answer(0, worker(0).jobs.slice(answered, answered + 1))
    }
    expect(worker(0).jobs.map((job) => job.uuid)).toEqual(Array.from({ length: 9 }, (_, number) => uuidOf(number)))
  })

  test('at the moment it is sent, no other worker holds fewer jobs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), fc.nat(2), fc.nat(9)), { maxLength: 12 }), async (turns) => {
        const { pump, submit, workers, answer } = await startHarness({
          workers: 3,
          limits: { maxInFlight: 1000 },
        })
        const held: DispatchedJob[][] = [[], [], []]
        for (const [jobs, who, answers] of turns) {
          const before = workers.map(({ jobs: sent }) => sent.length)
          const least = Math.min(...held.map((list) => list.length))
          for (let number = 0; number < jobs; number++) void submit(number)
          await pump()
          workers.forEach((each, index) => void held[index]?.push(...each.jobs.slice(before[index])))
          const after = held.map((list) => list.length)
          const given = workers.map((each, index) => each.jobs.length - (before[index] ?? 0))
          // A worker that got jobs ends at most one above the least loaded.
          given.forEach((count, index) => {
            if (count > 0) expect(after[index]).toBeLessThanOrEqual(Math.min(...after) + 1)
          })
          expect(given.reduce((sum, count) => sum + count, 0)).toBe(jobs)
          expect(Math.min(...after)).toBeGreaterThanOrEqual(least)
          await answer(who, held[who]?.splice(0, answers))
        }
      }),
      { numRuns: 25 },
    )
  })

  test('short jobs are not worth a thread each: several go to one worker before the next is woken', async () => {
    const { pump, submit, workers } = await startWithShortJobs(3)
    for (let number = 1; number <= 12; number++) void submit(number)
    await pump()
    // 0.3 ms of work, five jobs of 0.06 ms each.
    expect(workers.map(({ batches }) => batches.at(-1)?.length)).toEqual([5, 5, 2])
  })

  test('one that is awake gets them one by one as well, until it has as much to do', async () => {
    const { pump, submit, workers } = await startWithShortJobs(3)
    const held: number[][] = []
    for (let number = 1; number <= 12; number++) {
      void submit(number)
      await pump()
      held.push(workers.map(({ jobs }, index) => jobs.length - (index === 0 ? 1 : 0)))
    }
    expect(held.slice(3, 7)).toEqual([
      [4, 0, 0],
      [5, 0, 0],
      [5, 1, 0],
      [5, 2, 0],
    ])
    expect(held.at(-1)).toEqual([5, 5, 2])
  })

  test('but not while it is busy with something longer', async () => {
    const { pump, submit, time, workers } = await startWithShortJobs(2)
    void submit(1)
    await pump()
    time.stall(2)
    void submit(2)
    await pump()
    expect(workers.map(({ jobs }) => jobs.length)).toEqual([2, 1])
  })

  test('a share is a job at least, and no more than the limit', () => {
    const limits = { wakeWorthMs: 0.15, maxShare: 8 }
    expect([0, 0.001, 0.02, 0.04, 0.1, 0.2, 50].map((meanMs) => shareOf(meanMs, limits))).toEqual([1, 8, 7, 3, 1, 1, 1])
  })

  test('a worker holds what it can do in a long turn besides its two batches, and no more than is agreed', () => {
    const limits = { maxInFlight: 64, bridgedTurnMs: 50 }
    expect([0, 0.4, 12, 50, 900].map((turnMs) => depthOf(turnMs, 0.25, limits))).toEqual([64, 65, 112, 264, 264])
    expect(depthOf(20, 0, limits)).toBe(64)
  })

  test('while the thread is held up in its turns, a worker is given more; then as many as before', async () => {
    const { pump, time, submit, worker, pool, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 4 } })
    void submit(0)
    await pump()
    await answer(0, worker(0).jobs, 2)
    for (let number = 1; number <= 40; number++) void submit(number)
    // From the first job of the turn to its end: time for ten jobs of 2 ms.
    time.stall(20)
    await pump()
    expect(pool.stats()).toMatchObject({ inFlight: 14, queued: 26 })
    for (let turn = 0; turn < 200; turn++) {
      void submit(100 + turn)
      await pump()
    }
    await answer(0, worker(0).jobs.slice(1), 28)
    expect(pool.stats().inFlight).toBe(4)
  })

  test('an idle worker is filled before a loaded one', async () => {
    const { pump, submit, worker, answer } = await startHarness()
    for (let number = 0; number < 8; number++) void submit(number)
    await pump()
    await answer(1)
    for (let number = 8; number < 12; number++) void submit(number)
    await pump()
    expect(worker(0).jobs).toHaveLength(4)
    expect(worker(1).jobs).toHaveLength(8)
  })
})

describe('answers', () => {
  test('each caller gets the body that was made for its uuid', async () => {
    const { pump, submit, workers } = await startHarness()
    const answers = Array.from({ length: 7 }, (_, number) => submit(number))
    await pump()
    for (const worker of workers) worker.answer([...worker.jobs].reverse())
    await pump()
    const all = await Promise.all(answers)
    expect(all.map(({ answer }) => answer?.body)).toEqual(all.map((_, number) => bodyOf({ uuid: uuidOf(number) })))
  })

  test('a failure of the worker reaches the caller with its code, and its class only the listener', async () => {
    const harness = await startHarness({ workers: 1 })
    const failed = harness.submit(1)
    await harness.pump()
    const sequence = harness.worker(0).jobs[0]?.sequence ?? -1
    harness.worker(0).outcomes([
      {
        status: 'failed',
        sequence,
        code: 'DEPENDENCY_UNAVAILABLE',
        detail: 'the policy could not be evaluated',
        errorClass: 'PolicyEvaluationError',
        nothingSigned: true,
      },
    ])
    await harness.pump()
    expect(await failed).toEqual({
      answer: null,
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the policy could not be evaluated',
    })
    expect(harness.eventsOf('job-failed')).toEqual([
      { type: 'job-failed', requestId: 'request-1', uuid: uuidOf(1), errorClass: 'PolicyEvaluationError' },
    ])
  })

  test('a rule that fails is reported with its place, and is not retried', async () => {
    const harness = await startHarness({ workers: 1 })
    const failed = harness.submit(1)
    await harness.pump()
    const rule = { policy: 'p', revision: 'r', rule: 'one', reason: 'absent', subject: 'call.args.to' } as const
    const outcome = { status: 'failed', code: 'POLICY_FAILED', detail: 'failed', errorClass: 'E' } as const
    const sequence = harness.worker(0).jobs[0]?.sequence ?? -1
    harness.worker(0).outcomes([{ ...outcome, sequence, nothingSigned: true, rule }])
    await harness.pump()
    expect(await failed).toMatchObject({ code: 'POLICY_FAILED' })
    expect(harness.eventsOf('rule-failed')).toEqual([
      { type: 'rule-failed', requestId: 'request-1', uuid: uuidOf(1), ...rule },
    ])
    expect(harness.eventsOf('job-failed')).toEqual([])
  })

  test('an answer to a job the worker does not hold is dropped', async () => {
    const harness = await startHarness({ workers: 1 })
    const answered = harness.submit(1)
    await harness.pump()
    const job = harness.worker(0).jobs[0]
    if (job === undefined) throw new Error('no job was sent')
    await harness.answer(0, [{ ...job, sequence: job.sequence + 1 }, job, job])
    expect((await answered).answer?.body).toBe(bodyOf(job))
    expect(harness.pool.stats().answered).toBe(1)
  })

  test('a worker that sends something else is replaced, and its job answered by the next', async () => {
    const harness = await startHarness({ workers: 1 })
    const answered = harness.submit(1)
    await harness.pump()
    harness.worker(0).say(`${encodeOutcomes({ busyMs: 1, outcomes: [] })}\n{"stray":true}`)
    await harness.pump()
    expect(harness.worker(0).terminated).toBe(true)
    await harness.answer(1)
    expect((await answered).answer?.body).toBe(bodyOf({ uuid: uuidOf(1) }))
  })
})

describe('the bounded queue', () => {
  test('refuses at once when it is full, and takes jobs again when it is not', async () => {
    const { pump, submit, worker, pool, answer } = await startHarness({
      workers: 1,
      queueLimit: 3,
      limits: { maxInFlight: 2 },
    })
    for (let number = 0; number < 2; number++) void submit(number)
    await pump()
    const waiting = [2, 3, 4].map((number) => submit(number))
    expect(await submit(5)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats()).toMatchObject({ queued: 3, refused: 1 })
    await answer(0, worker(0).jobs.slice(0, 1))
    void submit(6)
    expect(pool.stats()).toMatchObject({ queued: 3, refused: 1 })
    await answer(0, worker(0).jobs.slice(1, 3))
    worker(0).answer(worker(0).jobs.slice(3))
    await pump()
    await answer(0, worker(0).jobs.slice(5))
    expect((await Promise.all(waiting)).every(({ answer }) => answer !== null)).toBe(true)
  })

  test('tells who would be refused, before anything else is done for them', async () => {
    const { pump, submit, pool } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const { organizationId } = targetOf()
    // Nobody waits: whoever comes is taken.
    expect(pool.refusal(organizationId, Number.MAX_SAFE_INTEGER)).toBeNull()
    for (let number = 0; number < 3; number++) void submit(number)
    await pump()
    expect(pool.refusal(organizationId, Number.MAX_SAFE_INTEGER)).toBeNull()
    expect(pool.refusal(organizationId, 0)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats().refused).toBe(1)
  })

  test('under a flood of one organization refuses that one, and takes and serves another at once', async () => {
    const { pump, time, pool, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 2 } })
    const [flooding, quiet] = [targetOf({ organizationId: 'org_flooding' }), targetOf({ organizationId: 'org_quiet' })]
    const deadlineMs = time.clock.monotonicMs() + 1_000
    const submit = (number: number, target: typeof quiet) =>
      settled(pool.submit(jobOf(number, { deadlineMs }), target)).then(({ code }) => code)
    void submit(0, flooding)
    await pump()
    await answer(0, worker(0).jobs, 10)
    // 10 ms a job and 700 ms that are trusted: seventy, two of which go to the worker.
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

  test('fills while no worker lives', async () => {
    const { submit, pool } = createHarness({ queueLimit: 2 })
    void submit(0)
    void submit(1)
    expect(await submit(2)).toMatchObject({ code: 'OVERLOADED' })
    expect(pool.stats().predictedWaitMs).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('definitions', () => {
  const definitions = (worker: { controls: readonly { type: string }[] }) =>
    worker.controls.filter((control) => control.type === 'define')

  test('a worker gets each target and revision once, before the first job that needs them', async () => {
    const { pump, submit, worker } = await startHarness({ workers: 1 })
    void submit(1)
    await pump()
    void submit(2)
    await pump()
    expect(definitions(worker(0))).toEqual([
      { type: 'define', targets: [targetOf()], revisions: [revisionOf('revision_1')] },
    ] as never)
  })

  test('targets with one revision send it once', async () => {
    const { pump, pool, worker } = await startHarness({ workers: 1 })
    for (const id of ['target_1', 'target_2']) {
      pool.submit(jobOf(1, { targetId: id }), targetOf({ id })).catch(() => undefined)
    }
    await pump()
    expect(
      definitions(worker(0)).map((control) => (control as never as { revisions: unknown[] }).revisions.length),
    ).toEqual([1, 0])
  })

  test('a target with a shadow brings both revisions', async () => {
    const { pump, pool, worker } = await startHarness({ workers: 1 })
    const shadowed = targetOf({ shadowRevisionId: 'revision_2' })
    pool.submit(jobOf(1), shadowed).catch(() => undefined)
    pool.submit(jobOf(2, { targetId: 'target_2' }), targetOf({ id: 'target_2' })).catch(() => undefined)
    await pump()
    expect(definitions(worker(0))).toEqual([
      { type: 'define', targets: [shadowed], revisions: [revisionOf('revision_1'), revisionOf('revision_2')] },
      { type: 'define', targets: [targetOf({ id: 'target_2' })], revisions: [] },
    ] as never)
  })

  test('a worker that forgot a target gets it again with the job, up to a bound', async () => {
    const { pump, submit, worker } = await startHarness({ workers: 1 })
    const submitted = submit(1)
    await pump()
    for (let round = 1; round <= 4; round++) {
      expect(definitions(worker(0))).toHaveLength(round)
      const job = worker(0).jobs.at(-1)
      worker(0).outcomes([{ status: 'target-not-cached', sequence: job?.sequence ?? -1 }])
      await pump()
    }
    expect(await submitted).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', detail: 'the policy could not be loaded' })
    expect(worker(0).jobs).toHaveLength(4)
  })

  test('what a worker was sent is forgotten beyond the size of its cache, and sent again', async () => {
    const { pump, pool, worker } = await startHarness({ workers: 1, settings: { ...SETTINGS, revisionCacheSize: 2 } })
    for (const id of ['a', 'b', 'c', 'a', 'c']) {
      pool.submit(jobOf(1, { targetId: id }), targetOf({ id })).catch(() => undefined)
    }
    await pump()
    const sent = definitions(worker(0)).map(
      (control) => (control as never as { targets: { id: string }[] }).targets[0]?.id,
    )
    expect(sent).toEqual(['a', 'b', 'c', 'a'])
  })

  test('a job whose revision can’t be had fails, and the others go on', async () => {
    const { pump, pool, answer } = await startHarness({
      workers: 1,
      definitions: { revision: (id) => (id === 'revision_1' ? revisionOf(id) : undefined) },
    })
    const lost = pool
      .submit(jobOf(1, { targetId: 'other' }), targetOf({ id: 'other', revisionId: 'gone' }))
      .catch((error: unknown) => error)
    const kept = pool.submit(jobOf(2), targetOf())
    await pump()
    expect(await lost).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    await answer(0)
    expect((await kept).body).toBe(bodyOf({ uuid: uuidOf(2) }))
  })
})

describe('a job that waits while a key or a policy changes', () => {
  test('is asked once, before a worker gets it, whether it is current; one that is not fails unsigned', async () => {
    const { pump, pool, worker, answer } = await startHarness({ workers: 1, limits: { maxInFlight: 1 } })
    const asked: number[] = []
    const outdated = new Set<number>()
    const submit = (number: number): Promise<unknown> =>
      pool
        .submit(jobOf(number), targetOf(), pool.changes(), () => {
          asked.push(number)
          return !outdated.has(number)
        })
        .catch((error: unknown) => error)
    const results = [1, 2, 3].map(submit)
    await pump()
    outdated.add(1).add(2)
    pool.noteChange()
    expect(asked).toEqual([])
    const after = submit(4)
    await answer(0)
    expect(asked).toEqual([2, 3])
    expect(await results[1]).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    expect(await results[1]).toBeInstanceOf(JobOutdatedError)
    await answer(0)
    await answer(0)
    // The first was at its worker before the change, and the last was submitted after it.
    expect(worker(0).jobs.map(({ uuid }) => uuid)).toEqual([1, 3, 4].map(uuidOf))
    expect(asked).toEqual([2, 3])
    expect(await after).toMatchObject({ compliant: true })
  })

  test('is asked even if nothing changed, if it does not say how many changes were known', async () => {
    const { pump, pool, worker } = await startHarness({ workers: 1 })
    const results = [false, true].map((isCurrent, number) =>
      pool.submit(jobOf(number), targetOf(), undefined, () => isCurrent).catch((error: unknown) => error),
    )
    await pump()
    expect(worker(0).jobs.map(({ uuid }) => uuid)).toEqual([uuidOf(1)])
    expect(await results[0]).toBeInstanceOf(JobOutdatedError)
  })
})

describe('statistics', () => {
  test('waiting, running and the forecast follow the clock', async () => {
    const { pump, submit, worker, pool, advance, answer } = await startHarness({
      workers: 1,
      limits: { maxInFlight: 2 },
    })
    for (let number = 0; number < 6; number++) void submit(number)
    await pump()
    await advance(40)
    await answer(0, worker(0).jobs, 8)
    const { wait, run, meanServiceMs, predictedWaitMs, queued } = pool.stats()
    expect(wait).toMatchObject({ count: 4, sumMs: 80 })
    expect(run).toMatchObject({ count: 2, sumMs: 80 })
    expect(meanServiceMs).toBe(4)
    expect(queued).toBe(2)
    expect(predictedWaitMs).toBe(8)
  })
})
