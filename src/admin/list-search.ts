// Searches a list for an address or a prefix. Lists are sorted by bytes, so a prefix corresponds to byte ranges.
import type { KeyWidth } from '../domain/address-key.ts'
import { FieldInvalidError } from '../domain/errors.ts'

export interface KeyRange {
  readonly width: KeyWidth
  readonly from: Uint8Array
  readonly to: Uint8Array
}

export interface AddressSearch {
  /** Ascending and disjoint. Can contain addresses that don't match. */
  readonly ranges: readonly KeyRange[]
  matches(address: string): boolean
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Possible lengths of 32 bytes in base58. */
const SOLANA_LENGTHS = { shortest: 32, longest: 44 } as const

const toKey = (value: bigint, width: KeyWidth): Uint8Array =>
  new Uint8Array(Buffer.from(value.toString(16).padStart(width * 2, '0'), 'hex'))

const hexRange = (digits: string): KeyRange => ({
  width: 20,
  from: toKey(BigInt(`0x${digits.padEnd(40, '0')}`), 20),
  to: toKey(BigInt(`0x${digits.padEnd(40, 'f')}`), 20),
})

/** Returns the numbers whose base58 digits start with `start`, per address length. Each leading 1 is a zero byte. */
const base58Ranges = (start: string): readonly KeyRange[] => {
  const value = [...start].reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n)
  const zeroBytes = Math.min(32, /^1*/.exec(start)?.[0].length ?? 0)
  const highest = (1n << BigInt(256 - 8 * zeroBytes)) - 1n
  const merged: { from: bigint; to: bigint }[] = []
  for (let length = Math.max(start.length, SOLANA_LENGTHS.shortest); length <= SOLANA_LENGTHS.longest; length++) {
    const scale = 58n ** BigInt(length - start.length)
    const from = value * scale
    const end = (value + 1n) * scale - 1n
    const to = end < highest ? end : highest
    if (from > to) continue
    const last = merged.at(-1)
    // Longer addresses are larger numbers, so the ranges are in ascending order.
    if (last !== undefined && from <= last.to + 1n) last.to = to > last.to ? to : last.to
    else merged.push({ from, to })
  }
  return merged.map(({ from, to }) => ({ width: 32, from: toKey(from, 32), to: toKey(to, 32) }))
}

const EVERYTHING: AddressSearch = {
  ranges: [hexRange(''), { width: 32, from: new Uint8Array(32), to: new Uint8Array(32).fill(255) }],
  matches: () => true,
}

/** @param text address or prefix; empty for all addresses @throws FieldInvalidError for the field `search` */
export const parseAddressSearch = (text: string): AddressSearch => {
  if (text === '') return EVERYTHING
  const lower = text.toLowerCase()
  // Base58 has no digit 0, so a leading 0 means an EVM address.
  if (/^0(x[0-9a-f]{0,40})?$/.test(lower)) return { ranges: [hexRange(lower.slice(2))], matches: () => true }
  if (text.length <= SOLANA_LENGTHS.longest && [...text].every((digit) => BASE58.includes(digit))) {
    return { ranges: base58Ranges(text), matches: (address) => address.startsWith(text) }
  }
  throw new FieldInvalidError('search', 'must be an EVM or Solana address, or a prefix of one')
}
