// Derives a separate key for each use of the account key. Source: RFC 5869 (HKDF).
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type KeyPurpose = 'sign-in counters' | 'known devices' | 'passkey challenges'

/** Current keys, newest first: two during a rotation of the account key. */
export type RotatingKeys = () => readonly [Uint8Array, ...Uint8Array[]]

/** @param accountKey 32 bytes */
const deriveKey = (accountKey: Uint8Array, purpose: KeyPurpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', accountKey, '', `countersign ${purpose}`, 32))

/** Keys of one use: create values with the first, and accept values of any. */
export const deriveKeys = (accountKeys: RotatingKeys, purpose: KeyPurpose): RotatingKeys => {
  return () => {
    const [newest, ...others] = accountKeys()
    return [deriveKey(newest, purpose), ...others.map((key) => deriveKey(key, purpose))]
  }
}

/**
 * Keeps the last keys while reading fails, so that people can still sign in. Not for keys that seal secrets. @throws
 * the error of the first read
 */
export const keepLastKeys = (read: RotatingKeys, onError: (error: unknown) => void): RotatingKeys => {
  let last = read()
  return () => {
    try {
      last = read()
    } catch (error) {
      onError(error)
    }
    return last
  }
}

/** HMAC-SHA-256 of the parts in JSON, so that different lists of parts never have the same input. */
export const macOf = (key: Uint8Array, parts: readonly string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest()

export const isMacOf = (key: Uint8Array, parts: readonly string[], mac: Uint8Array, length = 32): boolean =>
  mac.length === length && timingSafeEqual(mac, macOf(key, parts).subarray(0, length))
