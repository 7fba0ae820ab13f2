// Ed25519 (RFC 8032, PureEdDSA) with node:crypto, or with @noble/ed25519 if the runtime lacks it.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { SignerUnusableError } from './errors.ts'

/** RFC 8410's PrivateKeyInfo before the seed: version 0, OID 1.3.101.112, an octet string in an octet string. */
export const ED25519_PKCS8_HEADER = Uint8Array.fromHex('302e020100300506032b657004220420')

interface OpenKey {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

const openNative = (seed: Uint8Array): OpenKey => {
  const encoded = Buffer.alloc(48)
  encoded.set(ED25519_PKCS8_HEADER)
  encoded.set(seed, 16)
  const key = createPrivateKey({ key: encoded, format: 'der', type: 'pkcs8' })
  encoded.fill(0)
  // SubjectPublicKeyInfo ends with the 32 bytes of the key.
  const publicKey = Uint8Array.from(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32))
  return { publicKey, sign: (message) => sign(null, message, key) }
}

/** Opens a key in runtimes without Ed25519 in node:crypto; about a hundred times slower. */
export const openNoble = (seed: Uint8Array): OpenKey => {
  // Loaded only here, because it takes five megabytes per thread.
  const noble = require('@noble/ed25519') as typeof import('@noble/ed25519')
  noble.hashes.sha512 = (require('@noble/hashes/sha2.js') as typeof import('@noble/hashes/sha2.js')).sha512
  const kept = Uint8Array.from(seed)
  return { publicKey: noble.getPublicKey(kept), sign: (message) => noble.sign(message, kept) }
}

export const chooseEd25519 = (native: typeof openNative = openNative): typeof openNative => {
  try {
    native(new Uint8Array(32))
    return native
  } catch {
    return openNoble
  }
}

let chosen: typeof openNative | undefined

/** Keeps no reference to `seed`. @throws SignerUnusableError if the seed is not 32 bytes */
export const createEd25519Signer = (seed: Uint8Array) => {
  if (seed.length !== 32) throw new SignerUnusableError('an Ed25519 seed must be 32 bytes')
  chosen ??= chooseEd25519()
  let key: OpenKey | null = chosen(seed)
  return {
    /** Public key of 32 bytes. */
    publicKey: key.publicKey,
    /** Returns the 64-byte signature over the unhashed message. @throws SignerUnusableError after `erase` */
    sign: (message: Uint8Array): Uint8Array => {
      if (!key) throw new SignerUnusableError('the key was erased')
      return key.sign(message)
    },
    /** Drops the reference to the key; the runtime decides when its memory is cleared. `sign` throws afterwards. */
    erase: () => {
      key = null
    },
  }
}
