// Verifies a Solana attestation with node:crypto and without the service's code: Ed25519 over SHA-256 of the layout
// that the registry program rebuilds (prefix, uuid, from, to, lamports, hashes of data and policy, expiration).
import { createHash, createPublicKey, verify } from 'node:crypto'
import bs58 from 'bs58'
import type { AttestationBody } from './requests.ts'

/** Default prefix of the signed message. */
const PREFIX = 'predicate_solana_attestation'
/** DER encoding of an Ed25519 SubjectPublicKeyInfo before the 32 bytes of the key (RFC 8410). */
const PUBLIC_KEY_DER = Buffer.from('302a300506032b6570032100', 'hex')

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()

const littleEndian = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

export interface SolanaAnswer {
  readonly uuid: string
  readonly policy: string
  readonly expiration: number
  /** `0x` and 128 hex digits. */
  readonly signature: string
  /** Base58. */
  readonly attester: string
}

/** Returns the 32 signed bytes. */
export const solanaMessage = (body: AttestationBody, answer: Omit<SolanaAnswer, 'signature' | 'attester'>): Buffer =>
  sha256(
    Buffer.concat([
      Buffer.from(PREFIX),
      Buffer.from(answer.uuid.replaceAll('-', ''), 'hex'),
      bs58.decode(body.from),
      body.to === null ? Buffer.alloc(32) : bs58.decode(body.to),
      littleEndian(BigInt(body.msgValue)),
      sha256(Buffer.from(body.data.slice(2), 'hex')),
      sha256(answer.policy),
      littleEndian(BigInt(answer.expiration)),
    ]),
  )

export const isSolanaAnswerGood = (body: AttestationBody, answer: SolanaAnswer): boolean => {
  const der = Buffer.concat([PUBLIC_KEY_DER, bs58.decode(answer.attester)])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, solanaMessage(body, answer), key, Buffer.from(answer.signature.slice(2), 'hex'))
}
