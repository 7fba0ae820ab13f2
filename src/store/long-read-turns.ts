// Admits long reads: organizations take turns, and each may have few waiting reads. A waiting read ends with its
// request.
import { AsyncLocalStorage } from 'node:async_hooks'
import { DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { StoreUnavailableError } from './errors.ts'

export interface LongReadCaller {
  /** The organization's id. Empty for the deployment. */
  readonly owner: string
  /** Aborted when the request has ended. */
  readonly signal: AbortSignal | null
}

/** Maximum number of waiting reads per owner. A page of the dashboard needs about ten. */
export const OWN_WAITING_MAX = 64

const callers = new AsyncLocalStorage<LongReadCaller>()
const DEPLOYMENT: LongReadCaller = { owner: '', signal: null }

/** Runs the work of a request, whose long reads then belong to its organization and end with the request. */
export const readFor = <Result>(caller: LongReadCaller, work: () => Promise<Result>): Promise<Result> =>
  callers.run(caller, work)

/**
 * @param running maximum number of running reads
 * @param ownRunning maximum number of running reads per owner
 */
export const createLongReadTurns = (running: number, ownRunning: number) => {
  const slots = createFairSlots(running, Number.POSITIVE_INFINITY, OWN_WAITING_MAX, ownRunning)
  /** Rejects each waiting read. */
  const waiting = new Set<(error: Error) => void>()

  const acquire = async ({ owner, signal }: LongReadCaller): Promise<() => void> => {
    if (signal?.aborted) throw new DeadlineExceededError()
    const withdrawal = new AbortController()
    const slot = slots.acquire(owner, withdrawal.signal)
    if (slot === null) throw new QueueFullError()
    const ended = Promise.withResolvers<never>()
    const end = (error: Error): void => {
      withdrawal.abort()
      ended.reject(error)
    }
    const expire = (): void => end(new DeadlineExceededError())
    waiting.add(end)
    signal?.addEventListener('abort', expire)
    try {
      return await Promise.race([slot, ended.promise])
    } finally {
      waiting.delete(end)
      signal?.removeEventListener('abort', expire)
    }
  }

  return {
    /** @throws QueueFullError if too many reads of the caller are waiting; DeadlineExceededError if its request ended */
    run: async <Result>(read: () => Promise<Result>): Promise<Result> => {
      const release = await acquire(callers.getStore() ?? DEPLOYMENT)
      try {
        return await read()
      } finally {
        release()
      }
    },
    /** Rejects the waiting reads. Running reads continue. */
    stop: (): void => {
      for (const end of waiting) end(new StoreUnavailableError(new Error('the database is closed')))
    },
  }
}
