// A cap on what one organization has under way, through the real service: a chain that hangs holds its place, and no more.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type HeldRpc, startHeldRpc } from './held-rpc.ts'
import { type RunningService, startService } from './start-service.ts'

const WALLET = '0x1111111111111111111111111111111111111111'
let rpc: HeldRpc
let service: RunningService

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.quickstart['ATTESTATION_API_KEY'] ?? '' },
    body: JSON.stringify(body),
  })

const element = () => ({
  from: WALLET,
  chain: 'base',
  verification_hash: service.quickstart['VERIFICATION_HASH'],
})

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

describe('an organization with as many under way as it may have', () => {
  test('is answered 429 at once, and again with an answer once a place is free', async () => {
    const contract = service.quickstart['DEMO_CONTRACT']
    const held = post('/v1/task', { from: WALLET, to: contract, data: '0x', msg_value: '0' })
    await rpc.asked
    const refused = await post('/v2/attestation', element())
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({
      code: 'RATE_LIMITED',
      detail: 'an organization can have at most 1 attestations in flight',
    })
    // A batch of which no element can be taken is refused as one.
    const batch = await post('/v2/attestations', { requests: [element(), element()] })
    expect(batch.status).toBe(429)
    expect(await batch.json()).toMatchObject({ code: 'RATE_LIMITED' })
    // What is refused as agreed is no failure of the service.
    expect(service.output().stderr).not.toContain('in flight')
    rpc.letGo()
    expect((await held).status).toBe(200)
    expect((await post('/v2/attestation', element())).status).toBe(200)
  })

  test('has the elements of a batch counted one by one, and refused in their places', async () => {
    const response = await post('/v2/attestations', { requests: [element(), element(), element()] })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      answers: [
        { index: 0, status: 200 },
        { index: 1, status: 429, retry_after_seconds: 1, problem: { code: 'RATE_LIMITED' } },
        { index: 2, status: 429, retry_after_seconds: 1, problem: { code: 'RATE_LIMITED' } },
      ],
    })
    expect((await post('/v2/attestation', element())).status).toBe(200)
  })
})

test('a name that no organization has is in the log', async () => {
  await service.logLine(
    (line) =>
      line['message'] === 'a setting names unknown organizations' &&
      line['setting'] === 'organization-concurrency' &&
      JSON.stringify(line['slugs']) === '["nobody"]',
  )
})
