// Tracing in the running service: spans contain the stages but no caller data, and a failing collector delays no requests.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScreenerStub, startScreenerStub } from '../../src/cli/screener-stub.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../telemetry/support/collector.ts'
import { runCountersign } from './run-to-end.ts'
import { freePort, type RunningService, startService } from './start-service.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
const REQUEST_ID = 'caller-chose-this-request-id'
const USER_IP = '203.0.113.77'
const PATIENCE_MS = 60_000

const POLICY = `name: Screened
rules:
  - { id: screened, allow: '!screener("stub").flagged' }
`

let folder: string
let stub: ScreenerStub
let collector: Collector
let service: RunningService

const attest = (fields: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  service.attest(
    { from: WALLET, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'], ...fields },
    headers,
  )

const sampled = (spanId = PARENT_ID, flags = '01'): Record<string, string> => ({
  traceparent: `00-${TRACE_ID}-${spanId}-${flags}`,
})

/** Returns the spans of the request below a span of the caller. */
const spansUnder = async (spanId: string): Promise<ReceivedSpan[]> => {
  const root = (): ReceivedSpan | undefined => collector.spans.find(({ parentId }) => parentId === spanId)
  await until(() => root() !== undefined, { what: `a span below ${spanId}` })
  const found = [root()!]
  for (const parent of found) found.push(...collector.spans.filter(({ parentId }) => parentId === parent.spanId))
  return found
}

/** Checks that each span except the root is within its parent. */
const expectNested = (spans: readonly ReceivedSpan[]): void => {
  for (const span of spans.slice(1)) {
    const parent = spans.find(({ spanId }) => spanId === span.parentId) as ReceivedSpan
    expect(span.startNs >= parent.startNs && span.endNs <= parent.endNs).toBe(true)
  }
}

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1))
}

beforeAll(async () => {
  folder = newFolder()
  stub = startScreenerStub({ hostname: '127.0.0.1', port: 0 })
  collector = startCollector(freePort())
  const config = join(folder, 'config.json')
  const screener = {
    url: `${stub.url}/screen`,
    reach: 'loopback',
    method: 'POST',
    body: { address: `\${address}`, chain: `\${chain}` },
    answer: { address: '/address', flagged: '/flagged', score: '/score', categories: '/categories' },
    'cache-seconds': 0,
  }
  const settings = { 'tracing-url': collector.url, 'tracing-sample': 0, screeners: { stub: screener } }
  writeFileSync(config, JSON.stringify(settings))
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_CONFIG: config } })
  const command = async (...words: string[]): Promise<string> => {
    const environment = { COUNTERSIGN_DATA_DIR: service.dataDirectory, COUNTERSIGN_CONFIG: config }
    const { stdout, stderr } = await runCountersign(environment, ...words)
    expect(stderr).toBe('')
    return stdout
  }
  const policy = (await command('policy', 'list', '--quiet')).trim()
  writeFileSync(join(folder, 'policy.yaml'), POLICY)
  await command('policy', 'apply', join(folder, 'policy.yaml'), '--policy', policy)
  await until(async () => ((await (await attest()).json()) as { policy_name: string }).policy_name === 'Screened')
}, PATIENCE_MS)
afterAll(async () => {
  await service.stop()
  await collector.stop()
  await stub.stop()
}, PATIENCE_MS)

