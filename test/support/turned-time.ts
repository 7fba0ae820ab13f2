// A manual clock with timers. Work that a timer starts finishes before the time advances.
import type { Clock } from '../../src/lib/time.ts'

export interface TurnedTime extends Clock {
  after(delayMs: number, callback: () => void): () => void
  /** Advances the time in steps, and runs due timers. */
  advance(milliseconds: number): Promise<void>
  /** Advances the time without running timers, like a suspended process. */
  freeze(milliseconds: number): void
}

const START_SECONDS = 1_767_225_600
const STEP_MS = 10
/** Turns of the event loop in which one or two transactions finish. */
const TURNS = 20

export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export const createTurnedTime = (): TurnedTime => {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const runDue = (): boolean => {
    const due = [...timers].filter(({ atMs }) => atMs <= nowMs).sort((one, other) => one.atMs - other.atMs)
    for (const timer of due) {
      if (!timers.delete(timer)) continue
      timer.callback()
    }
    return due.length > 0
  }
  return {
    monotonicMs: () => nowMs,
    unixSeconds: () => START_SECONDS + Math.floor(nowMs / 1_000),
    after: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: async (milliseconds) => {
      for (const endMs = nowMs + milliseconds; nowMs < endMs; ) {
        nowMs = Math.min(endMs, nowMs + STEP_MS)
        if (runDue()) await settle()
      }
    },
    freeze: (milliseconds) => {
      nowMs += milliseconds
    },
  }
}
