// What becomes of the jobs that a lost worker held: answered from its log, tried again, or failed; never signed twice.
import { describe, expect, test } from 'bun:test'
import { LATCH_FENCED, SHARED_LATCH } from '../../src/pool/protocol.ts'
import type { PoolAnswer } from '../../src/pool/settlement.ts'
import { bodyOf, type FakeWorker } from './support/fake-worker.ts'
import { createHarness, type Harness, startHarness } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'

const recordedAnswer = (number: number): PoolAnswer => ({
  compliant: true,
  ruleId: 'rule',
  body: `{"recorded":"${uuidOf(number)}"}`,
})

const jobAt = (worker: FakeWorker, index: number) => {
  const job = worker.jobs[index]
  if (job === undefined) throw new Error(`the worker has no job ${index}`)
  return job
}

const uuidsOf = (worker: FakeWorker): string[] => worker.jobs.map((job) => job.uuid)

/** One worker with jobs 0 to `count` - 1. */
const oneLoadedWorker = async (count: number, options: Parameters<typeof startHarness>[0] = {}) => {
  const harness = await startHarness({ workers: 1, ...options })
  const answers = Array.from({ length: count }, (_, number) => harness.submit(number))
  await harness.pump()
  return { harness, answers }
}

test('a job that was given up as the cause of losses does not keep the next suspect waiting', async () => {
  const { harness, answers } = await oneLoadedWorker(1)
  const kill = async (): Promise<void> => {
    const worker = harness.workers.at(-1)
    worker?.work(jobAt(worker, worker.jobs.length - 1))
    worker?.die()
    await harness.pump()
    await harness.advance(1_000)
  }
  await kill()
  await kill()
  expect(await answers[0]).toMatchObject({ code: 'INTERNAL' })
  const next = harness.submit(1)
  await harness.pump()
  await kill()
  const last = harness.workers.length - 1
  expect(uuidsOf(harness.worker(last))).toEqual([uuidOf(1)])
  await harness.answer(last)
  expect((await next).answer?.compliant).toBe(true)
})

