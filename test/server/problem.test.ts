import { describe, expect, test } from 'bun:test'
import {
  ChainUnsupportedError,
  CountersignError,
  DeadlineExceededError,
  DependencyUnavailableError,
  ERRORS,
  type ErrorCode,
  FieldMissingError,
  PolicyMissingError,
} from '../../src/domain/errors.ts'
import { KeyUnusableError } from '../../src/server/authenticate.ts'
import { problemType, toProblem } from '../../src/server/problem.ts'
import { RateExceededError } from '../../src/server/rate-limit.ts'
import { BEARER_CHALLENGE, jsonResponse, problemResponse } from '../../src/server/response.ts'
import { fromRouterError, MethodNotAllowedError } from '../../src/server/route-errors.ts'
import { SECURITY_HEADERS } from '../../src/server/security-headers.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]

describe('a problem', () => {
  test('has every field, and its text three times', async () => {
    const response = problemResponse(new FieldMissingError('from'), 'trade-42')
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.headers.get('x-request-id')).toBe('trade-42')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await response.json()).toEqual({
      type: 'urn:countersign:problem:missing-required-field',
      title: 'Missing required field',
      status: 400,
      detail: 'Missing required field: from',
      code: 'MISSING_REQUIRED_FIELD',
      request_id: 'trade-42',
      message: 'Missing required field: from',
      error: 'Missing required field: from',
    })
  })

  test.each(CODES)('%s has a status, a type and a title of its own', async (code) => {
    const response = problemResponse(new CountersignError(code, 'text'), 'r')
    const body = (await response.json()) as Record<string, unknown>
    expect(response.status).toBe(ERRORS[code].status)
    expect(body['status']).toBe(ERRORS[code].status)
    expect(body['code']).toBe(code)
    expect(body['type']).toBe(problemType(code))
    expect(body['type']).toMatch(/^urn:countersign:problem:[a-z-]+$/)
    expect(body['title']).toMatch(/^[A-Z].+/)
    expect(response.headers.has('retry-after')).toBe([429, 503].includes(ERRORS[code].status))
    expect(response.headers.has('www-authenticate')).toBe(ERRORS[code].status === 401)
  })

  test("the specification's texts", () => {
    const detail = (error: unknown): string => toProblem(error).detail
    expect(detail(new PolicyMissingError('address', '0xAb'))).toBe(
      'request validation failed: failed to get policy ID for address 0xAb',
    )
    expect(detail(new FieldMissingError('msg_value'))).toBe('Missing required field: msg_value')
    expect(detail(new ChainUnsupportedError('5'))).toBe('unsupported chain ID 5')
    expect(toProblem(new DeadlineExceededError()).status).toBe(408)
  })

  test('Retry-After is in whole seconds, rounded up', () => {
    const error = new DependencyUnavailableError('down', { retryAfterSeconds: 1.2 })
    expect(problemResponse(error, 'r').headers.get('retry-after')).toBe('2')
  })

  test('401 carries a challenge', () => {
    const error = new KeyUnusableError()
    expect(problemResponse(error, 'r').headers.get('www-authenticate')).toBe('ApiKey realm="countersign"')
    expect(problemResponse(error, 'r', { challenge: BEARER_CHALLENGE }).headers.get('www-authenticate')).toBe(
      'Bearer realm="countersign"',
    )
  })

  test('429 carries the state of the limit', () => {
    const { headers } = problemResponse(
      new RateExceededError({ requestsPerSecond: 2, limit: 20, remaining: 0, resetSeconds: 9 }, 3),
      'r',
    )
    expect(headers.get('retry-after')).toBe('3')
    expect(headers.get('ratelimit-limit')).toBe('20')
    expect(headers.get('ratelimit-remaining')).toBe('0')
    expect(headers.get('ratelimit-reset')).toBe('9')
    expect(headers.get('ratelimit-policy')).toBe('2;w=1;burst=20')
  })

  test('any other problem tells the limit where one applies', () => {
    const rateLimit = { requestsPerSecond: 2, limit: 20, remaining: 4, resetSeconds: 9 }
    expect(problemResponse(new FieldMissingError('to'), 'r', { rateLimit }).headers.get('ratelimit-remaining')).toBe(
      '4',
    )
    expect(problemResponse(new FieldMissingError('to'), 'r', { rateLimit: null }).headers.has('ratelimit-limit')).toBe(
      false,
    )
  })
})

