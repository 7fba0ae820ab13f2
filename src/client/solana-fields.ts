// The texts of an attestation as the bytes that Solana programs read, each checked once.
import { PublicKey } from '@solana/web3.js'
import { ArgumentInvalidError } from './errors.ts'

const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** Base58 of 32 bytes. @throws ArgumentInvalidError */
export const publicKeyOf = (argument: string, text: string): PublicKey => {
  try {
    return new PublicKey(text)
  } catch {
    // The library's message would not name the argument.
    throw new ArgumentInvalidError(argument, 'must be base58 of 32 bytes')
  }
}

/** The 16 bytes of a UUID's text. @throws ArgumentInvalidError */
export const uuidBytes = (argument: string, text: string): Buffer => {
  if (!UUID.test(text)) throw new ArgumentInvalidError(argument, 'must be a UUID')
  return Buffer.from(text.replaceAll('-', ''), 'hex')
}

/** `0x` hex, of `length` bytes where it is given. @throws ArgumentInvalidError */
export const hexBytes = (argument: string, text: string, length = (text.length - 2) / 2): Buffer => {
  // Decoding stops at the first thing that is not a pair of hex digits, so a full length means that all of it was hex.
  const bytes = Buffer.from(text.startsWith('0x') ? text.slice(2) : '', 'hex')
  if (!text.startsWith('0x') || bytes.length !== length || text.length !== 2 + 2 * length) {
    throw new ArgumentInvalidError(argument, 'must be 0x and hex of the right length')
  }
  return bytes
}

/** 8 bytes, little end first. @throws ArgumentInvalidError unless the value is a u64. */
export const u64Bytes = (argument: string, value: bigint): Buffer => {
  if (value < 0n || value >= 2n ** 64n) throw new ArgumentInvalidError(argument, 'must be from 0 to 2^64 - 1')
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** 8 bytes, little end first, of Unix seconds. @throws ArgumentInvalidError */
export const secondsBytes = (argument: string, seconds: number): Buffer => {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new ArgumentInvalidError(argument, 'must be Unix seconds')
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  return bytes
}
