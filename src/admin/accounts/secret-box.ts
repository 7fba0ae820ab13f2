// Seals what the database may not hold in the clear: the secrets of one-time codes, which have to be read again. The key
// is a file beside the database, so a copy of the database alone opens nothing. AES-256-GCM (NIST SP 800-38D).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The sealed text was made with another key or for someone else, or was altered since. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError'
  constructor(cause: unknown) {
    super('a sealed secret can not be opened', { cause })
  }
}

export interface SecretBox {
  /** `context` names what it belongs to: it opens for that alone. */
  seal(secret: Uint8Array, context: string): Uint8Array
  /** @throws SealBrokenError */
  open(sealed: Uint8Array, context: string): Uint8Array
}

/** @param key 32 bytes. */
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

/**
 * A box whose key changes while it is in use.
 * @param readKeys asked for each secret: the first seals, and each of them may open
 */
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