describe('an error that is not ours', () => {
  const SECRET = 'postgres://admin:hunter2@db'
  const hostile = Object.assign(new Error(SECRET), { status: 418, code: 'SECRET', detail: SECRET })

  test.each<[string, unknown]>([
    ['an error', new TypeError(SECRET, { cause: SECRET })],
    ['one that looks like ours', hostile],
    ['a text', SECRET],
    ['nothing', undefined],
    ['null', null],
    ['an object', { detail: SECRET, code: 'NOT_FOUND', status: 404 }],
  ])('%s: 500 with a fixed text; only report sees it', async (_name, error) => {
    const reports: unknown[][] = []
    const response = problemResponse(error, 'r', { report: (...parameters) => reports.push(parameters) })
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(text).code).toBe('INTERNAL')
    expect(text).not.toContain('hunter2')
    expect(reports).toEqual([[error, 'r', undefined]])
  })

  test('every error is reported, whether it is a failure of ours or a refusal', () => {
    for (const code of CODES) {
      const reports: unknown[] = []
      const error = new CountersignError(code, 'told')
      problemResponse(error, 'r', { report: (reported) => reports.push(reported) })
      expect({ code, reports }).toEqual({ code, reports: [error] })
    }
  })

  test('the cause of an outage is reported and not told', async () => {
    const reports: unknown[] = []
    const error = new DependencyUnavailableError('the store is down', { cause: new Error(SECRET) })
    const response = problemResponse(error, 'r', { report: (reported) => reports.push(reported) })
    expect(await response.text()).not.toContain('hunter2')
    expect(reports).toEqual([error])
  })

  test('a report names the caller’s trace', () => {
    const traces: unknown[] = []
    const requestHeaders = new Headers({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })
    problemResponse(new Error('x'), 'r', { requestHeaders, report: (_error, _id, traceId) => traces.push(traceId) })
    expect(traces).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736'])
  })
})

describe("the router's own refusals", () => {
  test('an unknown path is 404, a wrong method 405 with Allow', () => {
    expect(toProblem(fromRouterError('NOT_FOUND', new Error('x'))).code).toBe('NOT_FOUND')
    const response = problemResponse(new MethodNotAllowedError('POST'), 'r')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('what it says of the input is not repeated', () => {
    for (const code of ['VALIDATION', 'INVALID_COOKIE_SIGNATURE', 'INVALID_FILE_TYPE']) {
      const problem = toProblem(fromRouterError(code, new Error('found "csa_live_canary"')))
      expect(problem).toMatchObject({ code: 'INVALID_REQUEST', status: 400 })
      expect(problem.detail).not.toContain('canary')
    }
    expect(toProblem(fromRouterError('PARSE', new Error('x'))).code).toBe('MALFORMED_JSON')
  })

  test('an error of ours passes, anything else is 500', () => {
    const own = new FieldMissingError('to')
    expect(fromRouterError('UNKNOWN', own)).toBe(own)
    expect(fromRouterError(500, own)).toBe(own)
    expect(toProblem(fromRouterError('INTERNAL_SERVER_ERROR', new Error('x'))).code).toBe('INTERNAL')
  })
})

describe('a success', () => {
  test('is JSON, named, not stored and not sniffed', async () => {
    const response = jsonResponse('{"a":1}', 'trade-42')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-type': 'application/json',
      ...SECURITY_HEADERS,
      'x-request-id': 'trade-42',
    })
    expect(await response.text()).toBe('{"a":1}')
  })

  test('tells the rate limit, a replay and another status', () => {
    const response = jsonResponse('{}', 'r', {
      status: 201,
      replayed: true,
      rateLimit: { requestsPerSecond: 1_000, limit: 2_000, remaining: 1_999, resetSeconds: 1 },
    })
    expect(response.status).toBe(201)
    expect(response.headers.get('idempotency-replayed')).toBe('true')
    expect(response.headers.get('ratelimit-limit')).toBe('2000')
    expect(response.headers.get('ratelimit-remaining')).toBe('1999')
    expect(response.headers.get('ratelimit-reset')).toBe('1')
    const plain = jsonResponse('{}', 'r', { rateLimit: null, replayed: false })
    expect(plain.headers.has('ratelimit-limit') || plain.headers.has('idempotency-replayed')).toBe(false)
  })
})
