// Fits a straight line through measurements over time, to determine growth and its error.

export interface Slope {
  /** Growth of y per unit of x. */
  readonly slope: number
  /** Standard error of the slope. */
  readonly error: number
}

/**
 * Least squares. Successive samples of a process's memory are correlated, so the plain standard error would be too
 * small. It is widened by the correlation of the residuals (effective sample size, Bayley and Hammersley, 1946). Null
 * for fewer than four points, or if all points have the same x.
 */
export const fitSlope = (points: readonly (readonly [x: number, y: number])[]): Slope | null => {
  const count = points.length
  if (count < 4) return null
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  if (spread === 0) return null
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread
  const residuals = points.map(([x, y]) => y - meanY - slope * (x - meanX))
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0)
  const neighbors = residuals.reduce((sum, residual, index) => sum + residual * (residuals[index - 1] ?? 0), 0)
  const correlation = squares === 0 ? 0 : Math.min(0.99, Math.max(0, neighbors / squares))
  const widening = Math.sqrt((1 + correlation) / (1 - correlation))
  return { slope, error: Math.sqrt(squares / (count - 2) / spread) * widening }
}
