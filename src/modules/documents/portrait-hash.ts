// Perceptual hash: signs of the lowest frequencies. Source: Zauner, Implementation and Benchmarking of Perceptual Image
// Hash Functions (2010), §3.2.1.

export const HASHED_SIDE = 32
const KEPT_SIDE = 8

/** Returns the discrete cosine transform of the rows. */
const lowFrequencies = (values: Float64Array, rows: number): Float64Array => {
  const kept = new Float64Array(rows * KEPT_SIDE)
  for (let row = 0; row < rows; row++) {
    for (let frequency = 0; frequency < KEPT_SIDE; frequency++) {
      let sum = 0
      for (let at = 0; at < HASHED_SIDE; at++) {
        sum += values[row * HASHED_SIDE + at]! * Math.cos(((2 * at + 1) * frequency * Math.PI) / (2 * HASHED_SIDE))
      }
      kept[row * KEPT_SIDE + frequency] = sum
    }
  }
  return kept
}

/** Returns a hash of 16 hex digits. @param pixels HASHED_SIDE rows of HASHED_SIDE bytes */
export const portraitHash = (pixels: Uint8Array): string => {
  const across = lowFrequencies(Float64Array.from(pixels), HASHED_SIDE)
  const turned = new Float64Array(KEPT_SIDE * HASHED_SIDE)
  for (let row = 0; row < HASHED_SIDE; row++) {
    for (let at = 0; at < KEPT_SIDE; at++) turned[at * HASHED_SIDE + row] = across[row * KEPT_SIDE + at]!
  }
  const frequencies = lowFrequencies(turned, KEPT_SIDE)
  // Excludes the first frequency, which is the mean brightness.
  const sorted = frequencies.slice(1).sort()
  const median = sorted[sorted.length >> 1] ?? 0
  let hash = 0n
  for (const value of frequencies) hash = (hash << 1n) | (value > median ? 1n : 0n)
  return hash.toString(16).padStart(16, '0')
}
