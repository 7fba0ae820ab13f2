// A time that the processes of a deployment share without comparing wall clocks: each counts on with its own monotonic
// clock from the latest value that any process wrote. The shared time never goes back and never runs faster than real
// time, however the machines' clocks differ or jump.
import type { Clock } from '../lib/time.ts'

export interface SharedTime {
  /** Whole milliseconds since an arbitrary moment. */
  nowMs(): number
  /** Takes over the time of another process if it is later. */
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
