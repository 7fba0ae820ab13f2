// Rounds of random v2 and Solana statements that every backend encodes and signs. A seed makes them reproducible.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import * as nobleEd25519 from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import bs58 from 'bs58'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { DEFAULT_SOLANA_MESSAGE_PREFIX } from '../../src/signing/solana-message.ts'
import { loadKeccak256 } from '../../src/signing/statement.ts'
import type { Secp256k1Backend } from '../../src/signing/types.ts'
import { referenceSolanaMessage, referenceStatementDigest } from './reference-encoding.ts'
import { type EvmStatement, type SolanaStatement, solanaMessageBuilder, statementDigester } from './statements.ts'
import { testKey } from './test-keys.ts'

nobleEd25519.hashes.sha512 = sha512

const KEYS = 8
const HALF_ORDER = secp256k1.Point.CURVE().n / 2n
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

/** The recovery of the npm package, if it is installed: 30 times as fast as noble's. */
const nativeRecovery = (): ((signature: Uint8Array, digest: Uint8Array) => Uint8Array) | null => {
  try {
    const bindings = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1')
    return (signature, digest) => bindings.ecdsaRecover(signature.subarray(0, 64), signature[64]! - 27, digest, false)
  } catch {
    return null
  }
}

/** Returns the signer's public key according to @noble/curves, 65 bytes. */
export const recoverWithNoble = (signature: Uint8Array, digest: Uint8Array): Uint8Array => {
  const recovered = Buffer.concat([Uint8Array.of(signature[64]! - 27), signature.subarray(0, 64)])
  const compressed = secp256k1.recoverPublicKey(recovered, digest, { prehash: false })
  return secp256k1.Point.fromBytes(compressed).toBytes(false)
}

/** Whether s is in the lower half of the order (EIP-2). */
export const hasLowS = (signature: Uint8Array): boolean =>
  BigInt(`0x${signature.subarray(32, 64).toHex()}`) <= HALF_ORDER

/** Creates an endless source of bytes: SHA-256 of the seed and a counter. */
const createByteSource = (seed: string) => {
  let counter = 0
  let pool: Buffer = Buffer.alloc(0)
  return (byteCount: number): Buffer => {
    while (pool.length < byteCount) {
      const block = createHash('sha256').update(`${seed} ${counter++}`).digest()
      pool = pool.length === 0 ? block : Buffer.concat([pool, block])
    }
    const bytes = pool.subarray(0, byteCount)
    pool = pool.subarray(byteCount)
    return bytes
  }
}

const uuidOf = (bytes: Buffer): string => bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const fail = (what: string, statement: unknown): never => {
  const text = JSON.stringify(statement, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
  throw new Error(`${what}: ${text}`)
}

interface RoundsOptions {
  readonly backends: readonly Secp256k1Backend[]
  readonly rounds: number
  readonly seed: string
  /** Interval of the rounds in which the slow noble libraries sign and recover, too. */
  readonly nobleEvery: number
  readonly progress?: (done: number) => void
}

/** @throws Error that contains the statement with a wrong digest, signature or signer. */
export const runRounds = async (options: RoundsOptions): Promise<void> => {
  const digestOf = statementDigester(await loadKeccak256())
  const messageOf = solanaMessageBuilder()
  const bytes = createByteSource(options.seed)
  const recover = nativeRecovery()
  const keys = Array.from({ length: KEYS }, (_, i) => testKey(i + 1))
  const signers = options.backends.map((backend) => keys.map((key) => backend.createSigner(key)))
  const solanaSigners = keys.map((key) => {
    const signer = createEd25519Signer(key)
    const der = Buffer.concat([SPKI_HEADER, signer.publicKey])
    return { signer, publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
  })
  const signature = new Uint8Array(65)

  const checkEvm = (keyIndex: number, withNoble: boolean): void => {
    const statement: EvmStatement = {
      chainId: bytes(4).readUInt32BE(),
      uuid: uuidOf(bytes(16)),
      from: `0x${bytes(20).toHex()}`,
      to: `0x${bytes(20).toHex()}`,
      value: BigInt(`0x${bytes(1 + (bytes(1)[0]! % 32)).toHex()}`),
      data: `0x${bytes(bytes(1)[0]!).toHex()}`,
      policy: `x-${bytes(1 + (bytes(1)[0]! % 31)).toHex()}`,
      expirationSeconds: bytes(4).readUInt32BE(),
    }
    const digest = digestOf(statement)
    if (`0x${digest.toHex()}` !== referenceStatementDigest(statement)) fail('wrong digest', statement)
    let first = ''
    for (const [i, backend] of options.backends.entries()) {
      signers[i]![keyIndex]!.sign(digest, signature)
      if (!hasLowS(signature)) fail(`${backend.name} made a high s`, statement)
      first ||= signature.toHex()
      if (signature.toHex() !== first) fail(`${backend.name} differs from ${options.backends[0]!.name}`, statement)
    }
    if (withNoble) {
      const expected = secp256k1.sign(digest, keys[keyIndex]!, { prehash: false, format: 'recovered' })
      const reordered = `${expected.subarray(1).toHex()}${(expected[0]! + 27).toString(16)}`
      if (reordered !== first) fail('the signature differs from that of @noble/curves', statement)
    }
    if (!recover && !withNoble) return
    const publicKey = (recover ?? recoverWithNoble)(signature, digest)
    if (Buffer.compare(publicKey, signers[0]![keyIndex]!.publicKey) !== 0) fail('another signer recovered', statement)
  }

  const checkSolana = (keyIndex: number, withNoble: boolean): void => {
    const statement: SolanaStatement = {
      uuid: uuidOf(bytes(16)),
      from: bs58.encode(bytes(32)),
      to: bs58.encode(bytes(32)),
      lamports: bytes(8).readBigUInt64BE(),
      data: `0x${bytes(bytes(1)[0]!).toHex()}`,
      policy: `x-${bytes(1 + (bytes(1)[0]! % 31)).toHex()}`,
      expirationSeconds: bytes(4).readUInt32BE(),
    }
    const message = messageOf(statement)
    if (message.toHex() !== referenceSolanaMessage(DEFAULT_SOLANA_MESSAGE_PREFIX, statement)) {
      fail('wrong message', statement)
    }
    const { signer, publicKey } = solanaSigners[keyIndex]!
    const signed = signer.sign(message)
    if (!verify(null, message, publicKey, signed)) fail('the Ed25519 signature does not verify', statement)
    if (withNoble && Buffer.compare(signed, nobleEd25519.sign(message, keys[keyIndex]!)) !== 0) {
      fail('the Ed25519 signature differs from that of @noble/ed25519', statement)
    }
  }

  for (let round = 0; round < options.rounds; round++) {
    const withNoble = round % options.nobleEvery === 0
    const keyIndex = round % KEYS
    checkEvm(keyIndex, withNoble)
    checkSolana(keyIndex, withNoble)
    options.progress?.(round + 1)
  }
}
