// Checks offline that a decision is in the log of a public key. Source: https://c2sp.org/tlog-proof,
// https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note, RFC 9162 §2.1.3.2.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { ArgumentInvalidError } from './errors.ts'

export class ProofInvalidError extends Error {
  override readonly name = 'ProofInvalidError'
  readonly code = 'PROOF_INVALID'
}

export interface ProvenDecision {
  /** Parsed line: `uuid`, `attesters`, `signatures` and others. */
  readonly decision: Readonly<Record<string, unknown>>
  /** Log line as stored. */
  readonly line: string
  /** Index of the line, starting at 0. */
  readonly index: number
  /** Number of lines covered by the signed head. */
  readonly size: number
  /** Signed head. Store it: later heads of the same log must extend it. */
  readonly checkpoint: string
}

interface LogKey {
  readonly name: string
  readonly id: Buffer
  readonly publicKey: Buffer
}

const SALT_BYTES = 16
const HASH_BYTES = 32
const ED25519 = 1
/** SubjectPublicKeyInfo header of an Ed25519 key (RFC 8410). */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const decode = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

const parseKey = (text: string): LogKey => {
  const [, name = '', id = '', key = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? []
  const bytes = decode(key)
  const computed = sha256(Buffer.from(`${name}\n`), bytes ?? Buffer.alloc(0)).subarray(0, 4)
  if (bytes?.length !== 1 + HASH_BYTES || bytes[0] !== ED25519 || computed.toString('hex') !== id) {
    throw new ArgumentInvalidError(
      'logKey',
      'must be <name>+<8 hex digits>+<base64>, as provided by the log’s operator',
    )
  }
  return { name, id: computed, publicKey: bytes.subarray(1) }
}

const openCheckpoint = (checkpoint: string, { name, id, publicKey }: LogKey): { size: number; root: Buffer } => {
  const end = checkpoint.lastIndexOf('\n\n') + 1
  const text = checkpoint.slice(0, end)
  const signatures = checkpoint
    .slice(end + 1)
    .split('\n')
    .flatMap((line) => {
      const [dash, signer, base64 = ''] = line.split(' ')
      const bytes = decode(base64)
      const isOurs = dash === '\u2014' && signer === name && bytes?.subarray(0, 4).equals(id) === true
      return isOurs ? [bytes.subarray(4)] : []
    })
  const key = createPublicKey({ key: Buffer.concat([SPKI_HEADER, publicKey]), format: 'der', type: 'spki' })
  if (signatures.length === 0) throw new ProofInvalidError('the head is not signed by this log')
  if (!signatures.every((signature) => verify(null, Buffer.from(text), key, signature))) {
    throw new ProofInvalidError('the signature of the head is invalid')
  }
  const [origin, size = '', root = ''] = text.split('\n')
  const hash = decode(root)
  if (origin !== name || !/^(0|[1-9][0-9]{0,15})$/.test(size) || hash?.length !== HASH_BYTES) {
    throw new ProofInvalidError('the head is malformed or belongs to another log')
  }
  return { size: Number(size), root: hash }
}

const rootFrom = (leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer | null => {
  let node = index
  let last = size - 1
  let hash = leaf
  for (const sibling of path) {
    if (last === 0) return null
    if (node % 2 === 1 || node === last) {
      hash = sha256(Uint8Array.of(1), sibling, hash)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        last = Math.floor(last / 2)
      }
    } else {
      hash = sha256(Uint8Array.of(1), hash, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? hash : null
}

const parseLine = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON, so not a decision.
  }
  throw new ProofInvalidError('the line is in the log but is not a decision')
}

/**
 * Checks a proof of `client.proof` or `countersign decisions prove`.
 * @param logKey the log's public key, obtained from its operator; never use a key that comes with the proof
 * @throws ProofInvalidError; ArgumentInvalidError if the key is malformed
 */
export const checkDecisionProof = (proof: string, logKey: string): ProvenDecision => {
  const key = parseKey(logKey)
  const middle = proof.indexOf('\n\n')
  const [version, extra = '', indexLine = '', ...hashes] = proof.slice(0, middle).split('\n')
  const entry = decode(extra.replace(/^extra /, ''))
  const [, index] = /^index (0|[1-9][0-9]{0,15})$/.exec(indexLine) ?? []
  const path = hashes.map(decode)
  if (
    middle < 0 ||
    version !== 'c2sp.org/tlog-proof@v1' ||
    !extra.startsWith('extra ') ||
    entry === null ||
    entry.length <= SALT_BYTES ||
    index === undefined ||
    path.length > 63 ||
    !path.every((hash) => hash?.length === HASH_BYTES)
  ) {
    throw new ProofInvalidError('the text is not a proof of a decision')
  }
  const checkpoint = proof.slice(middle + 2)
  const { size, root } = openCheckpoint(checkpoint, key)
  const line = entry.subarray(SALT_BYTES)
  const leaf = sha256(Uint8Array.of(0), entry.subarray(0, SALT_BYTES), sha256(line))
  if (Number(index) >= size || rootFrom(leaf, Number(index), size, path as Buffer[])?.equals(root) !== true) {
    throw new ProofInvalidError('the signed head does not cover the line')
  }
  const text = line.toString('utf8')
  return { decision: parseLine(text), line: text, index: Number(index), size, checkpoint }
}
