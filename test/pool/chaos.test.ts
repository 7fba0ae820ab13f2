// Random sequences of submissions, work, records, answers, crashes, hangs, resizing and waiting: each job is settled once,
// and no uuid is recorded twice.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { beginCommit, endCommit } from '../../src/pool/protocol.ts'
import type { DispatchedJob } from '../../src/pool/wire.ts'
import { bodyOf, type FakeWorker } from './support/fake-worker.ts'
import { type Settled, startHarness } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'

type Step =
  | { readonly do: 'submit'; readonly jobs: number; readonly deadlineMs: number }
  | { readonly do: 'advance'; readonly milliseconds: number }
  | { readonly do: 'resize'; readonly workers: number }
  /** Every live thread, including abandoned ones, records its jobs. */
  | { readonly do: 'record-everywhere' }
  | { readonly do: 'work' | 'record' | 'answer' | 'die' | 'stick-in-append' | 'leave-append'; readonly worker: number }

const onWorker = fc.record({
  do: fc.constantFrom('work', 'record', 'record', 'answer', 'answer', 'die', 'stick-in-append', 'leave-append'),
  worker: fc.nat(3),
})
const anyStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('submit'),
      jobs: fc.nat(6),
      deadlineMs: fc.integer({ min: 1, max: 20_000 }),
    }),
  },
  { weight: 8, arbitrary: onWorker },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance'), milliseconds: fc.nat(4_000) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'record-everywhere' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resize'), workers: fc.integer({ min: 1, max: 3 }) }) },
) as fc.Arbitrary<Step>

test('each job is settled once and recorded at most once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 10, maxLength: 50 }),
      fc.array(fc.boolean(), { maxLength: 6 }),
      async (steps, stuck) => {
        const harness = await startHarness({
          workers: 2,
          limits: { maxInFlight: 4, maxBatch: 2, commitStallMs: 1500 },
          behaviour: (spawned) => ({ unkillable: stuck[spawned] ?? false }),
        })
        const settlements = new Map<string, Settled[]>()
        const recordings = new Map<string, number>()
        /** Recorded but unanswered jobs, by worker. */
        const unanswered = new Map<FakeWorker, DispatchedJob[]>()
        const done = new Set<DispatchedJob>()
        const inAppend = new Set<FakeWorker>()
        let submitted = 0

        const pendingOf = (worker: FakeWorker): DispatchedJob[] => worker.jobs.filter((job) => !done.has(job))
        const record = (worker: FakeWorker): void => {
          const jobs = pendingOf(worker).slice(0, 2)
          for (const job of jobs) {
            done.add(job)
            recordings.set(job.uuid, (recordings.get(job.uuid) ?? 0) + 1)
            harness.recorded.set(job.uuid, { compliant: true, ruleId: 'rule', body: bodyOf(job) })
          }
          unanswered.set(worker, [...(unanswered.get(worker) ?? []), ...jobs])
        }
        const act = (worker: FakeWorker, action: string): void => {
          // An abandoned thread goes on; one that has ended does not.
          if (worker.settings === null || worker.dead) return
          const [job] = pendingOf(worker)
          if (action === 'work' && job !== undefined) worker.work(job)
          if (action === 'record' && beginCommit(worker.words)) {
            worker.rest()
            record(worker)
            endCommit(worker.words)
          }
          if (action === 'answer') {
            worker.answer(unanswered.get(worker) ?? [])
            unanswered.delete(worker)
          }
          if (action === 'stick-in-append' && job !== undefined && beginCommit(worker.words)) inAppend.add(worker)
          // The write reaches the file before the worker reads the latch.
          if (action === 'leave-append' && inAppend.delete(worker)) {
            record(worker)
            endCommit(worker.words)
          }
          if (action === 'die') worker.die()
        }

        for (const step of steps) {
          if (step.do === 'submit') {
            for (let count = 0; count < step.jobs; count++) {
              const number = submitted++
              const deadlineMs = harness.time.clock.monotonicMs() + step.deadlineMs
              void harness.submit(number, { deadlineMs }).then((settled) => {
                settlements.set(uuidOf(number), [...(settlements.get(uuidOf(number)) ?? []), settled])
              })
            }
          } else if (step.do === 'advance') {
            for (let elapsed = 0; elapsed < step.milliseconds; elapsed += 125) await harness.advance(125)
          } else if (step.do === 'resize') {
            harness.pool.resize(step.workers)
          } else if (step.do === 'record-everywhere') {
            for (const worker of harness.workers) {
              act(worker, 'leave-append')
              act(worker, 'record')
            }
          } else {
            const worker = harness.workers.at(-1 - (step.worker % harness.workers.length))
            if (worker !== undefined) act(worker, step.do)
          }
          await harness.pump()
          for (const [uuid, count] of recordings) if (count > 1) throw new Error(`${uuid} was recorded twice`)
        }

        // After every deadline, no job may be left.
        for (let elapsed = 0; elapsed < 24_000; elapsed += 500) await harness.advance(500)
        expect(settlements.size).toBe(submitted)
        for (const [uuid, [settled, ...more]] of settlements) {
          expect(more).toEqual([])
          if (settled?.answer) {
            expect(settled.answer.body).toBe(bodyOf({ uuid }))
            expect(recordings.get(uuid)).toBe(1)
          } else {
            expect(['DEADLINE_EXCEEDED', 'INTERNAL', 'DEPENDENCY_UNAVAILABLE', 'OVERLOADED']).toContain(
              settled?.code ?? '',
            )
            // A refused job never reached a worker.
            if (settled?.code === 'OVERLOADED') expect(recordings.get(uuid)).toBeUndefined()
          }
        }
        expect(harness.pool.stats()).toMatchObject({ pending: 0, queued: 0 })
      },
    ),
    { numRuns: 300 },
  )
}, 30_000)
