// Ticks at round numbers: 1, 2 or 5 times a power of ten apart.

export interface Axis {
  readonly minimum: number
  readonly maximum: number
  /** Includes minimum and maximum. */
  readonly ticks: readonly number[]
}

const STEPS = [1, 2, 5, 10] as const
/** Smallest range of an axis, as a fraction of the values' size. */
const LEAST_RANGE = 1e-3

const niceStep = (rough: number): number => {
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * (STEPS.find((step) => step * power >= rough * (1 - 1e-9)) ?? 10)
}

/** Returns an axis that contains all values, and 0 by default. @param whole whether ticks are whole numbers only */
export const axisOf = (
  values: readonly number[],
  tickCount: number,
  options: { whole?: boolean; fromZero?: boolean } = {},
): Axis => {
  const { whole = false, fromZero = true } = options
  const highest = Math.max(...values, fromZero ? 0 : Number.NEGATIVE_INFINITY)
  const lowest = Math.min(...values, fromZero ? 0 : Number.POSITIVE_INFINITY)
  // Nearly equal values get an axis around them; otherwise all ticks would show the same number.
  const size = Math.max(Math.abs(highest), Math.abs(lowest))
  const range = Math.max(highest - lowest, size * LEAST_RANGE) || 1
  const step = Math.max(niceStep(range / tickCount), whole ? 1 : 0)
  const first = Math.floor(lowest / step + 1e-9)
  const last = Math.max(first + 1, Math.ceil(highest / step - 1e-9))
  // Multiplied, so that errors don't add up, and rounded, so that 3 × 0.1 is 0.3.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)))
  return { minimum: ticks[0]!, maximum: ticks.at(-1)!, ticks }
}
