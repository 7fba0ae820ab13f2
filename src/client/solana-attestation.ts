// Verifies Solana attestations offline, without a library. Layout: docs/decisions.md §2, "What Solana signs".
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Attestation, AttestationRequest, CompliantAnswer } from './attestation-types.ts'
import { decodeKey } from './base58.ts'
import { ArgumentInvalidError } from './errors.ts'
import { hexBytes, secondsBytes, u64Bytes, uuidBytes } from './solana-fields.ts'

/** Call covered by an attestation. */
export interface SolanaAttestedCall {
  /** User's wallet, which signs the transaction; base58. */
  readonly from: string
  /** Program that requires the attestation, base58; 32 zero bytes for off-chain use. */
  readonly to: string
  /** Requested project; if the request names none, `verification_hash` of the response. */
  readonly verificationHash: string
  /** `data` of the request. Defaults to `0x`. */
  readonly data?: string
  /** `msg_value` of the request, in lamports. Defaults to 0. */
  readonly lamports?: bigint
}

const ZERO_KEY = '11111111111111111111111111111111'

export const solanaAttestedCall = (
  request: AttestationRequest,
  answer: Pick<CompliantAnswer, 'verificationHash'>,
): SolanaAttestedCall => ({
  from: request.from,
  to: request.to ?? ZERO_KEY,
  verificationHash: request.verificationHash ?? answer.verificationHash,
  data: request.data ?? '0x',
  lamports: request.msgValue ?? 0n,
})

/** Default prefix of the registry program. */
export const SOLANA_MESSAGE_PREFIX = 'predicate_solana_attestation'

const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

const sha256 = (...parts: readonly (Uint8Array | string)[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/**
 * Returns the 32 signed bytes. @param prefix the deployment's message prefix, if not the default @throws
 * ArgumentInvalidError
 */
export const solanaMessage = (
  call: SolanaAttestedCall,
  attestation: Pick<Attestation, 'uuid' | 'expiration'>,
  prefix: string = SOLANA_MESSAGE_PREFIX,
): Uint8Array => {
  if (!/^[\x21-\x7e]{1,64}$/.test(prefix)) {
    throw new ArgumentInvalidError('prefix', 'must be 1 to 64 visible ASCII characters')
  }
  return sha256(
    prefix,
    uuidBytes('uuid', attestation.uuid),
    decodeKey('from', call.from),
    decodeKey('to', call.to),
    u64Bytes('lamports', call.lamports ?? 0n),
    sha256(hexBytes('data', call.data ?? '0x')),
    sha256(call.verificationHash),
    secondsBytes('expiration', attestation.expiration),
  )
}

/**
 * Returns whether the attester signed exactly this call. The caller must check that the attester is trusted and the
 * attestation hasn't expired. @throws ArgumentInvalidError
 */
export const verifySolanaAttestation = (
  call: SolanaAttestedCall,
  attestation: Attestation,
  prefix?: string,
): boolean => {
  const attester = decodeKey('attester', attestation.attester)
  const key = createPublicKey({ key: Buffer.concat([SPKI_HEADER, attester]), format: 'der', type: 'spki' })
  const signature = hexBytes('signature', attestation.signature, 64)
  return verify(null, solanaMessage(call, attestation, prefix), key, signature)
}