describe('jobs of a lost worker', () => {
  test('that its log holds are answered from there, byte for byte, and not sent again', async () => {
    const { harness, answers } = await oneLoadedWorker(3)
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

  test('that were waiting at it go back to the head of the queue, in their order, with their uuids', async () => {
    const { harness, answers } = await oneLoadedWorker(5, { limits: { maxInFlight: 3 } })
    await harness.lose(0)
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(0), uuidOf(1), uuidOf(2)])
    await harness.answer(1)
    await harness.answer(1, harness.worker(1).jobs.slice(3))
    const settled = await Promise.all(answers)
    expect(settled.map(({ answer }) => answer?.body)).toEqual(
      settled.map((_, index) => bodyOf({ uuid: uuidOf(index) })),
    )
  })

  test('go to a neighbour at once when there is one', async () => {
    const harness = await startHarness({ workers: 2 })
    const answers = [harness.submit(0), harness.submit(1)]
    await harness.pump()
    await harness.lose(0)
    expect(new Set([...uuidsOf(harness.worker(1)), ...uuidsOf(harness.worker(2))])).toEqual(
      new Set([uuidOf(0), uuidOf(1)]),
    )
    for (const worker of harness.workers) worker.answer()
    await harness.pump()
    expect((await Promise.all(answers)).every(({ answer }) => answer !== null)).toBe(true)
  })

  test('are given up after three lost workers', async () => {
    const { harness, answers } = await oneLoadedWorker(2)
    for (let lost = 0; lost < 3; lost++) {
      harness.workers.at(-1)?.die()
      await harness.pump()
      await harness.advance(1000)
    }
    expect(await Promise.all(answers)).toMatchObject([
      { code: 'DEPENDENCY_UNAVAILABLE', detail: 'the signing workers failed' },
      { code: 'DEPENDENCY_UNAVAILABLE', detail: 'the signing workers failed' },
    ])
  })

  test('past their deadline are not tried again; recorded ones are withheld', async () => {
    const { harness, answers } = await oneLoadedWorker(2, { limits: { hangMs: 60_000 } })
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
    ['before the timer of a deadline that has passed could fire', (harness: Harness) => harness.time.stall(25_000)],
  ])('recorded, and read %s, are withheld', async (_when, passDeadline) => {
    const reading = Promise.withResolvers<ReadonlyMap<string, PoolAnswer>>()
    const { harness, answers } = await oneLoadedWorker(1, {
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

describe('the job that was being worked on', () => {
  test('is sent again alone, to a worker with nothing else, and its neighbours go on elsewhere', async () => {
    const harness = await startHarness({ workers: 2 })
    const answers = Array.from({ length: 4 }, (_, number) => harness.submit(number))
    await harness.pump()
    const suspect = jobAt(harness.worker(0), 1)
    harness.worker(0).work(suspect)
    await harness.lose(0)
    expect(harness.eventsOf('worker-lost')).toMatchObject([{ cause: 'crash', culpritUuid: suspect.uuid, inFlight: 2 }])
    // The replacement was idle first, so the suspect is there; nobody joins it.
    const replacement = harness.worker(2)
    expect(uuidsOf(replacement)).toEqual([suspect.uuid])
    const more = Array.from({ length: 6 }, (_, number) => harness.submit(10 + number))
    await harness.pump()
    expect(uuidsOf(replacement)).toEqual([suspect.uuid])
    replacement.answer()
    await harness.pump()
    void harness.submit(20)
    await harness.pump()
    expect(uuidsOf(replacement)).toHaveLength(2)
    await harness.answer(1)
    expect((await Promise.all([...answers, ...more])).every(({ answer }) => answer !== null)).toBe(true)
  })

  test('a worker that is busy gets no more jobs until it is free for the suspect', async () => {
    // One worker is left, and it is busy: its replacement does not start.
    const harness = await startHarness({ workers: 2, behaviour: (spawned) => ({ silent: spawned >= 2 }) })
    void harness.submit(0)
    void harness.submit(1)
    await harness.pump()
    const suspect = jobAt(harness.worker(0), 0)
    harness.worker(0).work(suspect)
    await harness.lose(0)
    void harness.submit(2)
    await harness.pump()
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1)])
    await harness.answer(1)
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1), suspect.uuid])
    await harness.answer(1, harness.worker(1).jobs.slice(1))
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1), suspect.uuid, uuidOf(2)])
  })

  test('fails after the second worker it ends, and nobody else does', async () => {
    const { harness, answers } = await oneLoadedWorker(3)
    for (let kill = 0; kill < 2; kill++) {
      const worker = harness.workers.at(-1)
      const poison = worker?.jobs.find((job) => job.uuid === uuidOf(1))
      if (worker === undefined || poison === undefined) throw new Error('the suspect was not sent again')
      worker.work(poison)
      worker.die()
      await harness.pump()
      await harness.advance(1000)
    }
    expect(await answers[1]).toMatchObject({ code: 'INTERNAL', detail: 'the request could not be processed' })
    harness.workers.at(-1)?.answer()
    await harness.pump()
    expect((await Promise.all([answers[0], answers[2]])).every((settled) => settled?.answer !== null)).toBe(true)
    expect(harness.pool.stats().restarts).toEqual({ crash: 2, hang: 0, start: 0 })
  })

  test('several suspects go one after another', async () => {
    const harness = await startHarness({ workers: 3 })
    for (let number = 0; number < 3; number++) void harness.submit(number)
    await harness.pump()
    for (const index of [0, 1]) {
      const worker = harness.worker(index)
      worker.work(jobAt(worker, 0))
      worker.die()
    }
    await harness.pump()
    const alone = [harness.worker(3), harness.worker(4)].map(uuidsOf)
    expect(alone.flat()).toHaveLength(1)
    for (const worker of harness.workers.slice(3)) worker.answer()
    await harness.pump()
    expect(harness.workers.slice(2).flatMap(uuidsOf).sort()).toEqual([uuidOf(0), uuidOf(1), uuidOf(2)])
  })

  test('expired while it waited to go out alone: the worker kept for it is free again', async () => {
    const { harness } = await oneLoadedWorker(1, { behaviour: (spawned) => ({ silent: spawned === 1 }) })
    harness.worker(0).work(jobAt(harness.worker(0), 0))
    await harness.lose(0)
    await harness.advance(25_000)
    await harness.advance(60_000)
    const next = harness.submit(5)
    await harness.pump()
    harness.workers.at(-1)?.answer()
    await harness.pump()
    expect((await next).answer?.body).toBe(bodyOf({ uuid: uuidOf(5) }))
  })
})

