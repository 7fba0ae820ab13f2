// Where claims stand in the log, by their digests: some eight bytes a claim, kept in memory because a table's index
// would cost several times what the claim itself does. It only says where to look; the log says what is there.
import { readUint32 } from './entry.ts'

/** A digest decides a slot, and a part of it is kept there: so rarely is a wrong slot taken for a right one. */
const FINGERPRINT_BITS = 11
const DISTANCE_BITS = 32 - FINGERPRINT_BITS
const DISTANCE_MASK = (1 << DISTANCE_BITS) - 1
/** A megabyte: each generation is one more place in memory that a search waits for. */
const SMALLEST = 1 << 17
const LARGEST = 1 << (DISTANCE_BITS - 1)
const NONE: readonly number[] = []

/** Of this process: nobody outside can choose keys whose digests meet in one slot, and so make searches long. */
const [K0, K1, K2, K3] = crypto.getRandomValues(new Uint32Array(4)) as unknown as [number, number, number, number]

/** A sum of products with odd secret factors, mixed (the finalizer of MurmurHash3) so that its low bits depend on all. */
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

/** The claims of one stretch of time: forgotten together, so that no slot is ever emptied. */
interface Generation {
  /** A claim's distance is counted from the number before this one, so that it is never 0. */
  readonly first: number
  /** Twice as many as there can be claims. A slot: 0 when empty, or the fingerprint and then the distance. */
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
  /** The newest first. */
  let generations: Generation[] = []

  const sizeOfNext = (): number => {
    const held = generations.reduce((sum, { count }) => sum + count, 0)
    let most = SMALLEST
    // Few generations, whatever the rate: each is one more place to look.
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
    /**
     * Numbers must rise from call to call. `replaces` claims before this one stands the claim of the same digest that
     * counts no more; 0: none.
     */
    add: (digests: Uint8Array, offset: number, number: number, keepUntilSeconds: number, replaces: number): void => {
      const generation = generationFor(number)
      const { slots, first } = generation
      const mask = slots.length - 1
      const fingerprint = readUint32(digests, offset + 4) & ~DISTANCE_MASK
      const distance = number - first + 1
      const replaced = replaces > 0 && replaces < distance ? fingerprint | (distance - replaces) : 0
      let at = slotOf(digests, offset) & mask
      // A slot has no sign.
      while (slots[at] !== 0 && slots[at] !== replaced >>> 0) at = (at + 1) & mask
      if (slots[at] === 0) generation.count++
      slots[at] = fingerprint | distance
      if (keepUntilSeconds > generation.keepUntilSeconds) generation.keepUntilSeconds = keepUntilSeconds
    },

    /** Numbers of claims that may have this digest, the newest first. */
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

    /** Forgets what nobody asks for any more. */
    forget: (nowSeconds: number): void => {
      generations = generations.filter(({ keepUntilSeconds }) => keepUntilSeconds > nowSeconds)
    },
  }
}
