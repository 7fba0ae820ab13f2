// Decides what happens to the jobs of a lost worker. A job in the worker's log was decided: it is answered from there,
// never signed again (invariant 3). The others are tried again, unless a job is the likely cause of the loss or nobody
// knows what was recorded.
import { CountersignError, DependencyUnavailableError } from '../domain/errors.ts'
import type { Entry, PoolAnswer } from './entry.ts'
import type { PoolLimits } from './limits.ts'

export interface LostLog {
  readonly slot: number
  readonly generation: number
  /**
   * The segment that the worker had open when it became ready; later segments of the slot follow it. Null: it never had
   * one.
   */
  readonly segmentPath: string | null
  readonly uuids: readonly string[]
}

/**
 * Reads what a lost worker had recorded under these uuids: the answers, byte for byte as the worker would have sent
 * them.
 * @throws when the log can't be read: none of the jobs may then be signed again
 */
export type RecoverDecisions = (
  log: LostLog,
) => ReadonlyMap<string, PoolAnswer> | Promise<ReadonlyMap<string, PoolAnswer>>

export type Fate =
  | { readonly action: 'answer'; readonly answer: PoolAnswer }
  /** The job was already answered 408 and is, or may be, recorded: the log must say that the answer was withheld. */
  | { readonly action: 'withhold' }
  | { readonly action: 'nothing' }
  | { readonly action: 'dispatch' }
  /** The worker was lost while working on this job: the job gets one more worker, without other jobs. */
  | { readonly action: 'dispatch-alone' }
  | { readonly action: 'fail'; readonly error: CountersignError; readonly withhold: boolean }

export interface LossContext {
  /** Null when the log could not be read. */
  readonly recovered: ReadonlyMap<string, PoolAnswer> | null
  readonly culprit: Entry | null
  /** False when an append may still be under way. */
  readonly logIsFinal: boolean
  readonly limits: PoolLimits
}

const unknownRecord = (): CountersignError =>
  new DependencyUnavailableError('the decision log of a lost worker is unreadable')

/** Counts the loss against the entry and decides what happens to it. */
export const decideFate = (entry: Entry, { recovered, culprit, logIsFinal, limits }: LossContext): Fate => {
  const answer = recovered?.get(entry.job.uuid)
  const unknown = recovered === null || (answer === undefined && !logIsFinal)
  if (entry.settled) return { action: answer !== undefined || unknown ? 'withhold' : 'nothing' }
  if (answer !== undefined) return { action: 'answer', answer }
  if (unknown) return { action: 'fail', error: unknownRecord(), withhold: true }
  entry.mayBeSigned = false
  entry.losses += 1
  if (entry === culprit) {
    entry.kills += 1
    if (entry.kills < limits.maxKills) return { action: 'dispatch-alone' }
    const error = new CountersignError('INTERNAL', 'the request could not be processed', { nothingSigned: true })
    return { action: 'fail', error, withhold: false }
  }
  if (entry.losses < limits.maxLosses) return { action: 'dispatch' }
  const error = new DependencyUnavailableError('the signing workers failed', { nothingSigned: true })
  return { action: 'fail', error, withhold: false }
}
