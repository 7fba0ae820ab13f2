// Permits one of many similar events per second and counts the rest, because repeated log messages hide all others.

export interface ThrottleOptions {
  readonly monotonicMs: () => number
  readonly quietMs?: number
  /** Maximum kinds in memory; the oldest is dropped. */
  readonly kindsMax?: number
}

/**
 * Returns the number of dropped events of the kind since the last reported event; null if this event is dropped too.
 */
export type Throttle = (kind: string) => number | null

export const createThrottle = ({ monotonicMs, quietMs = 1_000, kindsMax = 64 }: ThrottleOptions): Throttle => {
  const kinds = new Map<string, { readonly saidMs: number; held: number }>()
  return (kind) => {
    const known = kinds.get(kind)
    const nowMs = monotonicMs()
    if (known !== undefined && nowMs - known.saidMs < quietMs) {
      known.held += 1
      return null
    }
    kinds.delete(kind)
    const [oldest] = kinds.keys()
    if (kinds.size >= kindsMax && oldest !== undefined) kinds.delete(oldest)
    kinds.set(kind, { saidMs: nowMs, held: 0 })
    return known?.held ?? 0
  }
}

/** Like Throttle, but for lines of one kind. */
type LineLimit = () => number | null

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
