// Requests and commands to a service under test, with the keys of its first start.
import { expect } from 'bun:test'
import { type RunningService, runCommand } from './start-service.ts'

export const WALLET = '0x1111111111111111111111111111111111111111'

/** Pause before a refused caller retries, so that callers leave CPU time to the service. */
export const REFUSED_PAUSE_MS = 5

/** An attestation request to the project of the first start. */
export const projectRequest = ({ quickstart }: RunningService): Record<string, unknown> => ({
  from: WALLET,
  chain: 'base',
  verification_hash: quickstart['VERIFICATION_HASH'],
})

interface Answer {
  is_compliant: boolean
  attestation: { attester: string; uuid: string }
  reason?: { code: string }
}

/** Requests an attestation, and checks its status. */
export const attestOnce = async (service: RunningService, body = projectRequest(service)): Promise<Answer> => {
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

/** Runs a command with the service's data folder, checks that it succeeds, and returns its output. */
export const succeed = async ({ dataDirectory }: RunningService, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(dataDirectory, ...words)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** Creates an API key; `options` are those of `key create`, separated by spaces. */
export const issueKey = async (service: RunningService, options: string): Promise<{ key: string; keyId: string }> => {
  const { key, record } = JSON.parse(await succeed(service, ...`key create --json --name key ${options}`.split(' ')))
  return { key, keyId: record.id }
}
