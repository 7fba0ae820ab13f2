// Encodes fields for Solana programs. Functions throw ArgumentInvalidError.
import { ArgumentInvalidError } from './errors.ts'
import { UUID_FORM } from './json-fields.ts'

export const uuidBytes = (argument: string, text: string): Uint8Array => {
  if (!UUID_FORM.test(text)) throw new ArgumentInvalidError(argument, 'must be a UUID')
  return Buffer.from(text.replaceAll('-', ''), 'hex')
}

/** @param length exact number of bytes; any if omitted */
export const hexBytes = (argument: string, text: string, length = (text.length - 2) / 2): Uint8Array => {
  // Decoding stops at the first non-hex character, so the full length implies valid hex.
  const bytes = Buffer.from(text.startsWith('0x') ? text.slice(2) : '', 'hex')
  if (!text.startsWith('0x') || bytes.length !== length || text.length !== 2 + 2 * length) {
    throw new ArgumentInvalidError(argument, 'must be 0x hex of the required length')
  }
  return bytes
}

/** Encodes a number as eight bytes, little-endian. */
export const u64Bytes = (argument: string, value: bigint): Uint8Array => {
  if (value < 0n || value >= 2n ** 64n) throw new ArgumentInvalidError(argument, 'must be from 0 to 2^64 - 1')
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** Encodes Unix seconds as eight bytes, little-endian. */
export const secondsBytes = (argument: string, seconds: number): Uint8Array => {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new ArgumentInvalidError(argument, 'must be Unix seconds')
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  return bytes
}
