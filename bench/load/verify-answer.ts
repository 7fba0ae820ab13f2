// Verifies one attestation answer in full, with viem and none of the service's own code: the signature over the
// statement that was asked for recovers to the attester (spec, "Attestation response (v2)").
import { encodeAbiParameters, type Hex, isAddressEqual, keccak256, recoverAddress, zeroAddress } from 'viem'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import type { AttestationBody } from './requests.ts'

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

/** What the statement's digest is, for a request and the answer's own uuid, policy and expiration. */
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

/** Null when all is well; else what is wrong. `attester` null compares with the address the answer names. */
export const verifyAnswer = async (
  body: AttestationBody,
  answerText: string,
  attester: string | null,
): Promise<string | null> => {
  try {
    const answer = JSON.parse(answerText) as AttestationAnswer
    const { uuid, expiration, signature } = answer.attestation
    const hash = statementDigest(body, { uuid, policy: answer.verification_hash, expiration })
    const recovered = await recoverAddress({ hash, signature: signature as Hex })
    const expected = attester ?? answer.attestation.attester
    if (!isAddressEqual(answer.attestation.attester as Hex, expected as Hex)) return 'signed by another attester'
    return isAddressEqual(recovered, expected as Hex) ? null : `signature recovers to ${recovered}, not ${expected}`
  } catch (cause) {
    return `answer can't be verified: ${cause instanceof Error ? cause.message.split('\n')[0] : 'unreadable'}`
  }
}
