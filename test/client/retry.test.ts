// The errors after which a call is retried, the waits before each retry, and the fields that stay the same. Tests
// record waits and do not sleep.
import { describe, expect, test } from 'bun:test'
import { completeRetryPolicy, parseRetryAfter, retryDelayMs } from '../../src/client/backoff.ts'
import { createCountersignClient } from '../../src/client/client.ts'
import { AnswerInvalidError, RequestRefusedError, ServiceUnreachableError } from '../../src/client/errors.ts'
import type { Fetch } from '../../src/client/request.ts'
import { createTransport } from '../../src/client/transport.ts'
import { ATTESTER, compliant, registered, WALLET } from './support/answers.ts'
import { json, problem, startRecordingServer } from './support/recording-server.ts'

/** A transport with maximum jitter, whose waits are recorded and end immediately. */
const transportTo = (url: string, fetchImplementation: Fetch = fetch, tries = 6, random = () => 1) => {
  const waits: number[] = []
  const transport = createTransport({
    fetch: fetchImplementation,
    timeoutMs: 5_000,
    retry: completeRetryPolicy({ tries }),
    random,
    wait: async (delayMs) => void waits.push(delayMs),
  })
  const call = () =>
    transport(
      { url, headers: { 'x-api-key': 'csa_test_key' } },
      { method: 'POST', path: '/v2/attestation', body: { from: WALLET }, idempotencyKey: 'same' },
    )
  return { call, waits }
}
const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

describe('a call', () => {
  test.each([
    [408, 'DEADLINE_EXCEEDED'],
    [429, 'RATE_LIMITED'],
    [503, 'OVERLOADED'],
    [503, 'SHUTTING_DOWN'],
    [409, 'IDEMPOTENCY_IN_FLIGHT'],
    [502, 'BAD_GATEWAY'],
    [504, 'GATEWAY_TIMEOUT'],
  ])('is retried after %d %s, with the same key, body and request id', async (status, code) => {
    await using server = startRecordingServer((_, index) => (index < 2 ? problem(status, code) : json(compliant)))
    const { call, waits } = transportTo(server.url)
    expect((await call()).body).toEqual(compliant)
    expect(waits).toEqual([250, 500])
    const sent = server.received.map(({ headers, body }) => [
      headers.get('idempotency-key'),
      headers.get('x-request-id'),
      body,
    ])
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map((entry) => JSON.stringify(entry))).size).toBe(1)
  })

  test.each([
    [400, 'INVALID_FIELD'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN_SCOPE'],
    [404, 'NOT_FOUND'],
    [409, 'SESSION_CONFLICT'],
    [422, 'IDEMPOTENCY_MISMATCH'],
    [500, 'INTERNAL'],
  ])('is not retried after %d %s', async (status, code) => {
    await using server = startRecordingServer(() => problem(status, code))
    const { call, waits } = transportTo(server.url)
    expect(await outcome(call())).toBeInstanceOf(RequestRefusedError)
    expect([server.received.length, waits]).toEqual([1, []])
  })

  test('is not retried after a response that is not JSON', async () => {
    await using server = startRecordingServer(() => new Response('{'))
    const { call, waits } = transportTo(server.url)
    expect(await outcome(call())).toBeInstanceOf(AnswerInvalidError)
    expect([server.received.length, waits]).toEqual([1, []])
  })

  test('waits twice as long each time, up to the maximum, and fails with the last refusal', async () => {
    await using server = startRecordingServer(() => problem(503, 'OVERLOADED'))
    const { call, waits } = transportTo(server.url, fetch, 9)
    const error = (await outcome(call())) as RequestRefusedError
    expect(error.code).toBe('OVERLOADED')
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000])
    expect(server.received).toHaveLength(9)
  })

  test('waits for Retry-After plus jitter', async () => {
    await using server = startRecordingServer((_, index) =>
      index === 0 ? problem(429, 'RATE_LIMITED', { 'retry-after': '3' }) : json(compliant),
    )
    const { call, waits } = transportTo(server.url)
    await call()
    expect(waits).toEqual([3_250])
  })

  test('fails immediately if Retry-After exceeds the longest wait', async () => {
    await using server = startRecordingServer(() => problem(429, 'RATE_LIMITED', { 'retry-after': '3600' }))
    const { call, waits } = transportTo(server.url)
    expect(((await outcome(call())) as RequestRefusedError).retryAfterSeconds).toBe(3600)
    expect(waits).toEqual([])
  })

  test('polls beyond its maximum number of attempts while an earlier attempt with the same key is in flight', async () => {
    await using server = startRecordingServer(() => {
      const leftMs = 30_000 - waits.reduce((sum, waitMs) => sum + waitMs, 0)
      return leftMs <= 0
        ? json(compliant)
        : problem(409, 'IDEMPOTENCY_IN_FLIGHT', { 'retry-after': String(Math.ceil(leftMs / 1_000)) })
    })
    const { call, waits } = transportTo(server.url, fetch, 2, () => 0)
    expect((await call()).body).toEqual(compliant)
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 5_000])
  })

  test('fails if an earlier attempt is in flight for longer than the longest wait', async () => {
    await using server = startRecordingServer(() => problem(409, 'IDEMPOTENCY_IN_FLIGHT', { 'retry-after': '30' }))
    const { call, waits } = transportTo(server.url)
    expect(((await outcome(call())) as RequestRefusedError).code).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(waits.reduce((sum, waitMs) => sum + waitMs)).toBeLessThanOrEqual(60_000)
  })

  test('is retried after a network failure, and then reports the service as unreachable', async () => {
    let calls = 0
    const failing: Fetch = () => {
      calls += 1
      return Promise.reject(new TypeError('connection refused'))
    }
    const { call, waits } = transportTo('http://127.0.0.1:1', failing, 3)
    const error = (await outcome(call())) as ServiceUnreachableError
    expect(error).toBeInstanceOf(ServiceUnreachableError)
    expect([error.code, calls, waits]).toEqual(['SERVICE_UNREACHABLE', 3, [250, 500]])
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is retried if the response is interrupted', async () => {
    let calls = 0
    const cutting: Fetch = async () => {
      calls += 1
      if (calls > 1) return json(compliant)
      return new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode('{"is_'))
            controller.error(new Error('reset'))
          },
        }),
      )
    }
    const { call } = transportTo('http://127.0.0.1:1', cutting)
    expect((await call()).body).toEqual(compliant)
    expect(calls).toBe(2)
  })
})

