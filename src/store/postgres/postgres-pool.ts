// A limited number of connections, opened on demand, and a queue limited in length and time.
import type { Clock } from '../../lib/time.ts'
import { StoreUnavailableError } from '../errors.ts'
import type { PostgresConnection } from './postgres-connection.ts'

export interface PoolOptions {
  readonly clock: Clock
  readonly size: number
  readonly maximumQueued: number
  readonly idleMs: number
  connect(): Promise<PostgresConnection>
  /** Reports whether a retry is pointless, for example after a wrong password. */
  isFinal(error: unknown): boolean
  readonly wait: (milliseconds: number) => Promise<void>
}

const FIRST_RETRY_MS = 20
const LONGEST_RETRY_MS = 250

interface Waiter {
  take(): void
}

export const createPostgresPool = (options: PoolOptions) => {
  const { clock, size, maximumQueued, idleMs, connect, isFinal, wait } = options
  const idle: { readonly connection: PostgresConnection; readonly sinceMs: number }[] = []
  const waiters = new Set<Waiter>()
  let taken = 0
  let closed = false

  const sweep = setInterval(() => {
    const oldestMs = clock.monotonicMs() - idleMs
    for (let first = idle[0]; first !== undefined && first.sinceMs < oldestMs; first = idle[0]) {
      idle.shift()
      first.connection.drop()
    }
  }, idleMs)
  sweep.unref()

  const freePlace = (): void => {
    const [next] = waiters
    if (next === undefined) {
      taken--
      return
    }
    // The slot passes directly to the next waiter.
    waiters.delete(next)
    next.take()
  }

  const takePlace = (deadlineMs: number): Promise<void> => {
    if (taken < size) {
      taken++
      return Promise.resolve()
    }
    if (waiters.size >= maximumQueued) {
      return Promise.reject(new StoreUnavailableError(new Error('too many calls are waiting for a connection')))
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          waiters.delete(waiter)
          reject(new StoreUnavailableError(new Error('no connection became available in time')))
        },
        Math.max(0, deadlineMs - clock.monotonicMs()),
      )
      const waiter: Waiter = {
        take: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      waiters.add(waiter)
    })
  }

  const takeIdle = (): PostgresConnection | undefined => {
    // Prefer the most recently used connection, so that surplus connections become idle and are closed.
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      if (last.connection.usable()) return last.connection
    }
    return undefined
  }

  const connectInTime = async (deadlineMs: number): Promise<PostgresConnection> => {
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      try {
        return await connect()
      } catch (error) {
        if (closed || isFinal(error) || clock.monotonicMs() + delayMs > deadlineMs) throw error
      }
      await wait(delayMs * (0.5 + Math.random() / 2))
    }
  }

  return {
    /** Retries until the deadline (monotonic). @throws StoreUnavailableError; the last error of `connect` */
    acquire: async (deadlineMs: number): Promise<PostgresConnection> => {
      await takePlace(deadlineMs)
      try {
        return takeIdle() ?? (await connectInTime(deadlineMs))
      } catch (error) {
        freePlace()
        throw error
      }
    },
    release: (connection: PostgresConnection) => {
      if (closed) connection.drop()
      else if (connection.usable()) idle.push({ connection, sinceMs: clock.monotonicMs() })
      freePlace()
    },
    /** Lent connections are closed when they are returned. */
    close: () => {
      closed = true
      clearInterval(sweep)
      for (const { connection } of idle.splice(0)) connection.drop()
    },
  }
}

export type PostgresPool = ReturnType<typeof createPostgresPool>
