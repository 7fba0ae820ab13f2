// Lets one of many similar events through per second and counts the rest: a message that is logged ten thousand times
// hides all others.

export interface ThrottleOptions {
  readonly monotonicMs: () => number
  /** How long after one event of a kind the next may follow. */
  readonly quietMs?: number
  /** Maximum number of kinds remembered; after that, the oldest is forgotten. */
  readonly kindsMax?: number
}

/** Returns how many of the kind were held back since the last one; null when this one is held back, too. */
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
