// Limits log lines per second and counts the rest, so that a flood of requests doesn't become a flood of log lines.

/** Returns the number of lines dropped since the last one; null if this line is dropped too. */
export type LineLimit = () => number | null

const PER_SECOND = 50

export const createLineLimit = (monotonicMs: () => number): LineLimit => {
  let secondStartedMs = Number.NEGATIVE_INFINITY
  let [said, held] = [0, 0]
  return () => {
    const nowMs = monotonicMs()
    if (nowMs - secondStartedMs >= 1_000) {
      secondStartedMs = nowMs
      said = 0
    }
    if (said >= PER_SECOND) {
      held += 1
      return null
    }
    said += 1
    const unsaid = held
    held = 0
    return unsaid
  }
}
