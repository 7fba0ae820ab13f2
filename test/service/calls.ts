// Calls of a service under test as its quick start allows them.
import { expect } from 'bun:test'
import { type RunningService, runCommand } from './start-service.ts'

export const WALLET = '0x1111111111111111111111111111111111111111'

/** Before a refused caller asks again: more callers would only take the processor from what is measured beside them. */
export const REFUSED_PAUSE_MS = 5

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

/** What a command over the service's data folder printed; it must succeed. */
export const succeed = async ({ dataDirectory }: RunningService, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(dataDirectory, ...words)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** A new API key; `options` are those of `key create`, in one text. */
export const issueKey = async (service: RunningService, options: string): Promise<{ key: string; keyId: string }> => {
  const { key, record } = JSON.parse(await succeed(service, ...`key create --json --name key ${options}`.split(' ')))
  return { key, keyId: record.id }
}
