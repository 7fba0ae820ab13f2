// The limit of concurrent attestations per organization, with a chain that hangs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { projectRequest, task } from './calls.ts'
import { type HeldRpc, startHeldRpc } from './held-rpc.ts'
import { type RunningService, startService } from './start-service.ts'

let rpc: HeldRpc
let service: RunningService

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.quickstart['ATTESTATION_API_KEY'] ?? '' },
    body: JSON.stringify(body),
  })

const element = () => projectRequest(service)

beforeAll(async () => {
  rpc = startHeldRpc()
  service = await startService({
    environment: {
      COUNTERSIGN_RPC_ETHEREUM: rpc.url,
      COUNTERSIGN_ORGANIZATION_CONCURRENCY: 'nobody=7,*=1',
      COUNTERSIGN_WORKERS: '1',
    },
  })
})

afterAll(async () => {
  rpc?.letGo()
  await service?.stop()
  await rpc?.stop()
})

describe('an organization at its limit', () => {
  test('gets 429 immediately, until an attestation ends', async () => {
    const held = task(service)
    await rpc.asked
    const refused = await post('/v2/attestation', element())
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({
      code: 'RATE_LIMITED',
      detail: 'an organization can have at most 1 attestations in flight',
    })
    // A batch is refused completely if none of its elements is admitted.
    const batch = await post('/v2/attestations', { requests: [element(), element()] })
    expect(batch.status).toBe(429)
    expect(await batch.json()).toMatchObject({ code: 'RATE_LIMITED' })
    // Refusals are not logged as failures.
    expect(service.output().stderr).not.toContain('in flight')
    rpc.letGo()
    expect((await held).status).toBe(200)
    expect((await post('/v2/attestation', element())).status).toBe(200)
  })

  test('has each element of a batch counted and refused separately', async () => {
    const response = await post('/v2/attestations', { requests: [element(), element(), element()] })
    expect(response.status).toBe(200)
    const refusal = { status: 429, retry_after_seconds: 1, problem: { code: 'RATE_LIMITED' } }
    expect(await response.json()).toMatchObject({
      answers: [
        { index: 0, status: 200 },
        { index: 1, ...refusal },
        { index: 2, ...refusal },
      ],
    })
    expect((await post('/v2/attestation', element())).status).toBe(200)
  })
})

test('an unknown organization in the setting is logged', async () => {
  await service.logLine(
    (line) =>
      line['message'] === 'a setting names unknown organizations' &&
      line['setting'] === 'organization-concurrency' &&
      JSON.stringify(line['slugs']) === '["nobody"]',
  )
})