describe('a traced attestation', () => {
  test('has spans of its stages in order, below the span of the caller', PATIENCE_MS, async () => {
    expect((await attest({}, sampled())).status).toBe(200)
    const spans = await spansUnder(PARENT_ID)
    const [root] = spans
    const parentName = ({ parentId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentId)?.name
    expect(spans.map((span) => `${span.name} < ${parentName(span) ?? ''}`)).toEqual([
      'POST /v2/attestation < ',
      'key < POST /v2/attestation',
      'front < POST /v2/attestation',
      'policy < POST /v2/attestation',
      'facts < POST /v2/attestation',
      'queue < POST /v2/attestation',
      'worker < POST /v2/attestation',
      'screener < facts',
      'evaluate < worker',
      'sign < worker',
      'record < worker',
    ])
    expect(root?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v2/attestation',
      'http.response.status_code': 200,
      'countersign.chain': 'base',
      'countersign.verdict': 'compliant',
      'countersign.policy.revision': expect.stringMatching(/^[a-z]+_[0-9A-Za-z]+$/),
    })
    expect(spans.find(({ name }) => name === 'screener')?.attributes).toEqual({
      'countersign.fact.source': 'stub',
      'countersign.fact.answered': true,
    })
    for (const span of spans) {
      expect(span).toMatchObject({ traceId: TRACE_ID, failed: false, kind: span === root ? 2 : 1 })
      expect(span.endNs >= span.startNs).toBe(true)
    }
    expectNested(spans)
    expect(Math.abs(Number(root?.startNs) / 1e6 - Date.now())).toBeLessThan(PATIENCE_MS)
    expect(collector.resources.at(-1)).toMatchObject({ 'service.name': 'countersign' })
  })

  test('does not contain the key, wallet, body or id of the caller', PATIENCE_MS, async () => {
    const data = `0xa9059cbb${'beef'.repeat(16)}`
    const headers = { ...sampled('00000000000000aa'), 'x-request-id': REQUEST_ID, 'idempotency-key': 'order-4711' }
    const response = await attest({ data, msg_value: '123456789', user_ip: USER_IP }, headers)
    const answer = (await response.json()) as { attestation: { uuid: string; signature: string } }
    const spans = await spansUnder('00000000000000aa')
    expect(spans.filter(({ name }) => name === 'idempotency')).toHaveLength(2)
    const { uuid, signature } = answer.attestation
    const { ATTESTATION_API_KEY: key = '', VERIFICATION_HASH: hash = '' } = service.quickstart
    expect(key.length).toBeGreaterThan(20)
    const bytes = Buffer.concat(collector.bodies)
    const traced = bytes.toString('latin1').toLowerCase()
    expect(bytes.includes(Buffer.from(WALLET.slice(2), 'hex'))).toBe(false)
    const sent = [WALLET, key, key.slice(9, 20), data, '123456789', USER_IP, REQUEST_ID, 'order-4711']
    sent.push(uuid, signature, hash, 'demo')
    expect(sent.filter((text) => text === '' || traced.includes(text.toLowerCase().replace(/^0x/, '')))).toEqual([])
  })

  test('requires a valid key, the caller’s sampled flag and a valid header', PATIENCE_MS, async () => {
    const wrongKey = await attest({}, { ...sampled('00000000000000b1'), 'x-api-key': 'csa_live_unknown' })
    expect(wrongKey.status).toBe(401)
    await attest({}, sampled('00000000000000b2', '00'))
    await attest({}, { traceparent: `00-${TRACE_ID}-00000000000000b3` })
    expect((await attest({ chain: 'nowhere' }, sampled('00000000000000b4'))).status).toBe(400)
    // Traces are sent in order.
    const [refused] = await spansUnder('00000000000000b4')
    expect(refused?.attributes).toMatchObject({ 'http.response.status_code': 400, 'error.type': expect.any(String) })
    const ids = collector.spans.map(({ parentId }) => parentId)
    expect(ids.filter((id) => /^0{14}b[123]$/.test(id))).toEqual([])
  })
})

