// Carries out the decisions of recovery.ts on the jobs of a lost worker, once its log has been read or the wait for
// that is over. Nothing here takes longer than `recoverTimeoutMs`, so the jobs are answered within a second of the
// loss.

import type { CountersignError } from '../domain/errors.ts'
import { errorClassOf, NamedError } from '../lib/named-error.ts'
import type { Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Entry, PoolAnswer } from './entry.ts'
import type { PoolEventListener } from './events.ts'
import type { PoolLimits } from './limits.ts'
import { decideFate, type LostLog, type RecoverDecisions } from './recovery.ts'
import type { LostWorker } from './worker-supervisor.ts'

export interface LostJobsOptions {
  readonly recover: RecoverDecisions
  readonly limits: PoolLimits
  readonly timers: Timers
  readonly onEvent: PoolEventListener
  /** False when the deadline has passed: the answer must be withheld. */
  readonly answer: (entry: Entry, answer: PoolAnswer) => boolean
  readonly fail: (entry: Entry, error: CountersignError) => void
  /** Returns the jobs to the head of the queue, in this order. */
  readonly dispatchAgain: (entries: readonly Entry[]) => void
  readonly dispatchAlone: (entry: Entry) => void
  readonly withhold: (uuids: readonly string[]) => void
}

class RecoveryTimeoutError extends NamedError {}

export const createLostJobs = (options: LostJobsOptions): ((lost: LostWorker) => Promise<void>) => {
  const { limits, timers, onEvent } = options

  const readLog = async (log: LostLog): Promise<ReadonlyMap<string, PoolAnswer> | null> => {
    const giveUp = (): never => {
      throw new RecoveryTimeoutError()
    }
    try {
      return await withTimeout(options.recover(log), limits.recoverTimeoutMs, giveUp, timers.after)
    } catch (error) {
      const errorClass = errorClassOf(error)
      onEvent({ type: 'recovery-failed', slot: log.slot, errorClass })
      return null
    }
  }

  return async ({ handle, culprit, logIsFinal }) => {
    const entries = [...handle.inFlight.values()]
    handle.inFlight.clear()
    if (entries.length === 0) return
    const recovered = await readLog({
      slot: handle.slot,
      generation: handle.generation,
      segmentPath: handle.ready?.segmentPath ?? null,
      uuids: entries.map((entry) => entry.job.uuid),
    })
    const again: Entry[] = []
    const withheld: string[] = []
    let answered = 0
    let alone = 0
    let failed = 0
    for (const entry of entries) {
      const fate = decideFate(entry, { recovered, culprit, logIsFinal, limits })
      if (fate.action === 'answer') {
        if (options.answer(entry, fate.answer)) answered += 1
        else withheld.push(entry.job.uuid)
      } else if (fate.action === 'fail') {
        options.fail(entry, fate.error)
        failed += 1
        if (fate.withhold) withheld.push(entry.job.uuid)
      } else if (fate.action === 'withhold') {
        withheld.push(entry.job.uuid)
      } else if (fate.action === 'dispatch-alone') {
        options.dispatchAlone(entry)
        alone += 1
      } else if (fate.action === 'dispatch') {
        again.push(entry)
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
    if (withheld.length > 0) options.withhold(withheld)
    options.dispatchAgain(again)
  }
}
