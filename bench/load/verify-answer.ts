// Verifies one attestation answer completely, with viem (on Solana node:crypto) and without the service's code: the
// attester's signature over the requested statement (spec, "Attestation response (v2)").
import { encodeAbiParameters, type Hex, isAddressEqual, keccak256, recoverAddress, zeroAddress } from 'viem'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import type { AttestationBody } from './requests.ts'
import { isSolanaAnswerGood } from './verify-solana.ts'

export interface AttestationAnswer {
  readonly is_compliant: boolean
  readonly verification_hash: string
  readonly attestation: {
    readonly uuid: string
    readonly expiration: number
    readonly attester: string
    readonly signature: string
  }
}

/** Types of the signed statement, in order. */
export const STATEMENT_PARAMETERS = [
  { type: 'uint256', name: 'chainId' },
  { type: 'string', name: 'uuid' },
  { type: 'address', name: 'from' },
  { type: 'address', name: 'to' },
  { type: 'uint256', name: 'msgValue' },
  { type: 'bytes', name: 'data' },
  { type: 'string', name: 'policy' },
  { type: 'uint256', name: 'expiration' },
] as const

const chainIds = new Map(
  BUILT_IN_CHAINS.flatMap((chain) => (chain.family === 'evm' ? [[chain.name, chain.chainId] as const] : [])),
)

/** The digest of the statement for a request and the answer's uuid, policy and expiration. */
export const statementDigest = (
  body: AttestationBody,
  answer: { readonly uuid: string; readonly policy: string; readonly expiration: number },
): Hex => {
  const chainId = chainIds.get(body.chain)
  if (chainId === undefined) throw new Error(`signatures of chain ${body.chain} are not verified here`)
  return keccak256(
    encodeAbiParameters(STATEMENT_PARAMETERS, [
      BigInt(chainId),
      answer.uuid,
      body.from as Hex,
      (body.to ?? zeroAddress) as Hex,
      BigInt(body.msgValue),
      body.data as Hex,
      answer.policy,
      BigInt(answer.expiration),
    ]),
  )
}

const solanaNames = new Set(BUILT_IN_CHAINS.filter(({ family }) => family === 'solana').map(({ name }) => name))

const problemOnSolana = (
  body: AttestationBody,
  { attestation, verification_hash: policy }: AttestationAnswer,
  attester: string | null,
): string | null => {
  if (attester !== null && attestation.attester !== attester) return 'signed by another attester'
  return isSolanaAnswerGood(body, { ...attestation, policy }) ? null : 'the signature does not verify'
}

const problemOnEvm = async (
  body: AttestationBody,
  { attestation, verification_hash: policy }: AttestationAnswer,
  attester: string | null,
): Promise<string | null> => {
  const hash = statementDigest(body, { ...attestation, policy })
  const recovered = await recoverAddress({ hash, signature: attestation.signature as Hex })
  const expected = attester ?? attestation.attester
  if (!isAddressEqual(attestation.attester as Hex, expected as Hex)) return 'signed by another attester'
  return isAddressEqual(recovered, expected as Hex) ? null : `signature recovers to ${recovered}, not ${expected}`
}

/** Returns the fault, or null for a correct answer. @param attester null for the address in the answer */
export const verifyAnswer = async (
  body: AttestationBody,
  answerText: string,
  attester: string | null,
): Promise<string | null> => {
  try {
    const answer = JSON.parse(answerText) as AttestationAnswer
    return solanaNames.has(body.chain)
      ? problemOnSolana(body, answer, attester)
      : await problemOnEvm(body, answer, attester)
  } catch (cause) {
    return `answer can't be verified: ${cause instanceof Error ? cause.message.split('\n')[0] : 'unreadable'}`
  }
}