describe('a client', () => {
  const clientOf = (url: string, options: object = {}) =>
    createCountersignClient({
      attestationUrl: url,
      attestationApiKey: 'csa_test_key',
      identityUrl: url,
      identityApiKey: 'csi_test_key',
      retry: { baseDelayMs: 0 },
      ...options,
    })

  test('creates an idempotency key per call, and sends it with every attempt', async () => {
    await using server = startRecordingServer((_, index) =>
      index % 2 === 0 ? problem(503, 'OVERLOADED') : json(registered, 201),
    )
    const client = clientOf(server.url)
    await client.register('individual')
    await client.register('individual')
    const keys = server.received.map(({ headers }) => headers.get('idempotency-key'))
    expect([keys.length, keys[0] === keys[1], keys[2] === keys[3], new Set(keys).size]).toEqual([4, true, true, 2])
  })

  test('abandons an attempt that exceeds the timeout, and retries', async () => {
    const released = Promise.withResolvers<Response>()
    await using server = startRecordingServer((_, index) => (index === 0 ? released.promise : json(compliant)))
    const client = clientOf(server.url, { timeoutMs: 50 })
    expect(await client.attest({ from: WALLET, to: ATTESTER, chain: 'base' })).toMatchObject({ isCompliant: true })
    released.resolve(json(compliant))
    expect(server.received).toHaveLength(2)
  })

  test('ends with the reason of the signal during a request, during a wait, and before the request', async () => {
    const reason = new Error('the user left')
    const request = { from: WALLET, to: ATTESTER, chain: 'base' }
    const during = new AbortController()
    const hanging = Promise.withResolvers<Response>()
    await using slow = startRecordingServer(() => {
      during.abort(reason)
      return hanging.promise
    })
    expect(await outcome(clientOf(slow.url).attest(request, { signal: during.signal }))).toBe(reason)
    hanging.resolve(json(compliant))

    const waiting = new AbortController()
    await using full = startRecordingServer(() => {
      setTimeout(() => waiting.abort(reason), 0)
      return problem(503, 'OVERLOADED', { 'retry-after': '30' })
    })
    expect(await outcome(clientOf(full.url).attest(request, { signal: waiting.signal }))).toBe(reason)
    expect(full.received).toHaveLength(1)

    await using never = startRecordingServer(() => json(compliant))
    expect(await outcome(clientOf(never.url).attest(request, { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(never.received).toHaveLength(0)
  })
})

describe('parseRetryAfter', () => {
  test('accepts only seconds and dates', () => {
    const nowMs = Date.parse('Fri, 20 Nov 2026 10:00:00 GMT')
    expect(parseRetryAfter('7', nowMs)).toBe(7)
    expect(parseRetryAfter('Fri, 20 Nov 2026 10:00:09 GMT', nowMs)).toBe(9)
    expect(parseRetryAfter('Fri, 20 Nov 2026 09:00:00 GMT', nowMs)).toBe(0)
    for (const text of [null, '', 'soon', '-1', '1e3', '1.5']) expect(parseRetryAfter(text, nowMs)).toBeNull()
  })
})

test('jitter ranges from zero to the full length of each step', () => {
  const policy = completeRetryPolicy()
  const error = new ServiceUnreachableError('x', 'id')
  expect([1, 2, 3].map((failures) => retryDelayMs(policy, failures, error, () => 0))).toEqual([0, 0, 0])
  expect([1, 2, 3].map((failures) => retryDelayMs(policy, failures, error, () => 0.5))).toEqual([125, 250, 500])
})