describe('a traced batch', () => {
  const batch = (spanId: string, accept: string): Promise<Response> => {
    const one = { from: WALLET, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'] }
    const requests = [{ ...one, idempotency_key: `key-${spanId}` }, { ...one, chain: 'nowhere' }, one]
    const key = service.quickstart['ATTESTATION_API_KEY'] ?? ''
    const headers = { 'x-api-key': key, accept, 'content-type': 'application/json', ...sampled(spanId) }
    return fetch(`${service.url}/v2/attestations`, { method: 'POST', headers, body: JSON.stringify({ requests }) })
  }

  test.each([
    ['application/json', '00000000000000c1'],
    ['application/x-ndjson', '00000000000000c2'],
  ])('has the spans of its elements, with the response type %s', PATIENCE_MS, async (accept, spanId) => {
    const response = await batch(spanId, accept)
    expect(response.status).toBe(200)
    const statuses = [...(await response.text()).matchAll(/"index":\d,"status":(\d+)/g)].map(([, status]) => status)
    expect(statuses).toEqual(['200', '400', '200'])
    const spans = await spansUnder(spanId)
    const [root] = spans as [ReceivedSpan]
    const below = (parent: ReceivedSpan): string[] =>
      spans.filter(({ parentId }) => parentId === parent.spanId).map(({ name }) => name)
    expect(root.attributes).toMatchObject({ 'countersign.batch.elements': 3, 'http.response.status_code': 200 })
    expect(below(root)).toEqual(['key', 'front', 'element', 'element', 'element'])
    const elements = spans.filter(({ name }) => name === 'element')
    expect(elements.map(below)).toEqual([
      ['front', 'idempotency', 'policy', 'facts', 'queue', 'worker', 'idempotency'],
      ['front'],
      ['front', 'policy', 'facts', 'queue', 'worker'],
    ])
    expect(elements.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([200, 400, 200])
    expect(elements[1]?.attributes['error.type']).toEqual(expect.any(String))
    for (const worker of spans.filter(({ name }) => name === 'worker')) {
      expect(below(worker)).toEqual(['evaluate', 'sign', 'record'])
    }
    expectNested(spans)
    const traced = Buffer.concat(collector.bodies).toString('latin1')
    expect(traced.includes(`key-${spanId}`)).toBe(false)
  })
})

describe('a failing collector', () => {
  test('causes traces to be dropped and logged, without delaying requests', PATIENCE_MS, async () => {
    const held = Promise.withResolvers<Response>()
    const { bodies } = collector
    const before = bodies.length
    collector.answer = () => held.promise
    await attest({}, sampled())
    await until(() => bodies.length > before, { what: 'a request to the collector' })
    const started = performance.now()
    for (let count = 0; count < 100; count++) expect((await attest({}, sampled())).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(5_000)

    const known = await metric('countersign_traces_total{outcome="dropped"}')
    collector.answer = () => new Response('<p>It works!', { headers: { 'content-type': 'text/html' } })
    held.resolve(new Response('', { status: 400 }))
    await until(async () => (await metric('countersign_traces_total{outcome="dropped"}')) >= known + 101)
    collector.answer = null
    expect((await attest({}, sampled('00000000000000d1'))).status).toBe(200)
    await spansUnder('00000000000000d1')
    await service.logLine(({ message }) => message === 'resumed sending traces to the collector')
    const message = 'could not send traces to the collector; will drop traces while the buffer is full'
    // One line per kind of failure.
    expect(service.output().stderr.split(message)).toHaveLength(3)
  })
})

test(
  'a service without workers has the same stages, and sends its last traces when it stops',
  PATIENCE_MS,
  async () => {
    const own = await startService({
      environment: {
        COUNTERSIGN_PROCESSES: '1',
        COUNTERSIGN_WORKERS: '0',
        COUNTERSIGN_TRACING_URL: `${collector.url}/v1/traces`,
        COUNTERSIGN_TRACING_SAMPLE: '1',
      },
    })
    const body = { from: WALLET, chain: 'base', verification_hash: own.quickstart['VERIFICATION_HASH'] }
    expect((await own.attest(body)).status).toBe(200)
    expect(await own.stop()).toBe(0)
    // Spans of the other service, which have one trace id, may still arrive.
    const names = collector.spans.filter(({ traceId }) => traceId !== TRACE_ID).map(({ name }) => name)
    const stages = ['key', 'front', 'policy', 'queue', 'worker', 'evaluate', 'sign', 'record']
    expect(names).toEqual(['POST /v2/attestation', ...stages])
  },
)
