// An Ed25519 key as encrypted PKCS#8 in PEM, readable by `openssl pkey`. An optional MAC precedes the block as
// explanatory text. Source: RFC 5958, RFC 8018 (PBES2), RFC 8410 (Ed25519), RFC 7468 section 5.2 (explanatory text).
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createDerReader,
  DER_NULL,
  DER_OBJECT_IDENTIFIER,
  DER_OCTET_STRING,
  DER_SEQUENCE,
  type DerReader,
  encodeDer,
  encodeDerInteger,
} from './der.ts'
import { ED25519_PKCS8_HEADER } from './ed25519.ts'
import { KeystoreInvalidError, KeystoreLockedError } from './errors.ts'
import { deriveByPbkdf2, PBKDF2_ITERATIONS } from './key-derivation.ts'
import type { KeystoreWorkFactor } from './types.ts'

const BEGIN = '-----BEGIN ENCRYPTED PRIVATE KEY-----'
const END = '-----END ENCRYPTED PRIVATE KEY-----'
const MAC_LINE = /^Countersign-MAC: ([0-9a-f]{64})$/
const MAX_TEXT_LENGTH = 4 * 1024

const objectIdentifier = (hex: string): Uint8Array => encodeDer(DER_OBJECT_IDENTIFIER, Uint8Array.fromHex(hex))
/** 1.2.840.113549.1.5.13 */
const PBES2 = objectIdentifier('2a864886f70d01050d')
/** 1.2.840.113549.1.5.12 */
const PBKDF2 = objectIdentifier('2a864886f70d01050c')
/** 1.2.840.113549.2.9 */
const HMAC_SHA256 = objectIdentifier('2a864886f70d0209')
/** 2.16.840.1.101.3.4.1.42 */
const AES_256_CBC = objectIdentifier('60864801650304012a')

export interface KeystorePkcs8Options {
  /** The 32-byte private key of RFC 8032. */
  readonly seed: Uint8Array
  readonly passphrase: string
  readonly workFactor: KeystoreWorkFactor
}

/**
 * Returns the HMAC-SHA-256 of the whole DER encoding, with a separate key. Detects a wrong passphrase before
 * decryption.
 */
const macOf = (derived: Uint8Array, der: Uint8Array): Buffer => {
  const key = createHmac('sha256', derived).update('countersign keystore mac').digest()
  const mac = createHmac('sha256', key).update(der).digest()
  key.fill(0)
  return mac
}

/** KeyObject.export uses too few PBKDF2 iterations (2,048) and blocks the thread. */
export const encryptKeystorePkcs8 = async (options: KeystorePkcs8Options): Promise<string> => {
  const salt = randomBytes(16)
  const iv = randomBytes(16)
  const iterations = PBKDF2_ITERATIONS[options.workFactor]
  const derived = await deriveByPbkdf2(options.passphrase, salt, iterations, 32)
  const cipher = createCipheriv('aes-256-cbc', derived, iv)
  const encrypted = Buffer.concat([cipher.update(ED25519_PKCS8_HEADER), cipher.update(options.seed), cipher.final()])
  const prf = encodeDer(DER_SEQUENCE, HMAC_SHA256, encodeDer(DER_NULL))
  const derivation = encodeDer(DER_SEQUENCE, encodeDer(DER_OCTET_STRING, salt), encodeDerInteger(iterations), prf)
  const parameters = encodeDer(
    DER_SEQUENCE,
    encodeDer(DER_SEQUENCE, PBKDF2, derivation),
    encodeDer(DER_SEQUENCE, AES_256_CBC, encodeDer(DER_OCTET_STRING, iv)),
  )
  const algorithm = encodeDer(DER_SEQUENCE, PBES2, parameters)
  const der = encodeDer(DER_SEQUENCE, algorithm, encodeDer(DER_OCTET_STRING, encrypted))
  const mac = macOf(derived, der).toString('hex')
  derived.fill(0)
  const lines = der.toBase64().match(/.{1,64}/g) ?? []
  return `${[`Countersign-MAC: ${mac}`, BEGIN, ...lines, END].join('\n')}\n`
}

