// `POST /v2/attestations` of a running service.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { verifyEvmAttestation } from '../../src/client/evm-attestation.ts'
import { issueKey, succeed, WALLET } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'

const ZERO = '0x0000000000000000000000000000000000000000'
const DENIED = '0x000000000000000000000000000000000000dEaD'

interface Line {
  index: number
  status: number
  replayed?: true
  retry_after_seconds?: number
  answer?: {
    is_compliant: boolean
    verification_hash: string
    attestation: { uuid: string; expiration: number; attester: string; signature: string }
  }
  problem?: { code: string; detail: string; request_id: string; status: number }
}

let service: RunningService
const value = (name: string): string => service.quickstart[name] ?? ''
const project = (from = WALLET): Record<string, unknown> => ({
  from,
  chain: 'base',
  verification_hash: value('VERIFICATION_HASH'),
})

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${service.url}/v2/attestations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': value('ATTESTATION_API_KEY'), ...headers },
    body: JSON.stringify(body),
  })

const attest = async (
  requests: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Line[]> => {
  const response = await post({ requests }, headers)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  return ((await response.json()) as { answers: Line[] }).answers
}

const expectSigned = async ({ answer }: Line): Promise<void> => {
  const call = { chainId: 8453, from: WALLET, to: ZERO, verificationHash: value('VERIFICATION_HASH') }
  expect(await verifyEvmAttestation(call, answer!.attestation)).toBe(true)
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '2' } })
})
afterAll(async () => {
  await service.stop()
})

describe('a batch', () => {
  test('returns verdicts and refusals in the order of its requests', async () => {
    const lines = await attest([
      project(),
      project(DENIED),
      { from: WALLET, chain: 'base' },
      { ...project(), chain: 'nowhere' },
      null,
      [],
      { ...project(), verification_hash: 'x-0123456789abcdef' },
      project(),
    ])
    expect(lines.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(lines.map(({ status, answer, problem }) => [status, answer?.is_compliant ?? problem?.code])).toEqual([
      [200, true],
      [200, false],
      [400, 'MISSING_REQUIRED_FIELD'],
      [400, 'UNSUPPORTED_CHAIN'],
      [400, 'INVALID_REQUEST'],
      [400, 'INVALID_REQUEST'],
      [400, 'POLICY_NOT_FOUND'],
      [200, true],
    ])
    const [first, denied, ...others] = lines
    await expectSigned(first as Line)
    await expectSigned(others.at(-1) as Line)
    expect(denied?.answer?.attestation).toEqual({
      uuid: expect.any(String),
      expiration: 0,
      attester: expect.any(String),
      signature: expect.any(String),
    })
    expect(denied?.answer?.attestation.signature).not.toMatch(/^0x[0-9a-f]{130}$/)
  })

  test('of a thousand requests returns a thousand attestations, all in the decision log', async () => {
    const lines = await attest(Array.from({ length: 1_000 }, () => project()))
    const uuids = new Set(lines.map(({ answer }) => answer?.attestation.uuid))
    expect(uuids.size).toBe(1_000)
    for (const line of lines.filter((_, index) => index % 100 === 0)) await expectSigned(line)
    const stdout = await succeed(service, 'decisions', 'tail', '--json', '--lines', '3000')
    const logged = new Set(stdout.match(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/g))
    expect([...uuids].filter((uuid) => !logged.has(uuid ?? ''))).toEqual([])
  })

  test('returns JSON lines if the caller accepts them', async () => {
    const response = await post({ requests: [project(), {}, project()] }, { accept: 'application/x-ndjson' })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const text = await response.text()
    expect(text).toEndWith('\n')
    const lines = Bun.JSONL.parse(text) as Line[]
    expect(lines.map(({ index, status }) => [index, status])).toEqual([
      [0, 200],
      [1, 400],
      [2, 200],
    ])
    expect(lines[1]?.problem?.request_id).toBe(response.headers.get('x-request-id') ?? '')
  })

  test('is refused as a whole if it is invalid', async () => {
    const refusals: readonly (readonly [unknown, string])[] = [
      [{}, 'MISSING_REQUIRED_FIELD'],
      [{ requests: null }, 'MISSING_REQUIRED_FIELD'],
      [{ requests: [] }, 'INVALID_FIELD'],
      [{ requests: 'x' }, 'INVALID_FIELD'],
      [{ requests: { length: 1 } }, 'INVALID_FIELD'],
      [{ requests: Array.from({ length: 1_001 }, () => ({})) }, 'INVALID_FIELD'],
      [[project()], 'INVALID_REQUEST'],
    ]
    for (const [body, code] of refusals) {
      const response = await post(body)
      expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 400, body: { code } })
    }
    const huge = await post({ requests: ['x'.repeat(4_194_304)] })
    expect(huge.status).toBe(413)
    const keyed = await post({ requests: [project()] }, { 'idempotency-key': 'batch' })
    expect(await keyed.json()).toMatchObject({ code: 'INVALID_HEADER' })
    expect((await post({ requests: [project()] }, { 'x-api-key': 'csa_wrong' })).status).toBe(401)
  })
})

