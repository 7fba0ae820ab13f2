// Admits work of the store. Organizations take turns, each with a limited queue. Waiting work ends with its request.
import { DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import { type Caller, currentCaller } from '../lib/caller.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { StoreUnavailableError } from './errors.ts'

export interface StoreTurnsOptions {
  readonly running: number
  readonly ownRunning: number
  readonly ownWaiting: number
  readonly waitMs?: number
}

export const createStoreTurns = ({ running, ownRunning, ownWaiting, waitMs }: StoreTurnsOptions) => {
  const slots = createFairSlots(running, Number.POSITIVE_INFINITY, ownWaiting, ownRunning)
  /** Functions that reject waiting items. */
  const waiting = new Set<(error: Error) => void>()

  const acquire = async ({ owner, signal }: Caller): Promise<() => void> => {
    if (signal?.aborted) throw new DeadlineExceededError()
    const withdrawal = new AbortController()
    const slot = slots.acquire(owner, withdrawal.signal)
    if (slot === null) throw new QueueFullError()
    const end = (error: Error): void => withdrawal.abort(error)
    const expire = (): void => end(new DeadlineExceededError())
    const timer =
      waitMs === undefined
        ? undefined
        : setTimeout(() => end(new StoreUnavailableError(new Error('no connection became available in time'))), waitMs)
    waiting.add(end)
    signal?.addEventListener('abort', expire)
    try {
      return await slot
    } finally {
      clearTimeout(timer)
      waiting.delete(end)
      signal?.removeEventListener('abort', expire)
    }
  }

  return {
    /** @throws QueueFullError; DeadlineExceededError if the request has ended; StoreUnavailableError after `waitMs` */
    run: async <Result>(work: () => Promise<Result>, caller = currentCaller()): Promise<Result> => {
      const release = await acquire(caller)
      try {
        return await work()
      } finally {
        release()
      }
    },
    stop: (): void => {
      for (const end of waiting) end(new StoreUnavailableError(new Error('the database is closed')))
    },
  }
}

/** Maximum waiting reads per organization. A page of the dashboard needs about ten long reads. */
export const OWN_LONG_READS_WAITING_MAX = 64

/** Long reads end with their requests and have no other time limit. */
export const createLongReadTurns = (running: number, ownRunning: number) =>
  createStoreTurns({ running, ownRunning, ownWaiting: OWN_LONG_READS_WAITING_MAX })
