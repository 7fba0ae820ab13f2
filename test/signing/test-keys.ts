// Test keys, derived from public text, and the installed backends.
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { SigningError } from '../../src/signing/errors.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import { loadNodeSecp256k1 } from '../../src/signing/secp256k1-node.ts'
import { loadSystemSecp256k1 } from '../../src/signing/secp256k1-system.ts'
import type { Secp256k1Backend, Secp256k1BackendName } from '../../src/signing/types.ts'

export const sha256 = (input: string | Uint8Array): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(input).digest())

/** 32 bytes, valid for both curves. */
export const testKey = (number: number): Uint8Array => sha256(`countersign test key ${number}`)

/** @param label distinguishes two interfaces of the same library */
const candidate = (name: Secp256k1BackendName, label: string, load: () => Secp256k1Backend) => {
  try {
    return { name, label, backend: load(), reason: '' }
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    return { name, label, backend: null, reason: error.detail }
  }
}

/** Loads every installed backend. */
export const backendCandidates = () => [
  candidate('libsecp256k1', 'libsecp256k1', () => loadSystemSecp256k1()),
  candidate('secp256k1-node', 'secp256k1-node', () => loadNodeSecp256k1()),
  candidate('secp256k1-node', 'secp256k1-node by Node-API', () => loadNodeSecp256k1('node-api')),
  candidate('noble', 'noble', loadNobleSecp256k1),
]

/** Returns every representation of a value in a log. */
export const printedForms = (value: unknown): string =>
  [
    Bun.inspect(value, { depth: 10 }),
    inspect(value, { depth: null, showHidden: true, getters: true }),
    JSON.stringify(value),
    String(value),
  ].join('\n')

/** Returns the representations of key bytes in a log. */
export const keySpellings = (key: Uint8Array): readonly string[] => [
  key.toHex(),
  key.toBase64().slice(0, 40),
  key.toBase64({ alphabet: 'base64url' }).slice(0, 40),
  BigInt(`0x${key.toHex()}`).toString(),
  [...key.subarray(0, 8)].join(','),
  [...key.subarray(0, 8)].join(', '),
  Buffer.from(key.subarray(0, 8))
    .toString('hex')
    .replace(/(..)(?=.)/g, '$1 '),
]
