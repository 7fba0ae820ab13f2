// The lease: workers decide only while recent changes of keys and policies are known. A process that was suspended decides
// nothing with a key or policy that was revoked in the meantime.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hasLease } from '../../src/pool/protocol.ts'
import type { DispatchedJob } from '../../src/pool/wire.ts'
import type { FakeWorker } from './support/fake-worker.ts'
import { type HarnessOptions, type Settled, startHarness } from './support/harness.ts'
import { jobOf, targetOf, uuidOf } from './support/jobs.ts'

const LEASE_MS = 2_000
/** Maximum excess of a worker's lease. */
const ROUNDING_MS = 100

/** A pool whose workers decide on command. */
const startPool = async (options: HarnessOptions = {}) => {
  const harness = await startHarness({ limits: { hangMs: 600_000 }, ...options })
  const { pool, time, workers, pump } = harness
  const renew = (): void => pool.renewLease(time.clock.monotonicMs() + LEASE_MS)
  const handled = new Map<FakeWorker, number>()
  /** The worker handles its new jobs like a signing worker. Returns the decided jobs. */
  const work = (worker: FakeWorker): readonly DispatchedJob[] => {
    const jobs = worker.jobs.slice(handled.get(worker) ?? 0)
    handled.set(worker, worker.jobs.length)
    if (jobs.length === 0) return []
    const clock = { monotonicMs: () => time.clock.monotonicMs() + (worker.behaviour.clockAheadMs ?? 0) }
    if (hasLease(worker.words, clock)) {
      worker.answer(jobs)
      return jobs
    }
    worker.outcomes(jobs.map(({ sequence }) => ({ status: 'lease-ended', sequence })))
    return []
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

const expectCompliant = async (results: readonly Promise<Settled>[]): Promise<void> => {
  for (const { answer } of await Promise.all(results)) expect(answer?.compliant).toBe(true)
}

describe.each([-1_000_000, 0, 1_000_000])('with a worker’s clock ahead by %p ms', (clockAheadMs) => {
  const start = () => startPool({ workers: 1, behaviour: () => ({ clockAheadMs }) })

  test('jobs wait from the end of the lease until its renewal', async () => {
    const { time, load, renew, worker, workAll } = await start()
    time.stall(LEASE_MS - 1)
    const { answers: results } = await load(1, 1)
    expect(worker(0).jobs).toHaveLength(1)
    expect(await workAll()).toEqual([uuidOf(1)])
    time.stall(1)
    results.push(...(await load(1, 2)).answers)
    expect(worker(0).jobs).toHaveLength(1)
    renew()
    expect(await workAll()).toEqual([uuidOf(2)])
    await expectCompliant(results)
  })

  test('a worker that was suspended returns all its jobs before it gets new jobs', async () => {
    const { time, load, pump, renew, worker, work, workAll } = await start()
    const { answers: results } = await load(2, 1)
    time.stall(LEASE_MS + ROUNDING_MS)
    // The main thread may read the changes before the worker continues.
    renew()
    results.push(...(await load(1, 3)).answers)
    expect(worker(0).jobs).toHaveLength(2)
    worker(0).outcomes([{ status: 'lease-ended', sequence: worker(0).jobs[0]?.sequence ?? -1 }])
    await pump()
    renew()
    expect(worker(0).jobs).toHaveLength(2)
    expect(work(worker(0))).toEqual([])
    await pump()
    expect((await workAll()).toSorted()).toEqual([1, 2, 3].map(uuidOf))
    await expectCompliant(results)
  })
})

test('a worker that starts after the end of the lease decides nothing', async () => {
  const { time, load, pump, pool, lose, workers, renew, workAll } = await startPool({ workers: 1 })
  time.stall(LEASE_MS)
  await lose(0)
  const { answers: results } = await load(1, 1)
  expect(workers).toHaveLength(2)
  expect(await workAll()).toEqual([])
  expect(pool.stats().queued).toBe(1)
  renew()
  await pump()
  expect(await workAll()).toEqual([uuidOf(1)])
  await expectCompliant(results)
})

test('a new worker has the same lease as the other workers', async () => {
  const { time, load, lose, worker, work } = await startPool({ workers: 1 })
  await lose(0)
  await load(1, 1)
  expect(worker(1).jobs).toHaveLength(1)
  time.stall(LEASE_MS + ROUNDING_MS)
  expect(work(worker(1))).toEqual([])
})

test('a suspect job waits for the lease', async () => {
  const { time, load, pump, lose, worker, renew, workAll } = await startPool({ workers: 1 })
  const { answers: results } = await load(1, 1)
  for (const job of worker(0).jobs) worker(0).work(job)
  time.stall(LEASE_MS)
  await lose(0)
  expect(worker(1).jobs).toEqual([])
  renew()
  await pump()
  expect(await workAll()).toEqual([uuidOf(1)])
  await expectCompliant(results)
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

/** The key is revoked and the process suspended between the lookup of the key and the submission of its job. */
const BODY_DURING_SUSPENSION: Step[] = [
  { step: 'look' },
  { step: 'revoke' },
  { step: 'suspend', ms: 2_500 },
  { step: 'read' },
  { step: 'submit' },
  { step: 'pump' },
  { step: 'work' },
]

test('in any order of events, no decision uses a key or policy that was replaced more than two seconds ago', async () => {
  let decidedInAll = 0
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 80 }), async (steps) => {
      const { pool, time, workers, pump, renew, work } = await startPool({ workers: 2, limits: { maxInFlight: 3 } })
      const now = time.clock.monotonicMs
      /** Time of the replacement of each version, in another process. */
      const replacedMs: number[] = []
      /** The version that this process knows. */
      let known = 0
      /** The lookup of the key and policy for the next job, which is submitted when its body has arrived. */
      let found = { version: known, changes: pool.changes() }
      /** Version at the last check of each job, by uuid. */
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
        // Between two reads within the lease, a worker handles its jobs.
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
