// Derives a separate key for each use of the account key: HKDF (RFC 5869).
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type KeyPurpose = 'sign-in counters' | 'known devices' | 'passkey challenges'

/** Returns the keys, newest first; two during a rotation of the account key. */
export type RotatingKeys = () => readonly [Uint8Array, ...Uint8Array[]]

const deriveKey = (accountKey: Uint8Array, purpose: KeyPurpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', accountKey, '', `countersign ${purpose}`, 32))

/** Create values with the first key, and accept values created with any of the keys. */
export const deriveKeys = (accountKeys: RotatingKeys, purpose: KeyPurpose): RotatingKeys => {
  return () => {
    const [newest, ...others] = accountKeys()
    return [deriveKey(newest, purpose), ...others.map((key) => deriveKey(key, purpose))]
  }
}

/** Keeps the last keys if reading fails, so that people can sign in. Not for keys that seal secrets. */
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

/** Encodes the parts as JSON, so that different lists never have the same input. */
export const macOf = (key: Uint8Array, parts: readonly string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest()

export const isMacOf = (key: Uint8Array, parts: readonly string[], mac: Uint8Array, length = 32): boolean =>
  mac.length === length && timingSafeEqual(mac, macOf(key, parts).subarray(0, length))
