// Gives each request one absolute deadline when it arrives (invariant 4; spec, Errors row 5), whatever it then waits
// for: a slow body, the store, a hung RPC.
import { DeadlineExceededError } from '../domain/errors.ts'
import { createDeadlineList, type Expiring } from '../lib/deadline-list.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'

/** The deadline as the request's handler sees it. */
export interface Deadline {
  /** Absolute, on the clock's monotonic milliseconds. */
  readonly deadlineMs: number
  /** True once 408 has been answered: the remaining work must not sign or send anything. */
  readonly passed: boolean
}

/** A request under a deadline. */
export interface TimedRequest extends Deadline, Expiring<TimedRequest> {
  deadlineMs: number
  passed: boolean
  /** Called once at the deadline: answers 408. The work is not stopped: it reads `passed`. */
  expire(): void
}

export interface DeadlinesDependencies {
  readonly clock: Clock
  readonly durationMs: number
  /** Replaced in tests. */
  readonly after?: Timers['after']
  /**
   * Called when work ends after its 408 was answered, since nobody else sees its result. `error` is undefined on
   * success.
   */
  reportLate?(error: unknown): void
}

export interface Deadlines {
  /** Sets the deadline of a request that arrived at `nowMs`. Every request must be ended. */
  begin(request: TimedRequest, nowMs: number): void
  /** False if the request was answered 408 before: its result or error was reported, and must not be sent. */
  end(request: TimedRequest, error?: unknown): boolean
  /**
   * Runs `start` under a new deadline. A plain result is returned as it is. A promise settles like that of `start`, or
   * rejects with DeadlineExceededError, whichever comes first.
   */
  watch<Result>(start: (deadline: Deadline) => Result | Promise<Result>): Result | Promise<Result>
  /** Number of requests under a deadline. */
  active(): number
  /** Stops the timer for good, at the end of the process. */
  stop(): void
}

export const createDeadlines = ({
  clock,
  durationMs,
  after = systemTimers.after,
  reportLate,
}: DeadlinesDependencies): Deadlines => {
  const list = createDeadlineList<TimedRequest>(clock, after, (request) => {
    request.passed = true
    request.expire()
  })

  const begin = (request: TimedRequest, nowMs: number): void => {
    request.deadlineMs = nowMs + durationMs
    list.add(request)
  }
  const end = (request: TimedRequest, error?: unknown): boolean => {
    if (request.passed) reportLate?.(error)
    else list.remove(request)
    return !request.passed
  }

  return {
    begin,
    end,
    watch: <Result>(start: (deadline: Deadline) => Result | Promise<Result>): Result | Promise<Result> => {
      const late = Promise.withResolvers<never>()
      const request: TimedRequest = {
        deadlineMs: 0,
        passed: false,
        earlier: null,
        later: null,
        expire: () => late.reject(new DeadlineExceededError()),
      }
      begin(request, clock.monotonicMs())
      let started: Result | Promise<Result>
      try {
        started = start(request)
      } catch (error) {
        list.remove(request)
        throw error
      }
      if (!(started instanceof Promise)) {
        list.remove(request)
        return started
      }
      const ended = started.then(
        (result) => {
          end(request)
          return result
        },
        (error: unknown) => {
          end(request, error)
          throw error
        },
      )
      return Promise.race([ended, late.promise])
    },
    active: () => list.size,
    stop: list.stop,
  }
}
