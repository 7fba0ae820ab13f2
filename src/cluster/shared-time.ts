// Time that the processes of a deployment share without comparing wall clocks. Each advances the latest value written
// by any process with its own monotonic clock. Shared time never goes back and never runs faster than real time.
import type { Clock } from '../lib/time.ts'

export interface SharedTime {
  /** Whole milliseconds since an arbitrary moment. */
  nowMs(): number
  /** Adopts the time of another process if it is later. */
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
