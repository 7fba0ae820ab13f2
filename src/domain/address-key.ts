// Addresses as bytes: 20 on EVM chains, 32 on Solana. Lists use these keys, so that no spelling of an address evades a
// list (threats row 11).
import bs58 from 'bs58'
import { BASE58_DIGITS } from '../lib/base58.ts'
import {
  type EvmAddress,
  parseEvmAddress,
  parseSolanaAddress,
  type SolanaAddress,
  type WalletAddress,
} from './address.ts'

/** Bytes of a key; also distinguishes the two families. */
export type KeyWidth = 20 | 32
export const EVM_KEY_WIDTH = 20
export const SOLANA_KEY_WIDTH = 32
export const KEY_WIDTHS: readonly KeyWidth[] = [EVM_KEY_WIDTH, SOLANA_KEY_WIDTH]

const EVM_WORDS = 5
const SOLANA_WORDS = 8
export const KEY_WORDS_MAX = SOLANA_WORDS

/** Value of each hex digit; 255 for other codes below 128. */
const HEX_DIGITS = new Uint8Array(128).fill(255)
for (const [value, character] of [...'0123456789abcdef'].entries()) HEX_DIGITS[character.charCodeAt(0)] = value

const readHexWords = (text: string, words: Uint32Array): boolean => {
  let seen = 0
  for (let word = 0, at = 2; word < EVM_WORDS; word++) {
    let value = 0
    for (const end = at + 8; at < end; at++) {
      const character = text.charCodeAt(at)
      const digit = character < 128 ? HEX_DIGITS[character]! : 255
      seen |= digit
      value = (value << 4) | digit
    }
    words[word] = value
  }
  return seen < 16
}

/** Base58 digits per group. Five stay below 2^30, so the product with a limb is exact as a double. */
const GROUP_DIGITS = 5
/** Number of groups: enough for 45 digits; 32 bytes have at most 44. */
const GROUPS = 9
const LIMB = 2 ** 16
const LIMBS = 16

/** Limbs of 58^(5 × group), least significant first, by group, starting with the last digits. */
const POWERS = new Float64Array(GROUPS * LIMBS)
for (let group = 0, power = 1n; group < GROUPS; group++, power *= 58n ** BigInt(GROUP_DIGITS)) {
  for (let limb = 0, rest = power; limb < LIMBS; limb++, rest >>= 16n) {
    POWERS[group * LIMBS + limb] = Number(rest & 0xffffn)
  }
}

/** First group with a power that reaches each limb. */
const FIRST_GROUPS = Uint8Array.from({ length: LIMBS }, (_, limb) =>
  Array.from({ length: GROUPS }, (__, group) => POWERS[group * LIMBS + limb]!).findIndex((power) => power > 0),
)

/** Groups of the current text. Shared because this code is synchronous. */
const values = new Float64Array(GROUPS)

/** Returns a limb before carries: the sum of nine products of at most 2^46, exact as a double. */
const sumOf = (limb: number, groups: number): number => {
  let sum = 0
  for (let group = FIRST_GROUPS[limb]!; group < groups; group++) sum += values[group]! * POWERS[group * LIMBS + limb]!
  return sum
}

/** Limbs are sums over groups of digits, and carries come last: three times as fast as single digits. */
const readBase58Words = (text: string, words: Uint32Array): boolean => {
  let seen = 0
  let groups = 0
  for (let end = text.length; end > 0; end -= GROUP_DIGITS) {
    let value = 0
    for (let at = Math.max(0, end - GROUP_DIGITS); at < end; at++) {
      const character = text.charCodeAt(at)
      const digit = character < 128 ? BASE58_DIGITS[character]! : 255
      seen |= digit
      value = value * 58 + digit
    }
    values[groups++] = value
  }
  // Digits are below 58, so only an invalid character sets this bit.
  if (seen >= 128) return false
  let carry = 0
  for (let word = SOLANA_WORDS - 1, limb = 0; word >= 0; word--, limb += 2) {
    const low = sumOf(limb, groups) + carry
    carry = Math.floor(low * (1 / LIMB))
    const half = low - carry * LIMB
    const high = sumOf(limb + 1, groups) + carry
    carry = Math.floor(high * (1 / LIMB))
    words[word] = ((high - carry * LIMB) << 16) | half
  }
  return carry === 0
}

/**
 * Reads a canonical address as big-endian 32-bit words, most significant first. Returns their number: 5 or 8, or 0 if
 * it isn't an address. @param words at least KEY_WORDS_MAX long
 */
export const readAddressWords = (canonicalAddress: string, words: Uint32Array): 0 | 5 | 8 => {
  // Base58 has no digit 0, so an EVM address can't be mistaken for a Solana address.
  if (canonicalAddress.charCodeAt(0) === 48) {
    return canonicalAddress.length === 42 && readHexWords(canonicalAddress, words) ? EVM_WORDS : 0
  }
  const { length } = canonicalAddress
  return length >= 32 && length <= 44 && readBase58Words(canonicalAddress, words) ? SOLANA_WORDS : 0
}

export const parseAnyAddress = (text: string): WalletAddress | null => parseEvmAddress(text) ?? parseSolanaAddress(text)

const scratch = new Uint32Array(KEY_WORDS_MAX)

/** Writes the key of a canonical address and returns its width. @throws RangeError for other text */
export const writeAddressKey = (canonicalAddress: string, into: Uint8Array, offset: number): KeyWidth => {
  const count = readAddressWords(canonicalAddress, scratch)
  if (count === 0) throw new RangeError('not a canonical address')
  for (let word = 0, at = offset; word < count; word++) {
    const value = scratch[word]!
    into[at++] = value >>> 24
    into[at++] = value >>> 16
    into[at++] = value >>> 8
    into[at++] = value
  }
  return count === EVM_WORDS ? EVM_KEY_WIDTH : SOLANA_KEY_WIDTH
}

/** Returns the key of a canonical address. @throws RangeError for other text */
export const addressKey = (canonicalAddress: string): Uint8Array => {
  const bytes = new Uint8Array(SOLANA_KEY_WIDTH)
  return bytes.slice(0, writeAddressKey(canonicalAddress, bytes, 0))
}

/** @throws RangeError unless the key has 20 or 32 bytes */
export const addressOfKey = (key: Uint8Array): WalletAddress => {
  if (key.length === EVM_KEY_WIDTH)
    return `0x${Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex')}` as EvmAddress
  if (key.length === SOLANA_KEY_WIDTH) return bs58.encode(key) as SolanaAddress
  throw new RangeError('a key must have 20 or 32 bytes')
}

export const hexOfKey = (key: Uint8Array): string => Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex')
