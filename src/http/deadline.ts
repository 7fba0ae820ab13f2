// One absolute deadline a request, set when it arrives (invariant 4; spec, Errors row 5), whatever it then waits for:
// a slow body, the store, a hung RPC. One timer serves all requests: they arrive in the order in which they expire, so
// a ring with the oldest first needs no other order. Adding and finishing are O(1).
import { DeadlineExceededError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'

/** What the inside of a request sees of its deadline. */
export interface Deadline {
  /** Absolute, on the clock's monotonic milliseconds. */
  readonly deadlineMs: number
  /** True once 408 has been answered: whatever is left to do must not sign or send anything. */
  readonly passed: boolean
}

export interface DeadlineTimers {
  /** Calls back once, no earlier than asked by more than a rounding. Must not keep the process alive. */
  set(callback: () => void, delayMs: number): void
  clear(): void
}

export interface DeadlinesDependencies {
  readonly clock: Clock
  readonly durationMs: number
  /** For tests; a single setTimeout otherwise. */
  readonly timers?: DeadlineTimers
  /** Told when work settles after its 408 was answered: nobody else hears of it. `error` is undefined on success. */
  reportLate?(error: unknown): void
}

export interface Deadlines {
  /**
   * Runs `start` under a new deadline. A plain result is returned as it is; a promise settles as `start`'s does or
   * rejects with DeadlineExceededError, whichever comes first. The work is told by `deadline.passed`, not stopped.
   */
  watch<Result>(start: (deadline: Deadline) => Result | Promise<Result>): Result | Promise<Result>
  /** Requests being watched. */
  active(): number
  /** Stops the timer for good: for the end of the process. */
  stop(): void
}

interface Entry extends Deadline {
  passed: boolean
  reject: ((error: Error) => void) | null
  previous: Entry
  next: Entry
}

const systemTimers = (): DeadlineTimers => {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    set: (callback, delayMs) => {
      timer = setTimeout(callback, delayMs)
      timer.unref()
    },
    clear: () => clearTimeout(timer),
  }
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
  timers = systemTimers(),
  reportLate,
}: DeadlinesDependencies): Deadlines => {
  // The ring's own entry never expires: the oldest request is after it, the newest before it.
  const ring = createRing()
  let active = 0
  let armed = false

  const remove = (entry: Entry): void => {
    entry.previous.next = entry.next
    entry.next.previous = entry.previous
    // An entry that hung work still holds must not hold every later entry by its neighbours.
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

  // An emptied ring leaves its timer to run out rather than stop and start it with every request.
  const arm = (delayMs: number): void => {
    armed = true
    timers.set(expire, Math.max(1, Math.ceil(delayMs)))
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
      timers.clear()
      armed = true
    },
  }
}
