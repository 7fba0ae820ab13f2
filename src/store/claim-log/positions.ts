// Positions of claims in the log, by digest: about eight bytes per claim, far less than a database index. A position
// may be a false match; compare the entry.
import { readUint32 } from './entry.ts'

/** Bits of the digest stored in each slot, which make false matches rare. */
const FINGERPRINT_BITS = 11
const DISTANCE_BITS = 32 - FINGERPRINT_BITS
const DISTANCE_MASK = (1 << DISTANCE_BITS) - 1
/** Smallest size: one megabyte. Each generation adds one memory access to a search. */
const SMALLEST = 1 << 17
const LARGEST = 1 << (DISTANCE_BITS - 1)
const NONE: readonly number[] = []

/** Random per process, so that callers cannot choose colliding keys. */
const [K0, K1, K2, K3] = crypto.getRandomValues(new Uint32Array(4)) as unknown as [number, number, number, number]

/**
 * Returns the sum of products with odd secret factors, finalized as in MurmurHash3: the low bits depend on all input
 * bits.
 */
const slotOf = (digests: Uint8Array, offset: number): number => {
  let sum =
    Math.imul(readUint32(digests, offset), K0 | 1) +
    Math.imul(readUint32(digests, offset + 4), K1 | 1) +
    Math.imul(readUint32(digests, offset + 8), K2 | 1) +
    Math.imul(readUint32(digests, offset + 12), K3 | 1)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return sum ^ (sum >>> 16)
}

/** Claims of one period, dropped together when they expire. */
interface Generation {
  /** Distances count from the number before `first`, so that they are never 0. */
  readonly first: number
  /** Twice as many slots as claims. 0 if empty; otherwise fingerprint and distance. */
  readonly slots: Uint32Array
  readonly most: number
  count: number
  keepUntilSeconds: number
}

const generationOf = (first: number, most: number): Generation => ({
  first,
  slots: new Uint32Array(most * 2),
  most,
  count: 0,
  keepUntilSeconds: 0,
})

export const createPositions = () => {
  let generations: Generation[] = []

  const sizeOfNext = (): number => {
    const held = generations.reduce((sum, { count }) => sum + count, 0)
    let most = SMALLEST
    // Grows with the rate, so that there are few generations to search.
    while (most < LARGEST && most < held / 4) most *= 2
    return most
  }

  const generationFor = (number: number): Generation => {
    const newest = generations[0]
    if (newest !== undefined && newest.count < newest.most && number - newest.first < DISTANCE_MASK) return newest
    const next = generationOf(number, sizeOfNext())
    generations.unshift(next)
    return next
  }

  return {
    /** Numbers must increase. `replaces` is the distance to the superseded claim with the same digest, or 0. */
    add: (digests: Uint8Array, offset: number, number: number, keepUntilSeconds: number, replaces: number): void => {
      const generation = generationFor(number)
      const { slots, first } = generation
      const mask = slots.length - 1
      const fingerprint = readUint32(digests, offset + 4) & ~DISTANCE_MASK
      const distance = number - first + 1
      const replaced = replaces > 0 && replaces < distance ? fingerprint | (distance - replaces) : 0
      let at = slotOf(digests, offset) & mask
      while (slots[at] !== 0 && slots[at] !== replaced >>> 0) at = (at + 1) & mask
      if (slots[at] === 0) generation.count++
      slots[at] = fingerprint | distance
      if (keepUntilSeconds > generation.keepUntilSeconds) generation.keepUntilSeconds = keepUntilSeconds
    },

    find: (digest: Uint8Array): readonly number[] => {
      const start = slotOf(digest, 0)
      const fingerprint = readUint32(digest, 4) >>> DISTANCE_BITS
      let found: number[] | null = null
      for (const { slots, first } of generations) {
        const mask = slots.length - 1
        for (let at = start & mask; ; at = (at + 1) & mask) {
          const slot = slots[at]!
          if (slot === 0) break
          if (slot >>> DISTANCE_BITS !== fingerprint) continue
          found ??= []
          found.push(first + (slot & DISTANCE_MASK) - 1)
        }
      }
      return found === null ? NONE : found.sort((left, right) => right - left)
    },

    forget: (nowSeconds: number): void => {
      generations = generations.filter(({ keepUntilSeconds }) => keepUntilSeconds > nowSeconds)
    },
  }
}
