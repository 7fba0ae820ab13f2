// A bounded number of connections, opened when needed, each lent to one caller at a time. Who finds none waits in line, but
// neither without end nor in a line without end; a lost connection is replaced at once.
import type { Clock } from '../domain/time.ts'
import { StoreUnavailableError } from './errors.ts'
import type { PostgresConnection } from './postgres-connection.ts'

export interface PoolOptions {
  readonly clock: Clock
  readonly size: number
  /** How many callers may wait before the next is refused at once. */
  readonly maximumQueued: number
  /** A connection that nobody used for this long is closed, milliseconds. */
  readonly idleMs: number
  connect(): Promise<PostgresConnection>
  /** Whether trying again soon is of no use, as for a wrong password. */
  isFinal(error: unknown): boolean
  readonly wait: (milliseconds: number) => Promise<void>
}

export interface PostgresPool {
  /**
   * Lends a connection; connecting is tried again until the deadline while the server is away.
   * @param deadlineMs of the monotonic clock.
   * @throws StoreUnavailableError when none is free in time, the line is full or the pool closed; what `connect` throws
   * when it failed last.
   */
  acquire(deadlineMs: number): Promise<PostgresConnection>
  /** Takes it back, usable or not. */
  release(connection: PostgresConnection): void
  /** Closes what is idle now and what is lent when it comes back. */
  close(): void
}

const FIRST_RETRY_MS = 20
const LONGEST_RETRY_MS = 250

interface Waiter {
  /** Hands over the right to one of the pool's places. */
  take(): void
}

export const createPostgresPool = (options: PoolOptions): PostgresPool => {
  const { clock, size, maximumQueued, idleMs, connect, isFinal, wait } = options
  const idle: { readonly connection: PostgresConnection; readonly sinceMs: number }[] = []
  const waiters = new Set<Waiter>()
  /** Places that are lent or being connected. */
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
    // The place changes hands without being free in between.
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
          reject(new StoreUnavailableError(new Error('no connection was free in time')))
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
    // The one used last: those beyond the need of the moment grow old and are closed.
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
    acquire: async (deadlineMs) => {
      await takePlace(deadlineMs)
      try {
        return takeIdle() ?? (await connectInTime(deadlineMs))
      } catch (error) {
        freePlace()
        throw error
      }
    },
    release: (connection) => {
      if (closed) connection.drop()
      else if (connection.usable()) idle.push({ connection, sinceMs: clock.monotonicMs() })
      freePlace()
    },
    close: () => {
      closed = true
      clearInterval(sweep)
      for (const { connection } of idle.splice(0)) connection.drop()
    },
  }
}
