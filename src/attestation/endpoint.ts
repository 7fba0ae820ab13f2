// The way every request of interface A takes, in the order of the house: request id, deadline, key, rate limit, body,
// idempotency, use case, answer. One function for both endpoints, so that neither forgets a step.
import { randomUUID } from 'node:crypto'
import type { Authenticator } from '../http/authenticate.ts'
import type { Deadline, Deadlines } from '../http/deadline.ts'
import type { IdempotencyGuard } from '../http/idempotency.ts'
import { readJsonBody } from '../http/json-body.ts'
import { toProblem } from '../http/problem.ts'
import type { RateLimiter, RateLimitState } from '../http/rate-limit.ts'
import type { RequestIdSource } from '../http/request-id.ts'
import { jsonResponse, problemResponse } from '../http/response.ts'
import { type JsonObject, parseStrictJsonObject } from '../http/strict-json.ts'
import type { DecisionKind, Metrics } from '../telemetry/metrics.ts'
import type { CallAnswer, CallContext } from './job.ts'

export interface EndpointDependencies {
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly deadlines: Deadlines
  readonly idempotent: IdempotencyGuard
  readonly requestIds: RequestIdSource
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordDecision' | 'recordError'>
  /** Told of errors that are not answers by design, with the request id. Must not throw. */
  readonly report: (error: unknown, requestId: string) => void
}

export interface EndpointDefinition<Decoded> {
  readonly kind: DecisionKind
  /** The path, as metrics name it and as idempotency keys are bound to it. */
  readonly route: string
  readonly decode: (body: JsonObject) => Decoded
  readonly perform: (request: Decoded, context: CallContext) => Promise<CallAnswer>
}

export type Endpoint = (request: Request) => Promise<Response>

export const createEndpoint = <Decoded>(
  dependencies: EndpointDependencies,
  { kind, route, decode, perform }: EndpointDefinition<Decoded>,
): Endpoint => {
  const { authenticator, limiter, deadlines, idempotent, requestIds, monotonicMs, metrics, report } = dependencies
  const record = metrics.route('POST', route)

  return async (request) => {
    const startedMs = monotonicMs()
    const { headers } = request
    const requestId = requestIds(headers.get('x-request-id'))
    let rateLimit: RateLimitState | null = null
    const handle = async ({ deadlineMs }: Deadline): Promise<Response> => {
      const found = authenticator.authenticate(headers.get('x-api-key'), 'attestation')
      const principal = found instanceof Promise ? await found : found
      const { organizationId, keyId } = principal
      rateLimit = limiter.take(principal)
      const body = await readJsonBody(request)
      const decoded = decode(parseStrictJsonObject(body))
      const final = await idempotent(
        { organizationId, keyId, header: headers.get('idempotency-key'), route, body, uuid: randomUUID() },
        async (uuid) => {
          const answer = await perform(decoded, { organizationId, keyId, requestId, uuid, deadlineMs })
          metrics.recordDecision(kind, answer.chainName, answer.compliant)
          return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
        },
      )
      return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
    }

    try {
      const response = await deadlines.watch(handle)
      record(200, monotonicMs() - startedMs)
      return response
    } catch (error) {
      const { status, code } = toProblem(error)
      record(status, monotonicMs() - startedMs)
      metrics.recordError(code)
      return problemResponse(error, requestId, { report, rateLimit })
    }
  }
}
