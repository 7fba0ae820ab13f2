// Processes a batch of jobs: decides each job, records all decisions in one append, and only then returns the answers
// (invariant 2). All effects are injected, so the code runs in any thread.
import { answerOf } from '../../src/decision-log/answer.ts'
import { LOG_NOT_WRITABLE } from '../../src/decision-log/errors.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { CountersignError } from '../../src/domain/errors.ts'
import type { WorkerStages } from '../../src/domain/job-stages.ts'
import { shadowOutcome } from '../../src/domain/verdict.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { CURRENT_NONE, hasLease, type Outcome, SHARED_CURRENT, SHARED_HEARTBEAT } from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch } from '../../src/pool/wire.ts'
import { type Decision, type Failure, TOO_LATE, type WorkerClock } from './decide.ts'
import type { Recorder } from './record.ts'

export interface BatchProcessorDependencies {
  readonly words: Int32Array
  readonly decide: (job: DispatchedJob) => Decision
  /** Compiles policies for one turn. Returns true if jobs that waited for a policy may be decided. */
  readonly prepare: () => boolean
  readonly recorder: Recorder
  readonly clock: WorkerClock
}

const logFailure = (error: unknown): Failure => ({
  status: 'failed',
  code: 'DEPENDENCY_UNAVAILABLE',
  detail: error instanceof CountersignError ? error.detail : LOG_NOT_WRITABLE,
  errorClass: errorClassOf(error),
})

/** Built from the record alone, so that recovery from the log yields the same bytes. */
const answered = (sequence: number, record: DecisionRecord, stages: WorkerStages | undefined): Outcome => ({
  status: 'answered',
  sequence,
  compliant: record.compliant,
  ruleId: record.rule,
  body: answerOf(record),
  shadow: record.shadow === undefined ? undefined : shadowOutcome(record, record.shadow),
  stages,
})

export const createBatchProcessor = ({ words, decide, prepare, recorder, clock }: BatchProcessorDependencies) => {
  let waiting: DispatchedJob[] = []

  const decideAll = (jobs: readonly DispatchedJob[]): Decision[] => {
    const decisions: Decision[] = []
    for (const job of jobs) {
      // Identifies the current job to the main thread, in case the worker crashes or hangs.
      Atomics.store(words, SHARED_CURRENT, job.sequence)
      Atomics.add(words, SHARED_HEARTBEAT, 1)
      decisions.push(hasLease(words, clock) ? decide(job) : { status: 'lease-ended' })
    }
    Atomics.store(words, SHARED_CURRENT, CURRENT_NONE)
    return decisions
  }

  /** Returns null if the pool has abandoned this worker, which must then not answer. */
  const outcomesOf = (jobs: readonly DispatchedJob[]): Outcome[] | null => {
    const decisions = decideAll(jobs)
    const decidedMs = clock.monotonicMs()
    const records: DecisionRecord[] = []
    jobs.forEach((job, index) => {
      const decision = decisions[index]
      if (decision?.status !== 'decided') return
      // A batch takes time: a job past its deadline is neither recorded nor answered.
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
      else if (decision.status === 'failed') outcomes.push({ ...decision, sequence, nothingSigned: true })
      else if (decision.status !== 'decided') outcomes.push({ status: decision.status, sequence })
      else if (result.status === 'failed') {
        // Part of the append may have reached the file.
        outcomes.push({ ...logFailure(result.error), sequence, nothingSigned: false })
      } else {
        const stages = job.stages?.worker
        if (stages !== undefined) Object.assign(stages, { recordingMs: decidedMs, recordedMs: clock.monotonicMs() })
        outcomes.push(answered(sequence, decision.record, stages))
      }
    })
    return outcomes
  }

  const answer = (jobs: readonly DispatchedJob[], startedMs: number): OutcomeBatch | null => {
    const outcomes = outcomesOf(jobs)
    if (outcomes === null || outcomes.length === 0) return null
    return { busyMs: clock.monotonicMs() - startedMs, outcomes }
  }

  return {
    /** Returns null if there is no answer yet, or if the pool has abandoned this worker. */
    take: (jobs: readonly DispatchedJob[]): OutcomeBatch | null => answer(jobs, clock.monotonicMs()),
    /** Returns true if jobs wait for their policies: the caller must call `resume` soon, after its other work. */
    waits: (): boolean => waiting.length > 0,
    resume: (): OutcomeBatch | null => {
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

export type BatchProcessor = ReturnType<typeof createBatchProcessor>
