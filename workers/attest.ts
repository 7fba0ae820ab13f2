// One batch of jobs: decide each, record all that were decided in one append, and only then hand out the answers
// (invariant 2). Pure but for what is injected, so it runs in any thread.
import { answerOf } from '../src/decisions/answer.ts'
import type { DecisionRecord } from '../src/decisions/types.ts'
import { CountersignError } from '../src/domain/errors.ts'
import { CURRENT_NONE, type Outcome, SHARED_CURRENT, SHARED_HEARTBEAT } from '../src/pool/protocol.ts'
import { type DispatchedJob, decodeJobs, encodeOutcomes } from '../src/pool/wire.ts'
import { type Decision, type Failure, TOO_LATE, type WorkerClock } from './decide.ts'
import type { Recorder } from './recorder.ts'

export interface AttestDependencies {
  readonly words: Int32Array
  readonly decide: (job: DispatchedJob) => Decision
  readonly recorder: Recorder
  readonly clock: WorkerClock
}

const logFailure = (error: unknown): Failure => ({
  status: 'failed',
  code: 'DEPENDENCY_UNAVAILABLE',
  detail: error instanceof CountersignError ? error.detail : 'the decision log cannot be written; nothing was signed',
  errorClass: error instanceof Error ? error.name : typeof error,
})

/** The answer is built from the record alone, so that recovery builds the same bytes from the log. */
const answered = (sequence: number, record: DecisionRecord): Outcome => ({
  status: 'answered',
  sequence,
  compliant: record.compliant,
  ruleId: record.rule,
  body: answerOf(record),
})

/** Takes a batch as the pool wrote it. Null: the pool has given this worker up, and nothing may be said. */
export const createAttest = ({ words, decide, recorder, clock }: AttestDependencies) => {
  const decideAll = (jobs: readonly DispatchedJob[]): Decision[] => {
    const decisions: Decision[] = []
    for (const job of jobs) {
      // What the main thread goes by when this one dies or hangs.
      Atomics.store(words, SHARED_CURRENT, job.sequence)
      Atomics.add(words, SHARED_HEARTBEAT, 1)
      decisions.push(decide(job))
    }
    Atomics.store(words, SHARED_CURRENT, CURRENT_NONE)
    return decisions
  }

  return (text: string): string | null => {
    const startedMs = clock.monotonicMs()
    const jobs = decodeJobs(text)
    const decisions = decideAll(jobs)
    const decidedMs = clock.monotonicMs()
    const records: DecisionRecord[] = []
    jobs.forEach((job, index) => {
      const decision = decisions[index]
      if (decision?.status !== 'decided') return
      // A batch takes its time: what is too late by now is neither recorded nor answered.
      if (decidedMs >= job.deadlineMs) decisions[index] = TOO_LATE
      else records.push(decision.record)
    })
    const result = recorder.commit(records)
    if (result.status === 'fenced') return null
    const outcomes = jobs.map(({ sequence }, index): Outcome => {
      const decision = decisions[index] ?? TOO_LATE
      if (decision.status === 'undefined-target') return { status: 'undefined-target', sequence }
      if (decision.status === 'failed') return { ...decision, sequence }
      if (result.status === 'failed') return { ...logFailure(result.error), sequence }
      return answered(sequence, decision.record)
    })
    return encodeOutcomes({ busyMs: clock.monotonicMs() - startedMs, outcomes })
  }
}
