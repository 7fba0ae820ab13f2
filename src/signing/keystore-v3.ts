// Web3 Secret Storage, version 3: an encrypted secp256k1 key in the format of geth and most wallets. Source:
// ethereum.org, "Web3 secret storage definition".
import { createCipheriv, createDecipheriv, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { isHexBytes } from '../domain/address.ts'
import { KeystoreInvalidError, KeystoreLockedError } from './errors.ts'
import { deriveByPbkdf2, deriveByScrypt, SCRYPT_PARAMETERS } from './key-derivation.ts'
import type { KeystoreWorkFactor } from './types.ts'

/** Maximum length, far larger than any real keystore. A longer text is refused before parsing. */
const MAX_TEXT_LENGTH = 16 * 1024

export interface KeystoreV3Options {
  /** Private key of 32 bytes; must be valid. */
  readonly privateKey: Uint8Array
  /** The key's EVM address, in any case. */
  readonly address: string
  readonly passphrase: string
  readonly workFactor: KeystoreWorkFactor
}

const macOf = (derived: Uint8Array, ciphertext: Uint8Array): Uint8Array =>
  keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext]))

export const encryptKeystoreV3 = async (options: KeystoreV3Options): Promise<string> => {
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const { n, r, p } = SCRYPT_PARAMETERS[options.workFactor]
  const derived = await deriveByScrypt(options.passphrase, salt, { n, r, p }, 32)
  const ciphertext = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv).update(options.privateKey)
  const mac = macOf(derived, ciphertext)
  derived.fill(0)
  const keystore = {
    version: 3,
    id: randomUUID(),
    address: options.address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toHex() },
      ciphertext: ciphertext.toHex(),
      kdf: 'scrypt',
      kdfparams: { n, r, p, dklen: 32, salt: salt.toHex() },
      mac: mac.toHex(),
    },
  }
  return `${JSON.stringify(keystore, null, 2)}\n`
}

type JsonObject = Readonly<Record<string, unknown>>

const objectField = (holder: JsonObject, name: string): JsonObject => {
  const value = holder[name]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new KeystoreInvalidError(`the field ${name} must be an object`)
  }
  return value as JsonObject
}

const numberField = (holder: JsonObject, name: string): number => {
  const value = holder[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new KeystoreInvalidError(`the field ${name} must be a positive integer`)
  }
  return value
}

const bytesField = (holder: JsonObject, name: string, least: number, most: number): Uint8Array => {
  const value = holder[name]
  const byteCount = typeof value === 'string' && isHexBytes(`0x${value}`) ? value.length / 2 : -1
  if (byteCount < least || byteCount > most) {
    throw new KeystoreInvalidError(`the field ${name} must be hex of the expected length`)
  }
  return Uint8Array.fromHex(value as string)
}

const requireText = (holder: JsonObject, name: string, expected: string): void => {
  if (holder[name] !== expected) throw new KeystoreInvalidError(`the field ${name} must be ${expected}`)
}

const parseKeystore = (text: string): JsonObject => {
  if (text.length > MAX_TEXT_LENGTH) throw new KeystoreInvalidError('the file is too long for a keystore')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, so it is not passed on.
    throw new KeystoreInvalidError('the file is not valid JSON')
  }
  const keystore = objectField({ keystore: value }, 'keystore')
  if (keystore['version'] !== 3) throw new KeystoreInvalidError('the keystore version must be 3')
  return keystore
}

const deriveKey = (cryptography: JsonObject, passphrase: string): Promise<Uint8Array> => {
  const parameters = objectField(cryptography, 'kdfparams')
  const salt = bytesField(parameters, 'salt', 1, 128)
  const byteCount = numberField(parameters, 'dklen')
  if (byteCount < 32 || byteCount > 64) throw new KeystoreInvalidError('the field dklen must be 32 to 64')
  if (cryptography['kdf'] === 'scrypt') {
    const [n, r, p] = [numberField(parameters, 'n'), numberField(parameters, 'r'), numberField(parameters, 'p')]
    return deriveByScrypt(passphrase, salt, { n, r, p }, byteCount)
  }
  requireText(cryptography, 'kdf', 'pbkdf2')
  requireText(parameters, 'prf', 'hmac-sha256')
  return deriveByPbkdf2(passphrase, salt, numberField(parameters, 'c'), byteCount)
}

export interface OpenedKeystoreV3 {
  /** 32 bytes, which the caller must zero after use. Not yet verified to be a valid secp256k1 key. */
  readonly privateKey: Uint8Array
  /** Unverified, from the file: `0x` and 40 lowercase hexadecimal digits, or null. */
  readonly address: string | null
}

/** @throws KeystoreLockedError if the passphrase is wrong or the file was altered; KeystoreInvalidError */
export const decryptKeystoreV3 = async (text: string, passphrase: string): Promise<OpenedKeystoreV3> => {
  const keystore = parseKeystore(text)
  // Older MyEtherWallet files capitalize the name.
  const cryptography = objectField(keystore, keystore['crypto'] === undefined ? 'Crypto' : 'crypto')
  requireText(cryptography, 'cipher', 'aes-128-ctr')
  const iv = bytesField(objectField(cryptography, 'cipherparams'), 'iv', 16, 16)
  const ciphertext = bytesField(cryptography, 'ciphertext', 32, 32)
  const mac = bytesField(cryptography, 'mac', 32, 32)
  const claimed = keystore['address']
  if (claimed !== undefined && (typeof claimed !== 'string' || !/^(0x)?[0-9a-fA-F]{40}$/.test(claimed))) {
    throw new KeystoreInvalidError('the field address must be an address')
  }
  const derived = await deriveKey(cryptography, passphrase)
  try {
    if (!timingSafeEqual(macOf(derived, ciphertext), mac)) {
      throw new KeystoreLockedError('the passphrase is wrong, or the file was altered')
    }
    const privateKey = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv).update(ciphertext)
    return { privateKey, address: claimed === undefined ? null : `0x${claimed.slice(-40).toLowerCase()}` }
  } finally {
    derived.fill(0)
  }
}
