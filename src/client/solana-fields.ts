// Encodes base58 keys, derived accounts and attestation fields as bytes for Solana programs. Base58 is implemented
// here, so that attestations can be checked without a library.

import { PublicKey } from '@solana/web3.js'
import { ArgumentInvalidError } from './errors.ts'
import { UUID_FORM } from './json-fields.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BYTES = 32

/** @throws ArgumentInvalidError */
export const decodeKey = (argument: string, text: string): Uint8Array => {
  const fail = (): never => {
    throw new ArgumentInvalidError(argument, 'must be base58 of 32 bytes')
  }
  if (text.length < BYTES || text.length > 44) return fail()
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) return fail()
    value = value * 58n + BigInt(digit)
  }
  const hex = value === 0n ? '' : value.toString(16)
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`
  // Each leading 1 is a zero byte; any other encoding of zero bytes is invalid.
  const zeros = text.length - text.replace(/^1+/, '').length
  return zeros + digits.length / 2 === BYTES ? Uint8Array.from(Buffer.from(digits.padStart(64, '0'), 'hex')) : fail()
}

/** @throws ArgumentInvalidError */
export const publicKeyOf = (argument: string, text: string): PublicKey => new PublicKey(decodeKey(argument, text))

export const accountOf = (program: PublicKey, ...seeds: readonly (string | Uint8Array)[]): PublicKey => {
  const [address] = PublicKey.findProgramAddressSync(
    seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed)),
    program,
  )
  return address
}

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')

/** Returns the account in which the loader stores the upgrade authority of a program. */
export const programDataOf = (program: PublicKey): PublicKey => accountOf(UPGRADEABLE_LOADER, program.toBytes())

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
