// secp256k1 with the npm package `secp256k1`, a prebuilt libsecp256k1. Uses only its `bindings` entry, which throws if
// no file fits: the default entry silently falls back to JavaScript that is neither fast nor constant-time.
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
  readonly path: string
}

const LOAD_ATTEMPTS = 5
const LOAD_PAUSE_MS = 20

/** If several workers load an addon at once, Bun 1.4.4 may report to one that the file is not an addon. */
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

/**
 * Loads the addon of the single-file executable: equivalent to the package's `bindings` entry, with the file at another
 * path.
 */
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
    // Throws if no prebuilt file fits.
    const path = prebuilt.path(dirname(manifest))
    return { bindings: retried(() => require('secp256k1/bindings') as Bindings), path }
  } catch {
    throw new SignerUnusableError(
      `the npm package secp256k1 has no prebuilt file for ${process.platform} ${process.arch}`,
    )
  }
}

const createNodeApiBackend = (bindings: Bindings): Secp256k1Backend => {
  const seed = randomBytes(32)
  // Blinds the secret scalar in every multiplication, as protection against power and timing side channels.
  bindings.contextRandomize(seed)
  seed.fill(0)

  return {
    name: 'secp256k1-node',
    description: 'npm secp256k1, prebuilt, by Node-API',
    createSigner: (privateKey) => {
      if (privateKey.length !== 32 || !bindings.privateKeyVerify(privateKey)) {
        throw new SignerUnusableError('invalid secp256k1 private key')
      }
      const publicKey = Uint8Array.from(bindings.publicKeyCreate(privateKey, false))
      const key = Uint8Array.from(privateKey)
      const compact = new Uint8Array(64)
      return {
        publicKey,
        sign: (digest, signature) => {
          if (digest.length !== 32 || signature.length !== 65) {
            throw new SignerUnusableError('a digest must be 32 bytes and a signature 65 bytes')
          }
          try {
            const { recid } = bindings.ecdsaSign(digest, key, {}, compact)
            signature.set(compact)
            signature[64] = 27 + recid
          } catch {
            throw new SignerUnusableError('the npm package secp256k1 could not sign')
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
 * Calls the addon's library through bun:ffi if the file exports the symbols. Node-API is the fallback: with it,
 * terminating a worker during a call aborts the process (Bun 1.4.4). The file is loaded as an addon first, which is
 * impossible after bun:ffi has opened it. For a digest at or above the curve's order (1 in 2^128), this libsecp256k1
 * signs validly and deterministically, but differs from RFC 6979.
 * @param access `node-api` forces Node-API in tests @throws SignerUnusableError if no prebuilt file fits this machine
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
