// Ed25519 with node:crypto (RFC 8032, PureEdDSA). Signatures are deterministic, so no random numbers are needed.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { SignerUnusableError } from './errors.ts'

export interface Ed25519Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** The 64-byte signature over the unhashed message. @throws SignerUnusableError after `erase` */
  sign(message: Uint8Array): Uint8Array
  /** Drops the reference to the key; the runtime decides when its memory is cleared. After this the signer refuses. */
  erase(): void
}

/**
 * The bytes of RFC 8410's PrivateKeyInfo before the seed: version 0, OID 1.3.101.112, an octet string in an octet
 * string.
 */
export const ED25519_PKCS8_HEADER = Uint8Array.fromHex('302e020100300506032b657004220420')

/**
 * Creates a signer for a 32-byte seed (the private key of RFC 8032). Keeps no reference to `seed`.
 * @throws SignerUnusableError when the seed is not 32 bytes
 */
export const createEd25519Signer = (seed: Uint8Array): Ed25519Signer => {
  if (seed.length !== 32) throw new SignerUnusableError('an Ed25519 seed is not 32 bytes')
  const encoded = Buffer.alloc(48)
  encoded.set(ED25519_PKCS8_HEADER)
  encoded.set(seed, 16)
  let key: KeyObject | null = createPrivateKey({ key: encoded, format: 'der', type: 'pkcs8' })
  encoded.fill(0)
  // SubjectPublicKeyInfo ends with the 32 bytes of the key.
  const publicKey = Uint8Array.from(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32))
  return {
    publicKey,
    sign: (message) => {
      if (!key) throw new SignerUnusableError('the key was erased')
      return sign(null, message, key)
    },
    erase: () => {
      key = null
    },
  }
}
