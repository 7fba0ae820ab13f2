// Problem responses (RFC 9457): fields, headers, unexpected errors, errors of the router; and success responses.
import { describe, expect, test } from 'bun:test'
import {
  ChainUnsupportedError,
  CountersignError,
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
  test('has every field, and its text in three fields', async () => {
    const response = problemResponse(new FieldMissingError('from'), 'trade-42')
    const text = 'Missing required field: from'
    expect(response.status).toBe(400)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/problem+json',
      'x-request-id': 'trade-42',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await response.json()).toEqual({
      type: 'urn:countersign:problem:missing-required-field',
      title: 'Missing required field',
      status: 400,
      detail: text,
      code: 'MISSING_REQUIRED_FIELD',
      request_id: 'trade-42',
      message: text,
      error: text,
    })
  })

  test.each(CODES)('%s has its own status, type and title', async (code) => {
    const { status } = ERRORS[code]
    const response = problemResponse(new CountersignError(code, 'text'), 'r')
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      status,
      code,
      type: problemType(code),
      title: expect.stringMatching(/^[A-Z]./),
    })
    expect(problemType(code)).toMatch(/^urn:countersign:problem:[a-z-]+$/)
    expect(response.headers.has('retry-after')).toBe([429, 503].includes(status))
    expect(response.headers.has('www-authenticate')).toBe(status === 401)
  })

  test.each<[Error, string]>([
    [new PolicyMissingError('address', '0xAb'), 'request validation failed: failed to get policy ID for address 0xAb'],
    [new FieldMissingError('msg_value'), 'Missing required field: msg_value'],
    [new ChainUnsupportedError('5'), 'unsupported chain ID 5'],
  ])('has the text of the published API: %s', (error, detail) => expect(toProblem(error).detail).toBe(detail))

  test('has Retry-After in whole seconds, rounded up', () => {
    const error = new DependencyUnavailableError('down', { retryAfterSeconds: 1.2 })
    expect(problemResponse(error, 'r').headers.get('retry-after')).toBe('2')
  })

  test('with 401 has a challenge', () => {
    const challengeOf = (options = {}) =>
      problemResponse(new KeyUnusableError(), 'r', options).headers.get('www-authenticate')
    expect(challengeOf()).toBe('ApiKey realm="countersign"')
    expect(challengeOf({ challenge: BEARER_CHALLENGE })).toBe('Bearer realm="countersign"')
  })

  const rateLimit = { requestsPerSecond: 2, limit: 20, remaining: 0, resetSeconds: 9 }
  test('with 429 has the state of the limit', () => {
    expect(Object.fromEntries(problemResponse(new RateExceededError(rateLimit, 3), 'r').headers)).toMatchObject({
      'retry-after': '3',
      'ratelimit-limit': '20',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '9',
      'ratelimit-policy': '2;w=1;burst=20',
    })
  })

  test('with another status has the state of the limit if there is one', () => {
    const headersOf = (options: object) => problemResponse(new FieldMissingError('to'), 'r', options).headers
    expect(headersOf({ rateLimit: { ...rateLimit, remaining: 4 } }).get('ratelimit-remaining')).toBe('4')
    expect(headersOf({ rateLimit: null }).has('ratelimit-limit')).toBe(false)
  })
})

describe('an unexpected error', () => {
  const SECRET = 'postgres://admin:hunter2@db'
  const hostile = Object.assign(new Error(SECRET), { status: 418, code: 'SECRET', detail: SECRET })

  test.each<[string, unknown]>([
    ['an error', new TypeError(SECRET, { cause: SECRET })],
    ['an error with the fields of a typed error', hostile],
    ['a text', SECRET],
    ['undefined', undefined],
    ['null', null],
    ['an object', { detail: SECRET, code: 'NOT_FOUND', status: 404 }],
  ])('that is %s yields 500 with a fixed text, and is reported', async (_name, error) => {
    const reports: unknown[][] = []
    const response = problemResponse(error, 'r', { report: (...parameters) => reports.push(parameters) })
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(text).code).toBe('INTERNAL')
    expect(text).not.toContain('hunter2')
    expect(reports).toEqual([[error, 'r', undefined]])
  })

  test.each(CODES)('or a typed error is reported: %s', (code) => {
    const reports: unknown[] = []
    const error = new CountersignError(code, 'text')
    problemResponse(error, 'r', { report: (reported) => reports.push(reported) })
    expect(reports).toEqual([error])
  })

  test('that is the cause of an outage is hidden', async () => {
    const error = new DependencyUnavailableError('the store is down', { cause: new Error(SECRET) })
    expect(await problemResponse(error, 'r').text()).not.toContain('hunter2')
  })

  test('is reported with the trace id of the caller', () => {
    const traces: unknown[] = []
    const requestHeaders = new Headers({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })
    problemResponse(new Error('x'), 'r', { requestHeaders, report: (_error, _id, traceId) => traces.push(traceId) })
    expect(traces).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736'])
  })
})

describe('an error of the router', () => {
  test.each([
    ['NOT_FOUND', 'NOT_FOUND'],
    ['VALIDATION', 'INVALID_REQUEST'],
    ['INVALID_COOKIE_SIGNATURE', 'INVALID_REQUEST'],
    ['INVALID_FILE_TYPE', 'INVALID_REQUEST'],
    ['PARSE', 'MALFORMED_JSON'],
    ['INTERNAL_SERVER_ERROR', 'INTERNAL'],
  ] as const)('%s becomes %s without its text', (routerCode, code) => {
    const problem = toProblem(fromRouterError(routerCode, new Error('found "csa_live_canary"')))
    expect([problem.code, problem.status]).toEqual([code, ERRORS[code].status])
    expect(problem.detail).not.toContain('canary')
  })

  test.each(['UNKNOWN', 500] as const)('%p that is typed stays the same', (routerCode) => {
    const own = new FieldMissingError('to')
    expect(fromRouterError(routerCode, own)).toBe(own)
  })

  test('about the method yields 405 with Allow', () => {
    const response = problemResponse(new MethodNotAllowedError('POST'), 'r')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('a success', () => {
  test('is JSON with security headers', async () => {
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

  test('can have rate-limit headers, a replay header and another status', () => {
    const rateLimit = { requestsPerSecond: 1_000, limit: 2_000, remaining: 1_999, resetSeconds: 1 }
    const { status, headers } = jsonResponse('{}', 'r', { status: 201, replayed: true, rateLimit })
    expect(status).toBe(201)
    expect(Object.fromEntries(headers)).toMatchObject({
      'idempotency-replayed': 'true',
      'ratelimit-limit': '2000',
      'ratelimit-remaining': '1999',
      'ratelimit-reset': '1',
    })
    const plain = jsonResponse('{}', 'r', { rateLimit: null, replayed: false })
    expect(plain.headers.has('ratelimit-limit') || plain.headers.has('idempotency-replayed')).toBe(false)
  })
})
