// A time that the processes of a deployment keep together without comparing wall clocks: each counts on by its own
// monotonic clock from the latest value that anyone wrote. It never goes back, and gains nothing on real time, however
// the machines' clocks differ or jump.
import type { Clock } from '../domain/time.ts'

export interface SharedTime {
  /** Milliseconds since nothing in particular; whole. */
  nowMs(): number
  /** Another process was here already. */
  see(ms: number): void
}

export const createSharedTime = ({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SharedTime => {
  let aheadMs = -monotonicMs()
  const nowMs = (): number => Math.floor(monotonicMs() + aheadMs)
  return {
    nowMs,
    see: (ms) => {
      aheadMs += Math.max(0, ms - nowMs())
    },
  }
}
