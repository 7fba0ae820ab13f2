// Keys for the several uses of the account key, so that what was made for one use means nothing to another. The account
// key is the same on all nodes, so these are too. Source: RFC 5869 (HKDF).
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type KeyPurpose = 'sign-in counters' | 'known devices' | 'passkey challenges'

/** Keys as they are now, the newest first: two while the account key is rotated. */
export type RotatingKeys = () => readonly [Uint8Array, ...Uint8Array[]]

/** @param accountKey 32 bytes */
const deriveKey = (accountKey: Uint8Array, purpose: KeyPurpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', accountKey, '', `countersign ${purpose}`, 32))

/** The keys of one use, as they are now. Make with the first; accept what any of them made. */
export const deriveKeys = (accountKeys: RotatingKeys, purpose: KeyPurpose): RotatingKeys => {
  return () => {
    const [newest, ...others] = accountKeys()
    return [deriveKey(newest, purpose), ...others.map((key) => deriveKey(key, purpose))]
  }
}

/**
 * Keys that stay as they were last while they can't be read: what is derived from them seals nothing, so signing in goes on.
 * @param onError told of each failed reading
 * @throws what the first reading throws
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

/** HMAC-SHA-256 over parts; lengths are part of it, so that no two lists of parts are alike. */
export const macOf = (key: Uint8Array, parts: readonly string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest()

/** @param length bytes of the MAC that were given out: all 32 unless stated */
export const isMacOf = (key: Uint8Array, parts: readonly string[], mac: Uint8Array, length = 32): boolean =>
  mac.length === length && timingSafeEqual(mac, macOf(key, parts).subarray(0, length))
