// Calls of a service under test as its quick start allows them.
import { expect } from 'bun:test'
import type { RunningService } from './start-service.ts'

export const WALLET = '0x1111111111111111111111111111111111111111'

/** By the quick start's project. */
export const projectRequest = ({ quickstart }: RunningService): Record<string, unknown> => ({
  from: WALLET,
  chain: 'base',
  verification_hash: quickstart['VERIFICATION_HASH'],
})

export interface Answer {
  is_compliant: boolean
  attestation: { attester: string; uuid: string }
  reason?: { code: string }
}

/** One attestation, which is answered 200. */
export const ask = async (service: RunningService, body = projectRequest(service)): Promise<Answer> => {
  const response = await service.attest(body)
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

export const task = ({ quickstart }: RunningService): Promise<Response> =>
  fetch(`${quickstart['ATTESTATION_URL']}/v1/task`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
    body: JSON.stringify({ from: WALLET, to: quickstart['DEMO_CONTRACT'], data: '0x', msg_value: '0' }),
  })
