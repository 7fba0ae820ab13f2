// A manual clock, with timers and turns of the event loop.
import type { Clock, Timers } from '../../../src/lib/time.ts'

export const createManualTime = (startMs = 1_000_000) => {
  let nowMs = startMs
  let turn: (() => void)[] = []
  const timers = new Set<{ dueMs: number; callback: () => void }>()

  const nextDue = (untilMs: number) => {
    let next: { dueMs: number; callback: () => void } | null = null
    for (const timer of timers) if (timer.dueMs <= untilMs && (next === null || timer.dueMs < next.dueMs)) next = timer
    return next
  }

  const clock: Clock = { monotonicMs: () => nowMs, unixSeconds: () => Math.floor(nowMs / 1000) }
  const timersOfClock: Timers = {
    after: (delayMs, callback) => {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    endOfTurn: (callback) => void turn.push(callback),
  }
  return {
    clock,
    timers: timersOfClock,
    /** Moves the clock and calls each due timer, in order, at its time. */
    advance: (milliseconds: number): void => {
      const untilMs = nowMs + milliseconds
      for (let timer = nextDue(untilMs); timer !== null; timer = nextDue(untilMs)) {
        timers.delete(timer)
        nowMs = Math.max(nowMs, timer.dueMs)
        timer.callback()
      }
      nowMs = untilMs
    },
    /** Moves the clock without calling timers, like a busy main thread. */
    stall: (milliseconds: number): void => {
      nowMs += milliseconds
    },
    /** Runs the callbacks of this turn's end. Returns false if there were none. */
    endTurn: (): boolean => {
      const callbacks = turn
      turn = []
      for (const callback of callbacks) callback()
      return callbacks.length > 0
    },
    get pendingTimers() {
      return timers.size
    },
  }
}
