// Limits the lines per second and counts the rest, so that a flood of requests does not become a flood of log lines.

/** Returns how many lines were held back since the last one; null when this line is held back, too. */
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
