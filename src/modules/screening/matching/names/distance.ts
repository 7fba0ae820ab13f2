// Edit distance with transposition of adjacent letters (optimal string alignment), computed bit-parallel. Source: H.
// Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003).

/** Maximum word length: the bits of one number. */
export const PATTERN_MAX = 32

const ALPHABET = 128
const positions = new Int32Array(ALPHABET)

/**
 * Returns a function that computes the distance to a pattern of 1 to PATTERN_MAX ASCII bytes. Valid until the next
 * call.
 */
export const distanceFrom = (pattern: Uint8Array) => {
  const length = pattern.length
  positions.fill(0)
  for (let at = 0; at < length; at++) positions[pattern[at]! & 127]! |= 1 << at
  const last = 1 << (length - 1)

  /** @returns the distance to the bytes from `start` to `end`; some number above `bound` if it exceeds `bound` */
  return (bytes: Uint8Array, start: number, end: number, bound: number): number => {
    let vertical = -1
    let verticalLess = 0
    let diagonal = 0
    let before = 0
    let distance = length
    for (let at = start; at < end; at++) {
      const here = positions[bytes[at]! & 127]!
      const swapped = ((~diagonal & here) << 1) & before
      diagonal = ((((here & vertical) + vertical) | 0) ^ vertical) | here | verticalLess | swapped
      let more = verticalLess | ~(diagonal | vertical)
      let less = diagonal & vertical
      if ((more & last) !== 0) distance += 1
      else if ((less & last) !== 0) distance -= 1
      // Each remaining letter can reduce the distance by one.
      if (distance - (end - at - 1) > bound) return distance
      more = (more << 1) | 1
      less <<= 1
      vertical = less | ~(diagonal | more)
      verticalLess = more & diagonal
      before = here
    }
    return distance
  }
}
