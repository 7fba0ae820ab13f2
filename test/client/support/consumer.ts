// Type checks of the packed client; never run.
import { type CountersignClient, createCountersignClient } from '@countersign/client'
import type { AttestationRequest } from '@countersign/client/attestation-types'
import { ClientError } from '@countersign/client/errors'
import { type AttestationArgument, attestationArgument } from '@countersign/client/evm-arguments'
import type { SessionState } from '@countersign/client/identity-types'
import { verifySolanaAttestation } from '@countersign/client/solana-attestation'

export const argumentFor = async (
  client: CountersignClient,
  request: AttestationRequest,
): Promise<AttestationArgument | string> => {
  const answer = await client.attest(request, { idempotencyKey: 'order-7' })
  // @ts-expect-error: a denial has no attestation, so isCompliant must be checked first.
  void answer.attestation
  return answer.isCompliant ? attestationArgument(answer.attestation) : (answer.reason?.message ?? '')
}

export const waitFor = async (client: CountersignClient, id: string): Promise<SessionState | undefined> => {
  for await (const state of client.follow('individual', id)) if (state.status === 'completed') return state
  return undefined
}

export const isOverloaded = (error: unknown): boolean => error instanceof ClientError && error.code === 'OVERLOADED'

// @ts-expect-error: exactly one of the two is allowed.
export const both: AttestationRequest = { from: '', chain: '', to: '', verificationHash: '' }

export const client = createCountersignClient({ attestationUrl: undefined, fetch })
export const check: typeof verifySolanaAttestation = verifySolanaAttestation
