// The texts of an attestation as the bytes that Solana programs read, each checked once.
import { ArgumentInvalidError } from './errors.ts'
import { UUID_FORM } from './json-fields.ts'

/** The 16 bytes of a UUID's text. @throws ArgumentInvalidError */
export const uuidBytes = (argument: string, text: string): Uint8Array => {
  if (!UUID_FORM.test(text)) throw new ArgumentInvalidError(argument, 'must be a UUID')
  return Buffer.from(text.replaceAll('-', ''), 'hex')
}

/** `0x` hex, of `length` bytes where it is given. @throws ArgumentInvalidError */
export const hexBytes = (argument: string, text: string, length = (text.length - 2) / 2): Uint8Array => {
  // Decoding stops at the first thing that is not a pair of hex digits, so a full length means that all of it was hex.
  const bytes = Buffer.from(text.startsWith('0x') ? text.slice(2) : '', 'hex')
  if (!text.startsWith('0x') || bytes.length !== length || text.length !== 2 + 2 * length) {
    throw new ArgumentInvalidError(argument, 'must be 0x and hex of the right length')
  }
  return bytes
}

/** 8 bytes, little end first. @throws ArgumentInvalidError unless the value is a u64. */
export const u64Bytes = (argument: string, value: bigint): Uint8Array => {
  if (value < 0n || value >= 2n ** 64n) throw new ArgumentInvalidError(argument, 'must be from 0 to 2^64 - 1')
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** 8 bytes, little end first, of Unix seconds. @throws ArgumentInvalidError */
export const secondsBytes = (argument: string, seconds: number): Uint8Array => {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new ArgumentInvalidError(argument, 'must be Unix seconds')
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  return bytes
}
