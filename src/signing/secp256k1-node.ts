// secp256k1 with the npm package `secp256k1`: libsecp256k1 prebuilt as a Node addon, for machines without the system's
// library. Only its `bindings` entry is used, which throws when no prebuilt file fits: the package's default entry
// would silently fall back to JavaScript that is neither fast nor constant in time.
// Its libsecp256k1 predates 0.2 and does not reduce a digest before it derives the nonce. For a digest that is not
// below the curve's order, one in 2^128, the signature is valid and deterministic, but not the one of RFC 6979.
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { nativeFile } from '../program/native-files.ts'
import { SignerUnusableError, SigningError } from './errors.ts'
import { createFfiBackend } from './secp256k1-ffi.ts'
import type { Secp256k1Backend } from './types.ts'

type Bindings = typeof import('secp256k1')

interface Addon {
  readonly bindings: Bindings
  /** The addon's file. */
  readonly path: string
}

const LOAD_ATTEMPTS = 5
const LOAD_PAUSE_MS = 20

/**
 * Loads an addon. When several workers load it for the first time at the same moment, Bun 1.4.4 sometimes reports to
 * one of them that the file is no addon, so an existing file is tried again.
 */
const retried = (load: () => Bindings): Bindings => {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let attempt = 1; ; attempt++) {
    try {
      return load()
    } catch (error) {
      if (attempt === LOAD_ATTEMPTS) throw error
      Atomics.wait(pause, 0, 0, LOAD_PAUSE_MS)
    }
  }
}

/** In the one-file program: what the package's `bindings` entry does, with the file at another place. */
const loadBuiltAddon = (path: string): Addon => {
  const wrap = require('secp256k1/lib/index.js') as (addon: unknown) => Bindings
  const load = () => wrap(new (createRequire(import.meta.url)(path) as { Secp256k1: new () => unknown }).Secp256k1())
  return { bindings: retried(load), path }
}

const loadAddon = (): Addon => {
  try {
    const built = nativeFile('secp256k1.node')
    if (built !== null) return loadBuiltAddon(built)
    const require = createRequire(import.meta.url)
    const manifest = require.resolve('secp256k1/package.json')
    const prebuilt = createRequire(manifest)('node-gyp-build') as { path(directory: string): string }
    // Throws when no prebuilt file fits.
    const path = prebuilt.path(dirname(manifest))
    return { bindings: retried(() => require('secp256k1/bindings') as Bindings), path }
  } catch {
    throw new SignerUnusableError(`the npm package secp256k1 has no prebuilt for ${process.platform} ${process.arch}`)
  }
}

const createNodeApiBackend = (bindings: Bindings): Secp256k1Backend => {
  const seed = randomBytes(32)
  // Blinds the secret scalar in every multiplication, against leaks through power consumption or timing.
  bindings.contextRandomize(seed)
  seed.fill(0)

  return {
    name: 'secp256k1-node',
    description: 'npm secp256k1, prebuilt, by Node-API',
    createSigner: (privateKey) => {
      if (privateKey.length !== 32 || !bindings.privateKeyVerify(privateKey)) {
        throw new SignerUnusableError('not a valid secp256k1 private key')
      }
      const publicKey = Uint8Array.from(bindings.publicKeyCreate(privateKey, false))
      const key = Uint8Array.from(privateKey)
      const compact = new Uint8Array(64)
      return {
        publicKey,
        sign: (digest, signature) => {
          if (digest.length !== 32 || signature.length !== 65) {
            throw new SignerUnusableError('a digest is not 32 bytes or a signature not 65')
          }
          try {
            const { recid } = bindings.ecdsaSign(digest, key, {}, compact)
            signature.set(compact)
            signature[64] = 27 + recid
          } catch {
            throw new SignerUnusableError('the npm package secp256k1 refused to sign')
          }
        },
        erase: () => void key.fill(0),
      }
    },
    recover: (digest, signature) => {
      try {
        return Uint8Array.from(bindings.ecdsaRecover(signature.subarray(0, 64), signature[64]! - 27, digest, false))
      } catch {
        return null
      }
    },
  }
}

/**
 * Calls the addon's library through bun:ffi where its file exports the symbols, as it does on Linux. Node-API is only
 * the last resort: through it, a worker terminated in the middle of a call aborts the whole process (seen on Bun 1.4.4:
 * an uncaught Napi::Error). The file is always loaded as an addon first: once it was opened by bun:ffi alone, nobody
 * could load it as an addon any more.
 * @param access `node-api` forces that way; for tests
 * @throws SignerUnusableError when no prebuilt file fits this machine
 */
export const loadNodeSecp256k1 = (access: 'ffi' | 'node-api' = 'ffi'): Secp256k1Backend => {
  const { bindings, path } = loadAddon()
  if (access === 'node-api') return createNodeApiBackend(bindings)
  try {
    return createFfiBackend({ name: 'secp256k1-node', description: 'npm secp256k1, prebuilt, by bun:ffi', path })
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    return createNodeApiBackend(bindings)
  }
}
