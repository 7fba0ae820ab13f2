// A set of addresses in shared memory, filled once, then read by any number of threads. An index over the first bits of
// the sorted keys leaves a few candidates for a binary search.

import { NamedError } from '../lib/named-error.ts'
import {
  EVM_KEY_WIDTH,
  KEY_WIDTHS,
  KEY_WORDS_MAX,
  type KeyWidth,
  readAddressWords,
  SOLANA_KEY_WIDTH,
} from './address-key.ts'

/** The counts of EVM and Solana keys. Each family's index and keys follow. */
const HEADER_WORDS = 2
const WORD_BYTES = 4
/** Words per cache line. Key arrays are aligned, so that few keys span two lines. */
const LINE_WORDS = 16

interface Section {
  readonly width: KeyWidth
  readonly keyWords: number
  readonly count: number
  /** Leading bits of a key that select its index entry. */
  readonly bits: number
  /** Word offsets. */
  readonly index: number
  readonly keys: number
  readonly end: number
}

const layOut = (width: KeyWidth, count: number, start: number): Section => {
  const keyWords = width / WORD_BYTES
  // On average one or two keys per index entry, to limit cache misses.
  const bits = count < 2 ? 0 : Math.floor(Math.log2(count))
  if (count === 0) return { width, keyWords, count, bits, index: start, keys: start, end: start }
  const keys = Math.ceil((start + 2 ** bits + 1) / LINE_WORDS) * LINE_WORDS
  return { width, keyWords, count, bits, index: start, keys, end: keys + count * keyWords }
}

const layOutBoth = (evmCount: number, solanaCount: number): { evm: Section; solana: Section } => {
  const evm = layOut(EVM_KEY_WIDTH, evmCount, HEADER_WORDS)
  return { evm, solana: layOut(SOLANA_KEY_WIDTH, solanaCount, evm.end) }
}

const bucketOf = (firstWord: number, bits: number): number => (bits === 0 ? 0 : firstWord >>> (32 - bits))

/** Keys are out of order, repeated, too many or too few. */
export class AddressSetInvalidError extends NamedError {}

interface Filling {
  readonly section: Section
  filled: number
  /** Index entries below this number are written. */
  nextBucket: number
}

/** Fills a set in slices that don't block the thread. @throws AddressSetInvalidError from append and finish */
export const createAddressSetBuilder = (evmCount: number, solanaCount: number) => {
  const sections = layOutBoth(evmCount, solanaCount)
  const shared = new SharedArrayBuffer(sections.solana.end * WORD_BYTES)
  const words = new Uint32Array(shared)
  words[0] = evmCount
  words[1] = solanaCount
  const fillings: Readonly<Record<KeyWidth, Filling>> = {
    [EVM_KEY_WIDTH]: { section: sections.evm, filled: 0, nextBucket: 0 },
    [SOLANA_KEY_WIDTH]: { section: sections.solana, filled: 0, nextBucket: 0 },
  }

  const requireAscending = (at: number, keyWords: number): void => {
    for (let word = 0; word < keyWords; word++) {
      const difference = words[at + word]! - words[at - keyWords + word]!
      if (difference > 0) return
      if (difference < 0) break
    }
    throw new AddressSetInvalidError('the keys are not in ascending order')
  }

  return {
    /** Appends complete keys of one width in ascending order, after the keys of the previous call for this width. */
    append: (width: KeyWidth, keys: Uint8Array) => {
      const filling = fillings[width]
      const { section } = filling
      const added = keys.length / width
      if (!Number.isInteger(added) || filling.filled + added > section.count) {
        throw new AddressSetInvalidError('more keys than announced')
      }
      const start = section.keys + filling.filled * section.keyWords
      const target = Buffer.from(shared, start * WORD_BYTES, keys.length)
      target.set(keys)
      // Keys are big-endian; all machines that Bun supports are little-endian.
      target.swap32()
      for (let key = 0; key < added; key++) {
        const at = start + key * section.keyWords
        if (filling.filled > 0) requireAscending(at, section.keyWords)
        const bucket = bucketOf(words[at]!, section.bits)
        while (filling.nextBucket <= bucket) words[section.index + filling.nextBucket++] = filling.filled
        filling.filled++
      }
    },
    finish: (): SharedArrayBuffer => {
      for (const width of KEY_WIDTHS) {
        const filling = fillings[width]
        const { section } = filling
        if (filling.filled !== section.count) throw new AddressSetInvalidError('fewer keys than announced')
        if (section.count === 0) continue
        while (filling.nextBucket <= 2 ** section.bits) {
          words[section.index + filling.nextBucket++] = section.count
        }
      }
      return shared
    },
  }
}

export const EMPTY_ADDRESS_SET = createAddressSetBuilder(0, 0).finish()

export interface AddressSet {
  readonly evmCount: number
  readonly solanaCount: number
  /** Expects canonical text; returns false for text that isn't an address. */
  has(canonicalAddress: string): boolean
}

/** Last looked-up key, because a wallet is looked up in several lists. Shared because this code is synchronous. */
const key = new Uint32Array(KEY_WORDS_MAX)
let keyText = ''
let keyWords = 0

const readKey = (canonicalAddress: string): number => {
  if (canonicalAddress !== keyText) {
    keyWords = readAddressWords(canonicalAddress, key)
    keyText = canonicalAddress
  }
  return keyWords
}

const search = (words: Uint32Array, section: Section): boolean => {
  const first = key[0]!
  const bucket = bucketOf(first, section.bits)
  let low = words[section.index + bucket]!
  let high = words[section.index + bucket + 1]!
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = section.keys + middle * section.keyWords
    let word = 0
    let difference = 0
    do {
      difference = key[word]! - words[at + word]!
      word++
    } while (difference === 0 && word < section.keyWords)
    if (difference === 0) return true
    if (difference < 0) high = middle
    else low = middle + 1
  }
  return false
}

export const openAddressSet = (shared: SharedArrayBuffer): AddressSet => {
  const words = new Uint32Array(shared)
  const evmCount = words[0]!
  const solanaCount = words[1]!
  const { evm, solana } = layOutBoth(evmCount, solanaCount)
  return {
    evmCount,
    solanaCount,
    has: (canonicalAddress) => {
      const count = readKey(canonicalAddress)
      if (count === evm.keyWords) return evm.count > 0 && search(words, evm)
      return count !== 0 && solana.count > 0 && search(words, solana)
    },
  }
}
