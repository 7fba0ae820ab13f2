// One batch of jobs: decide each, record all that were decided in one append, and only then hand out the answers
// (invariant 2). Pure but for what is injected, so it runs in any thread.
import { answerOf } from '../../src/decisions/answer.ts'
import type { DecisionRecord } from '../../src/decisions/types.ts'
import { CountersignError } from '../../src/domain/errors.ts'
import { CURRENT_NONE, type Outcome, SHARED_CURRENT, SHARED_HEARTBEAT } from '../../src/pool/protocol.ts'
import { type DispatchedJob, decodeJobs, encodeOutcomes } from '../../src/pool/wire.ts'
import { type Decision, type Failure, TOO_LATE, type WorkerClock } from './decide.ts'
import type { Recorder } from './recorder.ts'

export interface AttestDependencies {
  readonly words: Int32Array
  readonly decide: (job: DispatchedJob) => Decision
  /** One turn of compiling: true when jobs that wait for it may be decided. */
  readonly prepare: () => boolean
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

export interface Attest {
  /** Takes a batch as the pool wrote it. Null: nothing is to be said, yet or, when the pool gave this worker up, ever. */
  take(text: string): string | null
  /** Some jobs wait for their policies: `resume` is to be called soon, after what else there is to do. */
  waits(): boolean
  /** A turn for the jobs that wait. Null as above. */
  resume(): string | null
}

export const createAttest = ({ words, decide, prepare, recorder, clock }: AttestDependencies): Attest => {
  let waiting: DispatchedJob[] = []

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

  /** Null: the pool has given this worker up, and nothing may be said. */
  const outcomesOf = (jobs: readonly DispatchedJob[]): Outcome[] | null => {
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
    const outcomes: Outcome[] = []
    jobs.forEach((job, index) => {
      const { sequence } = job
      const decision = decisions[index] ?? TOO_LATE
      if (decision.status === 'preparing') waiting.push(job)
      else if (decision.status === 'undefined-target' || decision.status === 'unsigned')
        outcomes.push({ status: decision.status, sequence })
      else if (decision.status === 'failed') outcomes.push({ ...decision, sequence, nothingSigned: true })
      else if (result.status === 'failed') {
        // Whether some of it reached the file is not known.
        outcomes.push({ ...logFailure(result.error), sequence, nothingSigned: false })
      } else outcomes.push(answered(sequence, decision.record))
    })
    return outcomes
  }

  const answer = (jobs: readonly DispatchedJob[], startedMs: number): string | null => {
    const outcomes = outcomesOf(jobs)
    if (outcomes === null || outcomes.length === 0) return null
    return encodeOutcomes({ busyMs: clock.monotonicMs() - startedMs, outcomes })
  }

  return {
    take: (text) => {
      const startedMs = clock.monotonicMs()
      return answer(decodeJobs(text), startedMs)
    },
    waits: () => waiting.length > 0,
    resume: () => {
      const [first] = waiting
      if (first === undefined) return null
      const startedMs = clock.monotonicMs()
      Atomics.store(words, SHARED_CURRENT, first.sequence)
      Atomics.add(words, SHARED_HEARTBEAT, 1)
      const isReady = prepare()
      Atomics.store(words, SHARED_CURRENT, CURRENT_NONE)
      if (!isReady) return null
      const jobs = waiting
      waiting = []
      return answer(jobs, startedMs)
    },
  }
}
