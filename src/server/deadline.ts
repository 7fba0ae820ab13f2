// Gives each request one absolute deadline when it arrives (invariant 4; spec, Errors row 5), whatever it then waits
// for: a slow body, the store, a hung RPC. One timer serves all requests: they expire in the order in which they
// arrive, so a ring sorted by arrival is sorted by deadline. Adding and finishing are O(1).
import { DeadlineExceededError } from '../domain/errors.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'

/** The deadline as the request's handler sees it. */
export interface Deadline {
  /** Absolute, on the clock's monotonic milliseconds. */
  readonly deadlineMs: number
  /** True once 408 has been answered: the remaining work must not sign or send anything. */
  readonly passed: boolean
}

export interface DeadlinesDependencies {
  readonly clock: Clock
  readonly durationMs: number
  /** Replaced in tests. */
  readonly after?: Timers['after']
  /**
   * Called when work settles after its 408 was answered, since nobody else sees its result. `error` is undefined on
   * success.
   */
  reportLate?(error: unknown): void
}

export interface Deadlines {
  /**
   * Runs `start` under a new deadline. A plain result is returned as it is. A promise settles like that of `start`, or
   * rejects with DeadlineExceededError, whichever comes first. The work is not stopped: it reads `deadline.passed`.
   */
  watch<Result>(start: (deadline: Deadline) => Result | Promise<Result>): Result | Promise<Result>
  /** Number of requests being watched. */
  active(): number
  /** Stops the timer for good, at the end of the process. */
  stop(): void
}

interface Entry extends Deadline {
  passed: boolean
  reject: ((error: Error) => void) | null
  previous: Entry
  next: Entry
}

const createRing = (): Entry => {
  const ring = { deadlineMs: Number.POSITIVE_INFINITY, passed: false, reject: null } as unknown as Entry
  ring.previous = ring
  ring.next = ring
  return ring
}

export const createDeadlines = ({
  clock,
  durationMs,
  after = systemTimers.after,
  reportLate,
}: DeadlinesDependencies): Deadlines => {
  // The ring's sentinel entry never expires: the oldest request is after it, the newest before it.
  const ring = createRing()
  let active = 0
  let armed = false
  let disarm = (): void => undefined

  const remove = (entry: Entry): void => {
    entry.previous.next = entry.next
    entry.next.previous = entry.previous
    // Unlink the neighbours: hung work may keep this entry, and must not keep all later entries with it.
    entry.previous = entry
    entry.next = entry
    active -= 1
  }

  const expire = (): void => {
    armed = false
    const nowMs = clock.monotonicMs()
    for (let entry = ring.next; entry.deadlineMs <= nowMs; entry = ring.next) {
      remove(entry)
      entry.passed = true
      entry.reject?.(new DeadlineExceededError())
    }
    if (active > 0) arm(ring.next.deadlineMs - nowMs)
  }

  // When the ring becomes empty, its timer runs out instead of being stopped and started with every request.
  const arm = (delayMs: number): void => {
    armed = true
    disarm = after(delayMs, expire)
  }

  const add = (): Entry => {
    const last = ring.previous
    const deadlineMs = clock.monotonicMs() + durationMs
    const entry: Entry = { deadlineMs, passed: false, reject: null, previous: last, next: ring }
    last.next = entry
    ring.previous = entry
    active += 1
    if (!armed) arm(durationMs)
    return entry
  }

  return {
    watch: <Result>(start: (deadline: Deadline) => Result | Promise<Result>): Result | Promise<Result> => {
      const entry = add()
      let started: Result | Promise<Result>
      try {
        started = start(entry)
      } catch (error) {
        remove(entry)
        throw error
      }
      if (!(started instanceof Promise)) {
        remove(entry)
        return started
      }
      return new Promise<Result>((resolve, reject) => {
        entry.reject = reject
        started.then(
          (result) => {
            if (entry.passed) {
              reportLate?.(undefined)
            } else {
              remove(entry)
              resolve(result)
            }
          },
          (error: unknown) => {
            if (entry.passed) {
              reportLate?.(error)
            } else {
              remove(entry)
              reject(error)
            }
          },
        )
      })
    },
    active: () => active,
    stop: () => {
      disarm()
      armed = true
    },
  }
}
