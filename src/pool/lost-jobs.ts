// Decides the outcome of a lost worker's jobs after reading its log. Recorded jobs are answered from the log (invariant
// 3). The others are retried, unless they probably caused the loss or the log is unreadable.
import { CountersignError, DependencyUnavailableError } from '../domain/errors.ts'
import { errorClassOf, NamedError } from '../lib/named-error.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { PoolLimits, PoolParts } from './pool-options.ts'
import type { PendingJob, PoolAnswer, Settlement, WithheldLedger } from './settlement.ts'
import type { LostWorker } from './worker-supervisor.ts'

export interface LostLog {
  readonly slot: number
  readonly generation: number
  /** The segment that was open when the worker became ready; null if it never became ready. */
  readonly segmentPath: string | null
  readonly uuids: readonly string[]
}

/** The recorded answers, byte for byte. @throws if the log cannot be read; sign none of the jobs again */
export type RecoverDecisions = (
  log: LostLog,
) => ReadonlyMap<string, PoolAnswer> | Promise<ReadonlyMap<string, PoolAnswer>>

type Fate =
  | { readonly action: 'answer'; readonly answer: PoolAnswer }
  /** The job was answered 408 and may be recorded: the log must state that the answer was withheld. */
  | { readonly action: 'withhold' }
  | { readonly action: 'nothing' }
  | { readonly action: 'dispatch' }
  /** The worker was lost during this job: retry it once, on a worker without other jobs. */
  | { readonly action: 'dispatch-alone' }
  | { readonly action: 'fail'; readonly error: CountersignError; readonly withhold: boolean }

interface LossContext {
  readonly recovered: ReadonlyMap<string, PoolAnswer> | null
  readonly culprit: PendingJob | null
  /** False if an append may still be in progress. */
  readonly logIsFinal: boolean
  readonly limits: PoolLimits
}

const unknownRecord = (): CountersignError =>
  new DependencyUnavailableError('the decision log of a failed worker cannot be read')

const decideFate = (pending: PendingJob, { recovered, culprit, logIsFinal, limits }: LossContext): Fate => {
  const answer = recovered?.get(pending.job.uuid)
  const unknown = recovered === null || (answer === undefined && !logIsFinal)
  if (pending.settled) return { action: answer !== undefined || unknown ? 'withhold' : 'nothing' }
  if (answer !== undefined) return { action: 'answer', answer }
  if (unknown) return { action: 'fail', error: unknownRecord(), withhold: true }
  pending.mayBeSigned = false
  pending.losses += 1
  if (pending === culprit) {
    pending.kills += 1
    if (pending.kills < limits.maxKills) return { action: 'dispatch-alone' }
    const error = new CountersignError('INTERNAL', 'the request could not be processed', { nothingSigned: true })
    return { action: 'fail', error, withhold: false }
  }
  if (pending.losses < limits.maxLosses) return { action: 'dispatch' }
  const error = new DependencyUnavailableError('the signing workers failed', { nothingSigned: true })
  return { action: 'fail', error, withhold: false }
}

class RecoveryTimeoutError extends NamedError {}

export const createLostJobs = (
  recover: RecoverDecisions,
  { limits, timers, onEvent, queue }: PoolParts,
  settlement: Settlement,
  ledger: WithheldLedger,
  dispatcher: Dispatcher,
): ((lost: LostWorker) => Promise<void>) => {
  const readLog = async (log: LostLog): Promise<ReadonlyMap<string, PoolAnswer> | null> => {
    const giveUp = (): never => {
      throw new RecoveryTimeoutError()
    }
    try {
      return await withTimeout(recover(log), limits.recoverTimeoutMs, giveUp, timers.after)
    } catch (error) {
      const errorClass = errorClassOf(error)
      onEvent({ type: 'recovery-failed', slot: log.slot, errorClass })
      return null
    }
  }

  return async ({ handle, culprit, logIsFinal }) => {
    const lostJobs = [...handle.inFlight.values()]
    for (const pending of lostJobs) dispatcher.release(pending)
    handle.inFlight.clear()
    if (lostJobs.length === 0) return
    const recovered = await readLog({
      slot: handle.slot,
      generation: handle.generation,
      segmentPath: handle.ready?.segmentPath ?? null,
      uuids: lostJobs.map((pending) => pending.job.uuid),
    })
    const again: PendingJob[] = []
    const withheld: string[] = []
    let answered = 0
    let alone = 0
    let failed = 0
    for (const pending of lostJobs) {
      const fate = decideFate(pending, { recovered, culprit, logIsFinal, limits })
      if (fate.action === 'answer') {
        if (settlement.answer(pending, fate.answer)) answered += 1
        else withheld.push(pending.job.uuid)
      } else if (fate.action === 'fail') {
        settlement.fail(pending, fate.error)
        failed += 1
        if (fate.withhold) withheld.push(pending.job.uuid)
      } else if (fate.action === 'withhold') {
        withheld.push(pending.job.uuid)
      } else if (fate.action === 'dispatch-alone') {
        dispatcher.enqueueAlone(pending)
        alone += 1
      } else if (fate.action === 'dispatch') {
        again.push(pending)
      }
    }
    onEvent({
      type: 'jobs-recovered',
      slot: handle.slot,
      answered,
      dispatchedAgain: again.length + alone,
      failed,
      withheld: withheld.length,
    })
    if (withheld.length > 0) ledger.withhold(withheld)
    for (const pending of again.toReversed()) if (!pending.settled) queue.pushHead(pending)
    dispatcher.dispatch()
  }
}
