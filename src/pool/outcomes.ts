// Handles the outcomes that workers report: an answer or a failure settles its job; a job whose target the worker has
// forgotten is sent again with the target. An answer that comes too late is withheld (invariant 4).
import { CountersignError, DependencyUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Entry } from './entry.ts'
import type { PoolEventListener } from './events.ts'
import type { PoolLimits } from './limits.ts'
import type { Outcome } from './protocol.ts'
import type { WaitingJobs } from './queue.ts'
import type { Settlement } from './settlement.ts'
import type { PoolStatistics } from './statistics.ts'
import type { OutcomeBatch } from './wire.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface OutcomesOptions {
  readonly clock: Clock
  readonly queue: WaitingJobs
  readonly dispatcher: Dispatcher
  readonly settlement: Pick<Settlement, 'answer' | 'fail'>
  readonly statistics: Pick<PoolStatistics, 'recordBatch' | 'recordRun'>
  readonly limits: Pick<PoolLimits, 'maxRedefinitions'>
  readonly onEvent: PoolEventListener
  readonly withhold: (uuids: readonly string[]) => void
  /** Called when a recalled worker has returned all its jobs. */
  readonly onReturned: (handle: WorkerHandle) => void
}

export const createTakeOutcomes = (options: OutcomesOptions): ((handle: WorkerHandle, batch: OutcomeBatch) => void) => {
  const { clock, queue, dispatcher, settlement, statistics, limits, onEvent, withhold, onReturned } = options

  /** False when the answer came too late. */
  const takeOutcome = (handle: WorkerHandle, entry: Entry, outcome: Outcome): boolean => {
    if (outcome.status === 'answered') return settlement.answer(entry, outcome)
    if (entry.settled) return true
    entry.mayBeSigned = outcome.status === 'failed' && !outcome.nothingSigned
    if (outcome.status === 'unsigned') {
      settlement.answer(entry, { compliant: true, ruleId: null, body: '' })
    } else if (outcome.status === 'target-not-cached') {
      handle.forgetTarget(entry)
      entry.redefinitions += 1
      if (entry.redefinitions <= limits.maxRedefinitions) queue.pushHead(entry)
      else
        settlement.fail(
          entry,
          new DependencyUnavailableError('the policy could not be loaded', { nothingSigned: true }),
        )
    } else if (outcome.status === 'lease-ended') {
      queue.pushHead(entry)
    } else if (outcome.code !== 'DEADLINE_EXCEEDED') {
      // A worker's clock may run ahead of ours by the error of the handshake, so the timer of the deadline answers 408.
      const { requestId, uuid } = entry.job
      if (outcome.errorClass !== null) {
        onEvent({ type: 'job-failed', requestId, uuid, errorClass: outcome.errorClass })
      }
      const { code, detail, nothingSigned } = outcome
      const retryAfter = code === 'INTERNAL' ? {} : { retryAfterSeconds: 1 }
      settlement.fail(entry, new CountersignError(code, detail, { ...retryAfter, nothingSigned }))
    }
    return true
  }

  return (handle, batch) => {
    const nowMs = clock.monotonicMs()
    statistics.recordBatch(batch.busyMs, batch.outcomes.length)
    const late: string[] = []
    for (const outcome of batch.outcomes) {
      const entry = handle.inFlight.get(outcome.sequence)
      if (entry === undefined) continue
      handle.inFlight.delete(outcome.sequence)
      dispatcher.release(entry)
      statistics.recordRun(nowMs - entry.dispatchedMs)
      const { stages } = entry.job
      if (stages !== undefined) {
        stages.answeredMs = nowMs
        if (outcome.status === 'answered') stages.worker = outcome.stages ?? stages.worker
      }
      if (!takeOutcome(handle, entry, outcome)) late.push(entry.job.uuid)
    }
    if (late.length > 0) withhold(late)
    if (handle.recalled && handle.inFlight.size === 0) onReturned(handle)
    dispatcher.dispatch()
  }
}
