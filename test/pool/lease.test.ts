// Workers decide only while changes of keys and policies are known up to a recent moment: neither a job that waits nor one
// that a worker holds is decided on what was revoked while the process was suspended.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hasLease } from '../../src/pool/protocol.ts'
import type { DispatchedJob } from '../../src/pool/wire.ts'
import type { FakeWorker } from './support/fake-worker.ts'
import { type HarnessOptions, startHarness } from './support/harness.ts'
import { jobOf, targetOf, uuidOf } from './support/jobs.ts'

const LEASE_MS = 2_000
/** By how much a worker's lease may last longer. */
const ROUNDING_MS = 100

/** A pool whose workers decide when the test tells them to. */
const startPool = async (options: HarnessOptions = {}) => {
  const harness = await startHarness({ limits: { hangMs: 600_000 }, ...options })
  const { pool, time, workers, pump } = harness
  const renew = (): void => pool.renewLease(time.clock.monotonicMs() + LEASE_MS)
  const taken = new Map<FakeWorker, number>()
  /** The worker handles what it was sent, as a signing worker does. Returns the jobs that it decided. */
  const work = (worker: FakeWorker): readonly DispatchedJob[] => {
    const jobs = worker.jobs.slice(taken.get(worker) ?? 0)
    taken.set(worker, worker.jobs.length)
    const clock = { monotonicMs: () => time.clock.monotonicMs() + (worker.behaviour.clockAheadMs ?? 0) }
    const decided = jobs.filter(() => hasLease(worker.words, clock))
    const left = jobs.filter((job) => !decided.includes(job))
    if (decided.length > 0) worker.answer(decided)
    if (left.length > 0) worker.outcomes(left.map(({ sequence }) => ({ status: 'lease-ended', sequence })))
    return decided
  }
  const workAll = async (): Promise<readonly string[]> => {
    const decided: string[] = []
    for (let before = -1; decided.length > before; ) {
      before = decided.length
      for (const worker of workers) decided.push(...work(worker).map(({ uuid }) => uuid))
      await pump()
    }
    return decided
  }
  renew()
  return { ...harness, renew, work, workAll }
}

const CLOCKS = [-1_000_000, 0, 1_000_000] as const

describe.each(CLOCKS)('with a worker’s clock ahead by %p ms', (clockAheadMs) => {
  const start = () => startPool({ workers: 1, behaviour: () => ({ clockAheadMs }) })

  test('jobs wait from the end of the lease until it is renewed', async () => {
    const { time, submit, pump, renew, worker, workAll } = await start()
    time.stall(LEASE_MS - 1)
    const before = submit(1)
    await pump()
    expect(worker(0).jobs).toHaveLength(1)
    expect(await workAll()).toEqual([uuidOf(1)])
    time.stall(1)
    const held = submit(2)
    await pump()
    expect(worker(0).jobs).toHaveLength(1)
    renew()
    expect(await workAll()).toEqual([uuidOf(2)])
    for (const { answer } of await Promise.all([before, held])) expect(answer?.compliant).toBe(true)
  })

  test('a worker that was suspended with its jobs returns them all before it gets others', async () => {
    const { time, submit, pump, renew, worker, work, workAll } = await start()
    const results = [submit(1), submit(2)]
    await pump()
    time.stall(LEASE_MS + ROUNDING_MS)
    // The main thread may read the changes before the worker looks at its jobs.
    renew()
    results.push(submit(3))
    await pump()
    expect(worker(0).jobs).toHaveLength(2)
    const [first] = worker(0).jobs
    worker(0).outcomes([{ status: 'lease-ended', sequence: first?.sequence ?? -1 }])
    await pump()
    renew()
    expect(worker(0).jobs).toHaveLength(2)
    expect(work(worker(0))).toEqual([])
    await pump()
    expect(new Set(await workAll())).toEqual(new Set([1, 2, 3].map(uuidOf)))
    for (const { answer } of await Promise.all(results)) expect(answer?.compliant).toBe(true)
  })
})

