// Clocks and timers that only tests advance.
import type { Clock, Timers } from '../../src/lib/time.ts'

export interface ManualClock extends Clock {
  /** Moves both clocks forward. */
  advance(milliseconds: number): void
}

export const createManualClock = (startSeconds = 1_700_000_000): ManualClock => {
  let elapsedMs = 0
  return {
    monotonicMs: () => elapsedMs,
    unixSeconds: () => startSeconds + Math.floor(elapsedMs / 1000),
    advance: (milliseconds) => {
      elapsedMs += milliseconds
    },
  }
}

export interface ManualTimers extends Pick<Timers, 'after'> {
  /** The delay of the timer in milliseconds; null if no timer is set. */
  delayMs(): number | null
  /** How many times a timer was set. */
  sets(): number
  fire(): void
}

export const createManualTimers = (): ManualTimers => {
  let callback: (() => void) | null = null
  let delay: number | null = null
  let sets = 0
  return {
    after: (delayMs, next) => {
      if (callback !== null) throw new Error('a second timer was set')
      callback = next
      delay = delayMs
      sets += 1
      return () => {
        callback = null
        delay = null
      }
    },
    delayMs: () => delay,
    sets: () => sets,
    fire: () => {
      const due = callback
      callback = null
      delay = null
      due?.()
    },
  }
}
