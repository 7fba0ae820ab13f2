// Calls libsecp256k1 through bun:ffi (secp256k1.h, secp256k1_recovery.h). It signs in constant time, with RFC 6979
// nonces and low s. Terminating a worker during a call does not harm the process.
import { dlopen } from 'bun:ffi'
import { randomBytes } from 'node:crypto'
import { SignerUnusableError } from './errors.ts'
import type { Secp256k1Backend, Secp256k1BackendName } from './types.ts'

/** Versions before 0.2 need both flags, and later versions accept either flag for any context. */
const CONTEXT_SIGN_AND_VERIFY = 0x301
const UNCOMPRESSED = 0x002
const OPAQUE_SIGNATURE_BYTES = 65

const CORE_SYMBOLS = {
  secp256k1_context_create: { args: ['u32'], returns: 'ptr' },
  secp256k1_context_randomize: { args: ['ptr', 'ptr'], returns: 'i32' },
  secp256k1_ec_seckey_verify: { args: ['ptr', 'ptr'], returns: 'i32' },
  secp256k1_ec_pubkey_create: { args: ['ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_ec_pubkey_serialize: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'u32'], returns: 'i32' },
} as const

const SYMBOLS = {
  ...CORE_SYMBOLS,
  secp256k1_ecdsa_sign_recoverable: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_ecdsa_recoverable_signature_serialize_compact: { args: ['ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_ecdsa_recoverable_signature_parse_compact: { args: ['ptr', 'ptr', 'ptr', 'i32'], returns: 'i32' },
  secp256k1_ecdsa_recover: { args: ['ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
} as const

const open = (path: string) => dlopen(path, SYMBOLS).symbols

const refusalReason = (path: string): string => {
  try {
    dlopen(path, CORE_SYMBOLS).close()
    return `${path} was built without the recovery module`
  } catch {
    return `${path} is not a usable libsecp256k1`
  }
}

const openOrRefuse = (path: string): ReturnType<typeof open> => {
  try {
    return open(path)
  } catch {
    throw new SignerUnusableError(refusalReason(path))
  }
}

export interface FfiBackendOptions {
  readonly name: Secp256k1BackendName
  readonly description: string
  /** Absolute: for a bare name, Bun also searches the working directory, so a planted file would receive the keys. */
  readonly path: string
}

/** @throws SignerUnusableError if the file is not libsecp256k1 or lacks the recovery module */
export const createFfiBackend = ({ name, description, path }: FfiBackendOptions): Secp256k1Backend => {
  const library = openOrRefuse(path)
  const context = library.secp256k1_context_create(CONTEXT_SIGN_AND_VERIFY)
  // Blinds the secret scalar in every multiplication, as protection against power and timing side channels.
  const seed = randomBytes(32)
  if (!context || library.secp256k1_context_randomize(context, seed) !== 1) {
    throw new SignerUnusableError(`${path} could not create a context`)
  }
  seed.fill(0)

  const serialize = (opaque: Uint8Array): Uint8Array | null => {
    const publicKey = new Uint8Array(65)
    const length = new BigUint64Array([65n])
    const made = library.secp256k1_ec_pubkey_serialize(context, publicKey, length, opaque, UNCOMPRESSED)
    return made === 1 ? publicKey : null
  }

  const publicKeyOf = (key: Uint8Array): Uint8Array => {
    const opaque = new Uint8Array(64)
    const made =
      library.secp256k1_ec_seckey_verify(context, key) === 1 &&
      library.secp256k1_ec_pubkey_create(context, opaque, key) === 1
    const publicKey = made ? serialize(opaque) : null
    if (publicKey === null) throw new SignerUnusableError('invalid secp256k1 private key')
    return publicKey
  }

  return {
    name,
    description,
    createSigner: (privateKey) => {
      // The library cannot check buffer lengths, so every pointer below refers to a buffer with a verified length.
      if (privateKey.length !== 32) throw new SignerUnusableError('a private key must be 32 bytes')
      const publicKey = publicKeyOf(privateKey)
      const key = Uint8Array.from(privateKey)
      const opaque = new Uint8Array(OPAQUE_SIGNATURE_BYTES)
      const recoveryId = new Int32Array(1)
      return {
        publicKey,
        sign: (digest, signature) => {
          if (digest.length !== 32 || signature.length !== 65) {
            throw new SignerUnusableError('a digest must be 32 bytes and a signature 65 bytes')
          }
          if (library.secp256k1_ecdsa_sign_recoverable(context, opaque, digest, key, null, null) !== 1) {
            throw new SignerUnusableError('libsecp256k1 could not sign')
          }
          library.secp256k1_ecdsa_recoverable_signature_serialize_compact(context, signature, recoveryId, opaque)
          signature[64] = 27 + recoveryId[0]!
        },
        erase: () => void key.fill(0),
      }
    },
    recover: (digest, signature) => {
      const recoveryId = (signature[64] ?? 0) - 27
      if (digest.length !== 32 || signature.length !== 65 || recoveryId < 0 || recoveryId > 3) return null
      const opaque = new Uint8Array(OPAQUE_SIGNATURE_BYTES)
      const publicKey = new Uint8Array(64)
      const made =
        library.secp256k1_ecdsa_recoverable_signature_parse_compact(context, opaque, signature, recoveryId) === 1 &&
        library.secp256k1_ecdsa_recover(context, publicKey, opaque, digest) === 1
      return made ? serialize(publicKey) : null
    },
  }
}
