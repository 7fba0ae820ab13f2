// Attestations under an Idempotency-Key, whose retries return the same response even after the data was moved.
import { expect } from 'bun:test'
import type { RunningService } from '../service/start-service.ts'

export interface Acknowledged {
  readonly attestation: { readonly uuid: string; readonly signature: string }
}

export const attestUnder = async (service: RunningService, key: string): Promise<Acknowledged> => {
  const response = await service.attest(
    {
      verification_hash: service.quickstart['VERIFICATION_HASH'],
      from: '0x000000000000000000000000000000000000dEaD',
      chain: 'sepolia',
    },
    { 'idempotency-key': key },
  )
  expect(response.status).toBe(200)
  return (await response.json()) as Acknowledged
}
