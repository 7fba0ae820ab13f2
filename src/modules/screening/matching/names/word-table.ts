// Distinct words in flat arrays, for exact and approximate lookup, sorted by length.
import { bytesIn, type FlatArrays, openTexts, packTexts, wordsIn } from '../../../../lib/flat-arrays.ts'

// Edit distance with transposition of adjacent letters (optimal string alignment). Source: H. Hyyrö, "A bit-vector
// algorithm for computing Levenshtein and Damerau edit distances" (2003).

/** Maximum word length: the bits of a 32-bit number. */
const PATTERN_MAX = 32

const ALPHABET = 128
const positions = new Int32Array(ALPHABET)

/** Returns a function that is valid until the next call. @param pattern 1 to PATTERN_MAX ASCII bytes */
export const distanceFrom = (pattern: Uint8Array) => {
  const length = pattern.length
  positions.fill(0)
  for (let at = 0; at < length; at++) positions[pattern[at]! & 127]! |= 1 << at
  const last = 1 << (length - 1)

  /** Returns a number above `bound` if the distance exceeds it. */
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

const encoder = new TextEncoder()

const letterBit = (byte: number): number => (byte >= 97 ? byte - 97 : 26 + (byte % 6))
const lettersOf = (bytes: Uint8Array, start: number, end: number): number => {
  let mask = 0
  for (let at = start; at < end; at++) mask |= 1 << letterBit(bytes[at]!)
  return mask
}

const bitsIn = (mask: number): number => {
  let bits = mask - ((mask >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

const compareTexts = (left: string, right: string): number =>
  left.length - right.length || (left < right ? -1 : left > right ? 1 : 0)

/** @param texts distinct and ASCII */
export const buildWordTable = (
  texts: readonly string[],
): { readonly arrays: FlatArrays; readonly numbers: ReadonlyMap<string, number> } => {
  const sorted = [...texts].sort(compareTexts)
  const letters = new Uint32Array(sorted.length)
  /** First word of at least this length. */
  const starts = new Uint32Array(PATTERN_MAX + 2).fill(sorted.length)
  const packed = packTexts(sorted)
  const offsets = wordsIn(packed, 'offsets')
  for (const [word, text] of sorted.entries()) {
    letters[word] = lettersOf(bytesIn(packed, 'bytes'), offsets[word]!, offsets[word + 1]!) >>> 0
    for (let length = Math.min(text.length, PATTERN_MAX); length >= 0 && starts[length]! > word; length--) {
      starts[length] = word
    }
  }
  return { arrays: { ...packed, letters, starts }, numbers: new Map(sorted.map((text, word) => [text, word])) }
}

export const openWordTable = (arrays: FlatArrays) => {
  const [bytes, offsets] = [bytesIn(arrays, 'bytes'), wordsIn(arrays, 'offsets')]
  const [letters, starts] = [wordsIn(arrays, 'letters'), wordsIn(arrays, 'starts')]
  const textOf = openTexts(arrays)
  const size = offsets.length - 1

  return {
    size,
    textOf,
    distance: (word: number, text: string): number =>
      distanceFrom(encoder.encode(text))(bytes, offsets[word]!, offsets[word + 1]!, PATTERN_MAX),
    lengthOf: (word: number): number => offsets[word + 1]! - offsets[word]!,
    firstByte: (word: number): number => bytes[offsets[word]!] ?? 0,
    find: (text: string): number => {
      let low = 0
      let high = size - 1
      while (low <= high) {
        const middle = (low + high) >>> 1
        const order = compareTexts(textOf(middle), text)
        if (order === 0) return middle
        if (order < 0) low = middle + 1
        else high = middle - 1
      }
      return -1
    },
    /** Calls `found` for each word within the tolerance of both lengths. `length` is the longer length. */
    near: (
      text: string,
      toleranceOf: (length: number) => number,
      found: (word: number, distance: number, length: number) => void,
    ) => {
      const wanted = encoder.encode(text)
      const length = wanted.length
      if (length === 0 || length > PATTERN_MAX) return
      const tolerance = toleranceOf(length)
      const distanceTo = distanceFrom(wanted)
      const wantedLetters = lettersOf(wanted, 0, length)
      const end = starts[Math.min(PATTERN_MAX, length + tolerance) + 1]!
      for (let word = starts[Math.max(0, length - tolerance)]!; word < end; word++) {
        // One edit can remove one letter and add another.
        const has = letters[word]!
        if (bitsIn(has & ~wantedLetters) > tolerance || bitsIn(wantedLetters & ~has) > tolerance) continue
        const from = offsets[word]!
        const to = offsets[word + 1]!
        const bound = Math.min(tolerance, toleranceOf(to - from))
        const distance = distanceTo(bytes, from, to, bound)
        if (distance <= bound) found(word, distance, Math.max(length, to - from))
      }
    },
  }
}

export type WordTable = ReturnType<typeof openWordTable>
