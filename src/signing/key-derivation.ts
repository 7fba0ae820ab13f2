// Derives keys on Bun's thread pool, with limited work, because keystores are untrusted. Source: RFC 7914 (scrypt), RFC
// 8018 (PBKDF2), OWASP Password Storage Cheat Sheet (iterations).
import { pbkdf2, scrypt } from 'node:crypto'
import { scryptAsync } from '@noble/hashes/scrypt.js'
import { KeystoreInvalidError } from './errors.ts'
import type { KeystoreWorkFactor } from './types.ts'

export interface ScryptParameters {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** Parameters for new keystores. `standard` takes 256 MiB and about one second, `light` takes 4 MiB. */
export const SCRYPT_PARAMETERS: Readonly<Record<KeystoreWorkFactor, ScryptParameters>> = {
  standard: { n: 262_144, r: 8, p: 1 },
  light: { n: 4_096, r: 8, p: 6 },
}

export const PBKDF2_ITERATIONS: Readonly<Record<KeystoreWorkFactor, number>> = { standard: 600_000, light: 10_000 }

/** Maximum memory: twice the memory of `standard`. */
const MAX_SCRYPT_BYTES = 512 * 1024 * 1024
/** Maximum work: eight times the work of `standard`. */
const MAX_SCRYPT_WORK = 2 ** 24
const MAX_PBKDF2_ITERATIONS = 10_000_000

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value > 0

/** @throws KeystoreInvalidError if the parameters are invalid or exceed the limits of memory or work */
export const deriveByScrypt = async (
  passphrase: string,
  salt: Uint8Array,
  { n, r, p }: ScryptParameters,
  byteCount: number,
): Promise<Uint8Array> => {
  const possible = isPositiveInteger(n) && isPositiveInteger(r) && isPositiveInteger(p) && n > 1
  if (!possible || !Number.isInteger(Math.log2(n))) throw new KeystoreInvalidError('invalid scrypt parameters')
  const memory = 128 * r * (n + p + 2)
  if (memory > MAX_SCRYPT_BYTES || n * r * p > MAX_SCRYPT_WORK) {
    throw new KeystoreInvalidError('the scrypt parameters exceed the memory or work limit')
  }
  // The native function enforces RFC 7914's limit of n below 2^(16 r). Keystores with a larger n exist; for these,
  // noble derives the key in slices on the calling thread.
  if (Math.log2(n) >= 16 * r) return scryptAsync(passphrase, salt, { N: n, r, p, dkLen: byteCount })
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, byteCount, { N: n, r, p, maxmem: MAX_SCRYPT_BYTES + 1024 }, (error, key) => {
      if (error) reject(new KeystoreInvalidError('invalid scrypt parameters'))
      else resolve(key)
    })
  })
}

/** @throws KeystoreInvalidError if the number of iterations is not between 1 and 10 million */
export const deriveByPbkdf2 = async (
  passphrase: string,
  salt: Uint8Array,
  iterations: number,
  byteCount: number,
): Promise<Uint8Array> => {
  if (!isPositiveInteger(iterations) || iterations > MAX_PBKDF2_ITERATIONS) {
    throw new KeystoreInvalidError('the number of PBKDF2 iterations is invalid or exceeds the limit')
  }
  return new Promise((resolve, reject) => {
    pbkdf2(passphrase, salt, iterations, byteCount, 'sha256', (error, key) => {
      if (error) reject(new KeystoreInvalidError('invalid PBKDF2 parameters'))
      else resolve(key)
    })
  })
}
