// Derives one key for each use of the account key, so that a value made for one use is invalid for another. All nodes have
// the same account key, hence the same derived keys. Source: RFC 5869 (HKDF).
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type KeyPurpose = 'sign-in counters' | 'known devices' | 'passkey challenges'

/** Reads the current keys, newest first. There are two while the account key is rotated. */
export type RotatingKeys = () => readonly [Uint8Array, ...Uint8Array[]]

/** @param accountKey 32 bytes */
const deriveKey = (accountKey: Uint8Array, purpose: KeyPurpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', accountKey, '', `countersign ${purpose}`, 32))

/** The current keys of one use: make values with the first, accept values of any. */
export const deriveKeys = (accountKeys: RotatingKeys, purpose: KeyPurpose): RotatingKeys => {
  return () => {
    const [newest, ...others] = accountKeys()
    return [deriveKey(newest, purpose), ...others.map((key) => deriveKey(key, purpose))]
  }
}

/**
 * Keeps the last keys that were read while reading fails, so that people can still sign in. Not for keys that seal secrets.
 * @param onError called for each failed read
 * @throws what the first read throws
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

/** HMAC-SHA-256 over each part with its length, so that no two lists of parts have the same MAC. */
export const macOf = (key: Uint8Array, parts: readonly string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest()

/** @param length how many bytes of the MAC the value carries; 32 unless stated */
export const isMacOf = (key: Uint8Array, parts: readonly string[], mac: Uint8Array, length = 32): boolean =>
  mac.length === length && timingSafeEqual(mac, macOf(key, parts).subarray(0, length))
