// What a service acknowledged: asked again under the same key it gives the same answer, wherever its data has gone.
import { expect } from 'bun:test'
import type { RunningService } from '../service/start-service.ts'

export interface Acknowledged {
  readonly attestation: { readonly uuid: string; readonly signature: string }
}

/** The whole answer, which a repetition under that Idempotency-Key has to equal. */
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