const parsePem = (text: string): { readonly der: Uint8Array; readonly mac: Uint8Array | null } => {
  if (text.length > MAX_TEXT_LENGTH) throw new KeystoreInvalidError('the file is too long for an encrypted Ed25519 key')
  const lines = text.trim().split(/\r?\n/)
  const mac = MAC_LINE.exec(lines[0] ?? '')?.[1] ?? null
  if (mac !== null) lines.shift()
  if (lines[0] !== BEGIN || lines.at(-1) !== END) {
    throw new KeystoreInvalidError('the file must contain exactly one PEM block, ENCRYPTED PRIVATE KEY')
  }
  try {
    return {
      der: Uint8Array.fromBase64(lines.slice(1, -1).join('')),
      mac: mac === null ? null : Uint8Array.fromHex(mac),
    }
  } catch {
    throw new KeystoreInvalidError('invalid base64')
  }
}

const expectIdentifier = (reader: DerReader, expected: Uint8Array, what: string): void => {
  const contents = reader.read(DER_OBJECT_IDENTIFIER)
  if (Buffer.compare(contents, expected.subarray(2)) !== 0)
    throw new KeystoreInvalidError(`the key is not encrypted with ${what}`)
}

const parseEncryptedKey = (bytes: Uint8Array) => {
  const file = createDerReader(bytes)
  const outer = file.enter()
  file.finish()
  const algorithm = outer.enter()
  expectIdentifier(algorithm, PBES2, 'PBES2')
  const parameters = algorithm.enter()
  const derivation = parameters.enter()
  expectIdentifier(derivation, PBKDF2, 'PBKDF2')
  const derivationParameters = derivation.enter()
  const salt = derivationParameters.read(DER_OCTET_STRING)
  const iterations = derivationParameters.readInteger()
  expectIdentifier(derivationParameters.enter(), HMAC_SHA256, 'HMAC-SHA-256')
  const cipher = parameters.enter()
  expectIdentifier(cipher, AES_256_CBC, 'AES-256-CBC')
  const iv = cipher.read(DER_OCTET_STRING)
  const encrypted = outer.read(DER_OCTET_STRING)
  outer.finish()
  if (iv.length !== 16 || encrypted.length === 0 || encrypted.length % 16 !== 0) {
    throw new KeystoreInvalidError('the encrypted part has an invalid length')
  }
  return { salt, iterations, iv, encrypted }
}

const decryptCbc = (key: Uint8Array, iv: Uint8Array, encrypted: Uint8Array): Buffer | null => {
  const decipher = createDecipheriv('aes-256-cbc', key, iv)
  const head = decipher.update(encrypted)
  try {
    return Buffer.concat([head, decipher.final()])
  } catch {
    return null
  } finally {
    head.fill(0)
  }
}

/** Returns true if the bytes are exactly one DER sequence, like every PrivateKeyInfo. */
const isSequence = (bytes: Uint8Array): boolean => {
  try {
    const reader = createDerReader(bytes)
    reader.enter()
    reader.finish()
    return true
  } catch {
    return false
  }
}

/**
 * Returns the 32-byte seed, which the caller must zero. Without a MAC, some alterations are not detected: compare the
 * public key.
 * @throws KeystoreLockedError if the passphrase is wrong or the file was altered; KeystoreInvalidError if it is another
 * kind of file or key, or exceeds the work limit
 */
export const decryptKeystorePkcs8 = async (text: string, passphrase: string): Promise<Uint8Array> => {
  const { der, mac } = parsePem(text)
  const { salt, iterations, iv, encrypted } = parseEncryptedKey(der)
  const derived = await deriveByPbkdf2(passphrase, salt, iterations, 32)
  const isAuthentic = mac === null || timingSafeEqual(macOf(derived, der), mac)
  const decrypted = isAuthentic ? decryptCbc(derived, iv, encrypted) : null
  derived.fill(0)
  try {
    // Decryption with a wrong key yields bad padding or, in 1 of 256 cases, random bytes.
    if (decrypted === null || !isSequence(decrypted)) {
      throw new KeystoreLockedError('the passphrase is wrong, or the file was altered')
    }
    if (decrypted.length !== 48 || Buffer.compare(decrypted.subarray(0, 16), ED25519_PKCS8_HEADER) !== 0) {
      throw new KeystoreInvalidError('the file does not contain an Ed25519 key')
    }
    return Uint8Array.from(decrypted.subarray(16))
  } finally {
    decrypted?.fill(0)
  }
}

export const hasKeystoreMac = (text: string): boolean => MAC_LINE.test(text.split(/\r?\n/, 1)[0] ?? '')
