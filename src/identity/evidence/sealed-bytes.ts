// Encrypts short secrets with AES-256-GCM. `context` is authenticated, so a secret sealed for one purpose or owner
// doesn't open for another. Source: NIST SP 800-38D §8.2.2.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { EvidenceUnreadableError } from './errors.ts'

export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export const newKey = (): Uint8Array => new Uint8Array(randomBytes(KEY_BYTES))

/** One key per purpose (RFC 5869). */
export const deriveKey = (key: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', key, '', purpose, KEY_BYTES))

/** Returns nonce (12) ‖ ciphertext ‖ tag (16). */
export const sealBytes = (key: Uint8Array, plaintext: Uint8Array, context: string): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  return new Uint8Array(Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]))
}

/** @throws EvidenceUnreadableError for another key or context, or altered bytes */
export const openBytes = (key: Uint8Array, sealed: Uint8Array, context: string): Uint8Array => {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new EvidenceUnreadableError()
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES))
    return new Uint8Array(Buffer.concat([plaintext, decipher.final()]))
  } catch (error) {
    throw new EvidenceUnreadableError(error)
  }
}
