// Headers are the most expensive part of a small response, so only necessary headers are set.
import type { CountersignError } from '../domain/errors.ts'
import { problemBody, toProblem } from './problem.ts'
import { RateExceededError, type RateLimitState } from './rate-limit.ts'
import { MethodNotAllowedError } from './route-errors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { parseTraceParent } from './trace-context.ts'

/** Challenges of a 401, required by RFC 9110 §11.6.1. `ApiKey` means the `x-api-key` header. */
export const API_KEY_CHALLENGE = 'ApiKey realm="countersign"'
export const BEARER_CHALLENGE = 'Bearer realm="countersign"'

export const setRateLimit = (headers: Headers | Record<string, string>, state: RateLimitState): void => {
  const set = (name: string, value: number | string): void => {
    if (headers instanceof Headers) headers.set(name, String(value))
    else headers[name] = String(value)
  }
  set('ratelimit-limit', state.limit)
  set('ratelimit-remaining', state.remaining)
  set('ratelimit-reset', state.resetSeconds)
  set('ratelimit-policy', `${state.requestsPerSecond};w=1;burst=${state.limit}`)
}

export interface JsonResponseOptions {
  readonly rateLimit?: RateLimitState | null
  readonly status?: number
  /** True for the stored response of an earlier request with the same idempotency key. */
  readonly replayed?: boolean
}

/** Copying a Headers object takes half the time of a plain object. Must not be referenced by other code. */
const JSON_HEADERS = new Headers({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  ...SECURITY_HEADERS,
})

const JSON_OK: ResponseInit = { status: 200, headers: JSON_HEADERS }

/** @param body complete JSON text */
export const jsonResponse = (body: string, requestId: string, options: JsonResponseOptions = {}): Response => {
  const { rateLimit, status, replayed = false } = options
  const response = new Response(body, status === undefined ? JSON_OK : { status, headers: JSON_HEADERS })
  const { headers } = response
  headers.set('x-request-id', requestId)
  if (rateLimit !== undefined && rateLimit !== null) setRateLimit(headers, rateLimit)
  if (replayed) headers.set('idempotency-replayed', 'true')
  return response
}

export interface ProblemResponseOptions {
  /** Called for every error; with a trace id for service errors (500 and 503). Must not throw. */
  report?(error: unknown, requestId: string, traceId?: string): void
  readonly requestHeaders?: Headers
  /** The `WWW-Authenticate` header of a 401. Defaults to API_KEY_CHALLENGE. */
  readonly challenge?: string
  readonly rateLimit?: RateLimitState | null
  /** Additional documented members of the body (RFC 9457 §3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/** Accepts any thrown value (RFC 9457). */
export const problemResponse = (error: unknown, requestId: string, options: ProblemResponseOptions = {}): Response => {
  const problem = toProblem(error)
  if (problem.status === 500 || problem.status === 503) {
    const trace = parseTraceParent(options.requestHeaders?.get('traceparent') ?? null)
    options.report?.(error, requestId, trace?.traceId)
  } else options.report?.(error, requestId)
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    'cache-control': 'no-store',
    ...SECURITY_HEADERS,
  }
  const rateLimit = error instanceof RateExceededError ? error.state : options.rateLimit
  if (rateLimit !== undefined && rateLimit !== null) setRateLimit(headers, rateLimit)
  if (problem.retryAfterSeconds !== null) headers['retry-after'] = String(Math.ceil(problem.retryAfterSeconds))
  if (error instanceof MethodNotAllowedError) headers['allow'] = error.allow
  if (problem.status === 401) headers['www-authenticate'] = options.challenge ?? API_KEY_CHALLENGE
  return new Response(JSON.stringify({ ...problemBody(problem, requestId), ...options.members }), {
    status: problem.status,
    headers,
  })
}

interface ProblemTemplate {
  readonly init: ResponseInit
  /** Text of the body before and after the request id. */
  readonly before: string
  readonly after: string
}

const templates = new WeakMap<CountersignError, ProblemTemplate>()
const ID_PLACE = 'request-id'

const templateOf = (error: CountersignError): ProblemTemplate => {
  const problem = toProblem(error)
  const [before = '', after = ''] = JSON.stringify(problemBody(problem, ID_PLACE)).split(JSON.stringify(ID_PLACE))
  const { headers } = problemResponse(error, ID_PLACE)
  const template = { init: { status: problem.status, headers }, before, after }
  templates.set(error, template)
  return template
}

/** Like problemResponse, at a third of the cost, for an error shared by many requests. Reports nothing. */
export const repeatedProblemResponse = (error: CountersignError, requestId: string): Response => {
  const { init, before, after } = templates.get(error) ?? templateOf(error)
  const response = new Response(before + JSON.stringify(requestId) + after, init)
  response.headers.set('x-request-id', requestId)
  return response
}
