// Encrypts secrets in the database with AES-256-GCM (NIST SP 800-38D). The key is in a file.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { NamedError } from '../../lib/named-error.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

export class SealBrokenError extends NamedError {
  constructor(cause: unknown) {
    super('could not decrypt a stored secret', { cause })
  }
}

export interface SecretBox {
  /** @param context owner, for example `totp user_1`; required for opening */
  seal(secret: Uint8Array, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): Uint8Array
}

/** @param key 32 bytes */
export const createSecretBox = (key: Uint8Array): SecretBox => ({
  seal: (secret, context) => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(secret), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body])
  },
  open: (sealed, context) => {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    } catch (error) {
      throw new SealBrokenError(error)
    }
  },
})

/** Seals with the first key, and tries all keys to open. */
export const createRotatingBox = (readKeys: () => readonly [Uint8Array, ...Uint8Array[]]): SecretBox => ({
  seal: (secret, context) => createSecretBox(readKeys()[0]).seal(secret, context),
  open: (sealed, context) => {
    const [first, ...others] = readKeys()
    for (const key of others) {
      try {
        return createSecretBox(key).open(sealed, context)
      } catch (error) {
        if (!(error instanceof SealBrokenError)) throw error
      }
    }
    return createSecretBox(first).open(sealed, context)
  },
})