describe('the idempotency key of an element', () => {
  test('returns the same attestation for a repeated element, in any batch and position', async () => {
    const keyed = (key: unknown, from = WALLET) => ({ ...project(from), idempotency_key: key })
    const [first] = await attest([keyed('order-1')])
    const [other, again] = await attest([project(), keyed('order-1')])
    expect(again?.answer).toEqual(first?.answer as NonNullable<Line['answer']>)
    expect(again?.replayed).toBe(true)
    expect(first?.replayed).toBeUndefined()
    expect(other?.answer?.attestation.uuid).not.toBe(first?.answer?.attestation.uuid as string)
    const wrong = await attest([keyed('order-1', DENIED), keyed(''), keyed(7), keyed('ä')])
    expect(wrong.map(({ problem }) => problem?.code)).toEqual([
      'IDEMPOTENCY_MISMATCH',
      'INVALID_FIELD',
      'INVALID_FIELD',
      'INVALID_FIELD',
    ])
  })

  test('in two elements of one batch returns one attestation', async () => {
    const twins = await attest([
      { ...project(), idempotency_key: 'twin' },
      { ...project(), idempotency_key: 'twin' },
    ])
    const codes = twins.map(({ status, problem }) => problem?.code ?? status)
    expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(1)
    const uuids = twins.flatMap(({ answer }) => answer?.attestation.uuid ?? [])
    expect(new Set(uuids).size).toBe(1)
    expect(codes.every((code) => code === 200 || code === 'IDEMPOTENCY_IN_FLIGHT')).toBe(true)
  })
})

test('the rate limit counts elements, and elements above the limit get 429', async () => {
  const { key } = await issueKey(service, '--org demo --kind attestation --rate 1 --burst 5')
  const response = await post({ requests: Array.from({ length: 8 }, () => project()) }, { 'x-api-key': key })
  expect(response.headers.get('ratelimit-remaining')).toBe('0')
  const { answers } = (await response.json()) as { answers: Line[] }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
  expect(answers[7]?.retry_after_seconds).toBeGreaterThanOrEqual(1)
})

test('a caller that disconnects during a response does not affect later calls', async () => {
  const { hostname, port } = new URL(service.url)
  const body = JSON.stringify({ requests: Array.from({ length: 1_000 }, () => project()) })
  const head = [
    'POST /v2/attestations HTTP/1.1',
    `Host: ${hostname}`,
    'Content-Type: application/json',
    'Accept: application/x-ndjson',
    `X-Api-Key: ${value('ATTESTATION_API_KEY')}`,
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  for (let round = 0; round < 5; round++) {
    const left = Promise.withResolvers<void>()
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (connection) => {
          connection.terminate()
          left.resolve()
        },
        close: () => left.resolve(),
        error: () => left.resolve(),
      },
    })
    socket.write(`${head}\r\n\r\n${body}`)
    socket.flush()
    await left.promise
    const [line] = await attest([project()])
    expect(line?.status).toBe(200)
  }
  expect(service.output().stderr).not.toContain('a promise was left alone')
})
