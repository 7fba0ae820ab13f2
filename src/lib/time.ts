// Injected clocks and timers. The steady clock detects forward jumps of the wall clock, for irreversible work such as
// erasing expired evidence.
import { NamedError } from './named-error.ts'

export interface Clock {
  /** Returns milliseconds since an arbitrary start, for deadlines and durations. Never jumps. */
  monotonicMs(): number
  /** Returns the wall clock in whole Unix seconds, for expirations and records. */
  unixSeconds(): number
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Math.floor(Date.now() / 1000),
}

/** Returns the time in ISO 8601 with milliseconds, the format of the APIs. */
export const isoTime = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString()

/** Returns the time in ISO 8601 and whole seconds, the format of printed output. */
export const isoSeconds = (unixSeconds: number): string => isoTime(unixSeconds).replace('.000Z', 'Z')

export interface Timers {
  /** Calls back once, after at least `delayMs`, but at most 24 days. Returns a function that cancels the call. */
  after(delayMs: number, callback: () => void): () => void
  /** Calls back once, after this turn of the event loop has handled all readable events. */
  endOfTurn(callback: () => void): void
}

/** Maximum delay: a longer delay overflows and fires immediately. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

const begin = (delayMs: number, callback: () => void): NodeJS.Timeout =>
  setTimeout(callback, Math.min(Math.max(1, Math.ceil(delayMs)), LONGEST_DELAY_MS))

/** Timers that keep the process alive until they fire or are canceled. */
export const lastingTimers: Pick<Timers, 'after'> = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    return () => clearTimeout(timer)
  },
}

/** Timers that don't keep the process alive; listeners and workers do. */
export const systemTimers: Timers = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    timer.unref()
    return () => clearTimeout(timer)
  },
  // Doesn't use queueMicrotask, because Bun runs microtasks between two requests of the same turn, which would prevent
  // batching.
  endOfTurn: (callback) => {
    setImmediate(callback)
  },
}

/** Waits until the event loop has handled all pending events. Call it between parts of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Returns a wall clock in Unix seconds without the forward jumps of the past `heldMs`, so that claims of other
 * processes keep their full duration. Read it once in advance.
 */
export const createHeldClock = ({ unixSeconds, monotonicMs }: Clock, heldMs: number): (() => number) => {
  /** Wall clock minus monotonic clock, ascending. Each offset may have lasted until the next reading. */
  const offsets: { readonly offsetMs: number; untilMs: number }[] = []
  return () => {
    const nowMs = Math.floor(monotonicMs())
    const offsetMs = unixSeconds() * 1_000 - nowMs
    const previous = offsets.at(-1)
    if (previous !== undefined) previous.untilMs = nowMs
    while ((offsets.at(-1)?.offsetMs ?? Number.NEGATIVE_INFINITY) >= offsetMs) offsets.pop()
    offsets.push({ offsetMs, untilMs: Number.POSITIVE_INFINITY })
    while (offsets[0] !== undefined && offsets[0].untilMs <= nowMs - heldMs) offsets.shift()
    return Math.floor((nowMs + (offsets[0]?.offsetMs ?? offsetMs)) / 1_000)
  }
}

export class ClockAheadError extends NamedError {}

/** Minimum size of a jump: daylight saving time and small corrections don't count. */
const JUMP_SECONDS = 7_200
/** Time after which a clock that jumped ahead is trusted. */
const SETTLED_MS = 86_400_000

/** The returned check throws ClockAheadError for a day after the wall clock jumped ahead, unless it is set back. */
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
          `the clock was set ahead by ${Math.round(aheadSeconds)} s; erasure is paused for a day`,
        )
      }
    }
    trustedSeconds = offsetSeconds()
    aheadSinceMs = null
  }
}

/** Maximum difference between the clocks of processes for which a later time counts as the present. */
export const CLOCK_DIFFERENCE_SECONDS = 60

/** Returns the seconds since an event; null if there was none, or if the clock was ahead and the time is unknown. */
export const secondsSince = (atSeconds: number | null, nowSeconds: number): number | null =>
  atSeconds === null || atSeconds > nowSeconds + CLOCK_DIFFERENCE_SECONDS ? null : Math.max(0, nowSeconds - atSeconds)

/** Returns the UTC day as YYYY-MM-DD. */
export const dayOf = (nowSeconds: number): string => new Date(nowSeconds * 1000).toISOString().slice(0, 10)

export const ageOn = (birthDate: string, nowSeconds: number): number => {
  const today = dayOf(nowSeconds)
  const years = Number(today.slice(0, 4)) - Number(birthDate.slice(0, 4))
  return today.slice(5) < birthDate.slice(5) ? years - 1 : years
}

/** Returns the two largest units: `2 h 5 min`. */
export const durationText = (seconds: number): string => {
  const parts = [
    { unit: 'd', size: 86_400 },
    { unit: 'h', size: 3_600 },
    { unit: 'min', size: 60 },
    { unit: 's', size: 1 },
  ]
  const first = parts.findIndex(({ size }) => seconds >= size)
  const shown = parts.slice(first < 0 ? -1 : first).slice(0, 2)
  let left = seconds
  return shown
    .flatMap(({ unit, size }, index) => {
      const count = Math.floor(left / size)
      left -= count * size
      return count === 0 && index > 0 ? [] : [`${count} ${unit}`]
    })
    .join(' ')
}
