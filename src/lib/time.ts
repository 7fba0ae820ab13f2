// Clocks and timers, injected so that tests never sleep. The steady clock notices that the wall clock was set ahead, for work
// that can't be undone, such as erasing expired evidence.
import { NamedError } from './named-error.ts'

export interface Clock {
  /** Monotonic milliseconds since an arbitrary start: deadlines and durations. Never jumps. */
  monotonicMs(): number
  /** Wall clock, Unix seconds, floored: expirations and records. */
  unixSeconds(): number
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Math.floor(Date.now() / 1000),
}

/** ISO 8601 with milliseconds, as the APIs answer. */
export const isoTime = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString()

/** The same in whole seconds, as programs print it. */
export const isoSeconds = (unixSeconds: number): string => isoTime(unixSeconds).replace('.000Z', 'Z')

export interface Timers {
  /** Calls back once, `delayMs` from now or later (after 24 days at the latest). @returns cancels the call */
  after(delayMs: number, callback: () => void): () => void
  /** Calls back once, after this turn of the event loop has handled everything that is readable. */
  endOfTurn(callback: () => void): void
}

/** A longer delay overflows and would fire immediately. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

const begin = (delayMs: number, callback: () => void): NodeJS.Timeout =>
  setTimeout(callback, Math.min(Math.max(1, Math.ceil(delayMs)), LONGEST_DELAY_MS))

/** Timers that keep the process alive until they have fired or were cancelled. */
export const lastingTimers: Pick<Timers, 'after'> = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    return () => clearTimeout(timer)
  },
}

/** Timers that do not keep the process alive; listeners and workers do. */
export const systemTimers: Timers = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    timer.unref()
    return () => clearTimeout(timer)
  },
  // Not queueMicrotask: Bun runs microtasks between two requests of one turn, so that nothing would be batched.
  endOfTurn: (callback) => {
    setImmediate(callback)
  },
}

/** Waits until the event loop has handled what is waiting: call it between two parts of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Returns a clock for the end of what other processes hold for `heldMs`: the wall clock without its steps ahead since then.
 * Unix seconds. A process that goes by it waits out what was held before a step. Read it once before it matters.
 */
export const createHeldClock = ({ unixSeconds, monotonicMs }: Clock, heldMs: number): (() => number) => {
  /** The wall clock minus the monotonic one, ascending, back to the last reading before the last `heldMs`. */
  const offsets: { readonly atMs: number; readonly offsetMs: number }[] = []
  return () => {
    const nowMs = Math.floor(monotonicMs())
    const offsetMs = unixSeconds() * 1_000 - nowMs
    while ((offsets.at(-1)?.offsetMs ?? Number.NEGATIVE_INFINITY) >= offsetMs) offsets.pop()
    offsets.push({ atMs: nowMs, offsetMs })
    while (offsets[1] !== undefined && offsets[1].atMs <= nowMs - heldMs) offsets.shift()
    return Math.floor((nowMs + (offsets[0]?.offsetMs ?? offsetMs)) / 1_000)
  }
}

/** The wall clock was set ahead a short time ago. */
export class ClockAheadError extends NamedError {}

/** Summer time and small corrections are no jump. */
const JUMP_SECONDS = 7_200
/** A clock that has stayed ahead for this long counts as right. */
const SETTLED_MS = 86_400_000

/** @returns a check @throws ClockAheadError for a day after the wall clock was set ahead, unless it is set back */
export const createSteadyClock = ({ unixSeconds, monotonicMs }: Clock): (() => void) => {
  const offsetSeconds = (): number => unixSeconds() - monotonicMs() / 1_000
  let trustedSeconds = offsetSeconds()
  let aheadSinceMs: number | null = null
  return () => {
    const aheadSeconds = offsetSeconds() - trustedSeconds
    if (aheadSeconds > JUMP_SECONDS) {
      aheadSinceMs ??= monotonicMs()
      if (monotonicMs() - aheadSinceMs < SETTLED_MS) {
        throw new ClockAheadError(
          `the clock was set ahead by ${Math.round(aheadSeconds)} s; nothing is erased for a day`,
        )
      }
    }
    trustedSeconds = offsetSeconds()
    aheadSinceMs = null
  }
}