test('a worker that starts while the lease has ended decides nothing', async () => {
  const { time, submit, pump, pool, lose, workers, renew, workAll } = await startPool({ workers: 1 })
  time.stall(LEASE_MS)
  await lose(0)
  const result = submit(1)
  await pump()
  expect(workers).toHaveLength(2)
  expect(await workAll()).toEqual([])
  expect(pool.stats().queued).toBe(1)
  renew()
  await pump()
  expect(await workAll()).toEqual([uuidOf(1)])
  expect((await result).answer?.compliant).toBe(true)
})

test('a worker that starts has the lease of the others', async () => {
  const { time, submit, pump, lose, worker, work } = await startPool({ workers: 1 })
  await lose(0)
  void submit(1)
  await pump()
  expect(worker(1).jobs).toHaveLength(1)
  time.stall(LEASE_MS + ROUNDING_MS)
  expect(work(worker(1))).toEqual([])
})

test('a suspect job waits too', async () => {
  const { time, submit, pump, lose, worker, renew, workAll } = await startPool({ workers: 1 })
  const result = submit(1)
  await pump()
  const [job] = worker(0).jobs
  if (job !== undefined) worker(0).work(job)
  time.stall(LEASE_MS)
  await lose(0)
  expect(worker(1).jobs).toEqual([])
  renew()
  await pump()
  expect(await workAll()).toEqual([uuidOf(1)])
  expect((await result).answer?.compliant).toBe(true)
})

type Step =
  | { readonly step: 'look' | 'submit' | 'read' | 'revoke' | 'work' | 'pump' }
  | { readonly step: 'suspend'; readonly ms: number }

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ step: fc.constantFrom('look', 'submit', 'pump', 'work') }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constantFrom('read', 'revoke') }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('suspend' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
  },
)

/** The key is revoked and the process suspended between the look-up of a job's key and its submission. */
const BODY_DURING_SUSPENSION: Step[] = [
  { step: 'look' },
  { step: 'revoke' },
  { step: 'suspend', ms: 2_500 },
  { step: 'read' },
  { step: 'submit' },
  { step: 'pump' },
  { step: 'work' },
]

test('whatever happens in whatever order, nothing is decided on what was replaced two seconds ago', async () => {
  let decidedInAll = 0
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 80 }), async (steps) => {
      const { pool, time, workers, pump, renew, work } = await startPool({ workers: 2, limits: { maxInFlight: 3 } })
      const now = time.clock.monotonicMs
      /** When each version was replaced, elsewhere. */
      const replacedMs: number[] = []
      /** The version that is known here. */
      let known = 0
      /** What the next job's key and policy were looked up as: jobs are submitted later, when their bodies are there. */
      let found = { version: known, changes: pool.changes() }
      /** By uuid: the version that the job was last checked against. */
      const versions = new Map<string, number>()
      let leaseUntilMs = now() + LEASE_MS
      const workAll = (): void => {
        for (const worker of workers) {
          for (const { uuid } of work(worker)) {
            decidedInAll += 1
            const replaced = replacedMs[versions.get(uuid) ?? 0] ?? Number.POSITIVE_INFINITY
            expect(now() - replaced).toBeLessThan(LEASE_MS + ROUNDING_MS)
          }
        }
      }
      const read = (): void => {
        // Between two reads in time, a worker handles what it was sent.
        if (now() < leaseUntilMs) workAll()
        leaseUntilMs = now() + LEASE_MS
        if (known !== replacedMs.length) {
          known = replacedMs.length
          pool.noteChange()
        }
        renew()
      }
      const submit = (): void => {
        const number = versions.size
        versions.set(uuidOf(number), found.version)
        const isCurrent = () => versions.get(uuidOf(number)) === known
        const job = jobOf(number, { deadlineMs: now() + 600_000 })
        pool.submit(job, targetOf(), found.changes, isCurrent).catch(() => undefined)
      }
      for (const current of steps) {
        if (current.step === 'suspend') time.stall(current.ms)
        else if (current.step === 'look') found = { version: known, changes: pool.changes() }
        else if (current.step === 'submit') submit()
        else if (current.step === 'read') read()
        else if (current.step === 'revoke') replacedMs.push(now())
        else if (current.step === 'pump') await pump()
        else workAll()
      }
    }),
    { numRuns: 300, examples: [[BODY_DURING_SUSPENSION]] },
  )
  expect(decidedInAll).toBeGreaterThan(100)
})