describe('when it is not known what was recorded', () => {
  const expectUnreadable = async (harness: Harness, answers: ReturnType<Harness['submit']>[]) => {
    expect(await Promise.all(answers)).toMatchObject(
      answers.map(() => ({
        code: 'DEPENDENCY_UNAVAILABLE',
        detail: 'the decision log of a failed worker cannot be read',
      })),
    )
    // Nothing is signed again, and the log is told that nothing was sent.
    expect(harness.worker(1).jobs).toEqual([])
    expect(harness.worker(1).controls.filter(({ type }) => type === 'withheld')).toEqual([
      { type: 'withheld', uuids: [uuidOf(0), uuidOf(1)] },
    ])
  }

  test('because the log can’t be read, no job is signed again', async () => {
    const { harness, answers } = await oneLoadedWorker(2, {
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

  test('because reading takes too long, no job is signed again', async () => {
    const { harness, answers } = await oneLoadedWorker(2, { recover: () => new Promise(() => undefined) })
    await harness.lose(0)
    await harness.advance(500)
    await expectUnreadable(harness, answers)
  })

  test('because the thread lives on inside an append, no job is signed again', async () => {
    const { harness, answers } = await oneLoadedWorker(2, {
      behaviour: (spawned) => ({ unkillable: spawned === 0 }),
    })
    const stuck = harness.worker(0)
    stuck.enterCommit()
    // A slow disk is given more time than a silent worker.
    await harness.advance(9_000)
    expect(stuck.terminated).toBe(false)
    await harness.advance(3_000)
    expect(stuck.terminated).toBe(true)
    await expectUnreadable(harness, answers)
    // Should the append end after all, the worker learns that it is fenced.
    expect(stuck.leaveCommit()).toBe(false)
    expect(harness.pool.stats().abandoned).toBe(1)
    expect(harness.worker(1).settings?.slot).toBe(1)
  })

  test('a thread that ended inside an append leaves a log that says all', async () => {
    const { harness, answers } = await oneLoadedWorker(2)
    harness.recorded.set(uuidOf(0), recordedAnswer(0))
    harness.worker(0).enterCommit()
    await harness.lose(0)
    expect((await answers[0])?.answer).toEqual(recordedAnswer(0))
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1)])
  })

  test('a worker stuck in an append that still ends when told to leaves a log that says all', async () => {
    const { harness, answers } = await oneLoadedWorker(2)
    harness.recorded.set(uuidOf(0), recordedAnswer(0))
    harness.worker(0).enterCommit()
    for (let elapsed = 0; elapsed < 12_000; elapsed += 50) await harness.advance(50)
    expect((await answers[0])?.answer).toEqual(recordedAnswer(0))
    expect(uuidsOf(harness.worker(1))).toEqual([uuidOf(1)])
    expect(harness.worker(1).settings?.slot).toBe(0)
  })
})

test('what an abandoned worker still says is not listened to', async () => {
  const { harness, answers } = await oneLoadedWorker(1, { behaviour: (spawned) => ({ unkillable: spawned === 0 }) })
  const first = harness.worker(0)
  const job = jobAt(first, 0)
  first.work(job)
  await harness.advance(3_000)
  expect(Atomics.load(first.words, SHARED_LATCH)).toBe(LATCH_FENCED)
  first.answer([{ ...job, uuid: 'from the abandoned worker' }])
  await harness.pump()
  expect(harness.pool.stats().answered).toBe(0)
  harness.workers.at(-1)?.answer()
  await harness.pump()
  expect((await answers[0])?.answer?.body).toBe(bodyOf(job))
})

test('a worker lost with nothing in flight asks nobody for its log', async () => {
  const harness = await startHarness({ workers: 1 })
  await harness.lose(0)
  expect(harness.recoveries).toEqual([])
  expect(harness.pool.stats()).toMatchObject({ workers: 1, restarts: { crash: 1 } })
})

test('jobs of a worker that died before any worker was ready wait for the next', async () => {
  const harness = createHarness({ workers: 1 })
  const answer = harness.submit(0)
  const started = harness.pool.start()
  await harness.pump()
  await started
  await harness.answer(0)
  expect((await answer).answer).not.toBeNull()
})
