// Notices that the wall clock was set ahead, by comparing it with the monotonic clock. For work that can't be undone, such
// as erasing what is past its time: a clock that is wrong for an hour must not end years of retention.
import { NamedError } from './named-error.ts'
import type { Clock } from './time.ts'

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
