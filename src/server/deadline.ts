// Gives each request one absolute deadline at its arrival, which covers all waits (invariant 4; spec, Errors row 5).
import { DeadlineExceededError } from '../domain/errors.ts'
import { createDeadlineList, type Expiring } from '../lib/deadline-list.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'

export interface Deadline {
  readonly deadlineMs: number
  /** True after the 408 response. The remaining work must neither sign nor send a response. */
  readonly passed: boolean
}

export interface TimedRequest extends Deadline, Expiring<TimedRequest> {
  deadlineMs: number
  passed: boolean
  /** Called once, to send 408. The work isn't stopped; it checks `passed`. */
  expire(): void
}

export interface DeadlinesDependencies {
  readonly clock: Clock
  readonly durationMs: number
  readonly after?: Timers['after']
  /** Called when work ends after its 408, and its result is not sent. `error` is undefined on success. */
  reportLate?(error: unknown): void
}

export interface Deadlines {
  /** End every request with `end`. */
  begin(request: TimedRequest, nowMs: number): void
  /** Returns false after a 408: do not send the result or error. */
  end(request: TimedRequest, error?: unknown): boolean
  /** Runs `start` under a new deadline, at which it aborts `expired` and rejects with DeadlineExceededError. */
  watch<Result>(start: (deadline: Deadline, expired: AbortSignal) => Result | Promise<Result>): Result | Promise<Result>
  active(): number
  late(): number
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

  let late = 0

  const begin = (request: TimedRequest, nowMs: number): void => {
    request.deadlineMs = nowMs + durationMs
    list.add(request)
  }
  const end = (request: TimedRequest, error?: unknown): boolean => {
    if (!request.passed) {
      list.remove(request)
      return true
    }
    late += 1
    reportLate?.(error)
    return false
  }

  return {
    begin,
    end,
    watch: <Result>(
      start: (deadline: Deadline, expired: AbortSignal) => Result | Promise<Result>,
    ): Result | Promise<Result> => {
      const expired = Promise.withResolvers<never>()
      const expiry = new AbortController()
      const request: TimedRequest = {
        deadlineMs: 0,
        passed: false,
        earlier: null,
        later: null,
        expire: () => {
          const error = new DeadlineExceededError()
          expired.reject(error)
          expiry.abort(error)
        },
      }
      begin(request, clock.monotonicMs())
      let started: Result | Promise<Result>
      try {
        started = start(request, expiry.signal)
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
      return Promise.race([ended, expired.promise])
    },
    active: () => list.size,
    late: () => late,
    stop: list.stop,
  }
}
