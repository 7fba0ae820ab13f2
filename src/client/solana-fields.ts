// Encodes attestation fields as bytes for Solana programs.
import { ArgumentInvalidError } from './errors.ts'
import { UUID_FORM } from './json-fields.ts'

/** Returns the 16 bytes of a UUID. @throws ArgumentInvalidError */
export const uuidBytes = (argument: string, text: string): Uint8Array => {
  if (!UUID_FORM.test(text)) throw new ArgumentInvalidError(argument, 'must be a UUID')
  return Buffer.from(text.replaceAll('-', ''), 'hex')
}

/** Returns the bytes of `0x` hex; exactly `length` bytes if it is given. @throws ArgumentInvalidError */
export const hexBytes = (argument: string, text: string, length = (text.length - 2) / 2): Uint8Array => {
  // Decoding stops at the first character that isn't hex, so the full length implies valid hex.
  const bytes = Buffer.from(text.startsWith('0x') ? text.slice(2) : '', 'hex')
  if (!text.startsWith('0x') || bytes.length !== length || text.length !== 2 + 2 * length) {
    throw new ArgumentInvalidError(argument, 'must be 0x and hex of the right length')
  }
  return bytes
}

/** Returns 8 bytes in little-endian order. @throws ArgumentInvalidError if the value isn't a u64 */
export const u64Bytes = (argument: string, value: bigint): Uint8Array => {
  if (value < 0n || value >= 2n ** 64n) throw new ArgumentInvalidError(argument, 'must be from 0 to 2^64 - 1')
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** Returns Unix seconds as 8 bytes in little-endian order. @throws ArgumentInvalidError */
export const secondsBytes = (argument: string, seconds: number): Uint8Array => {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new ArgumentInvalidError(argument, 'must be Unix seconds')
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  return bytes
}
