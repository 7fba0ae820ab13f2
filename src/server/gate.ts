// Every request to an API endpoint goes through this function, in this order: request id, deadline, key, rate limit,
// then the endpoint's own work. Every answer and error leaves through it as well. One function for all, so that no
// endpoint omits a step.
import type { ApiKeyScope } from '../domain/api-key.ts'
import type { CountersignError } from '../domain/errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { OrganizationLatency } from '../telemetry/organization-latency.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Authenticator, Principal } from './authenticate.ts'
import type { Deadline, Deadlines } from './deadline.ts'
import { toProblem } from './problem.ts'
import type { RateLimiter, RateLimitState } from './rate-limit.ts'
import type { RefusalPacer } from './refusal-pacer.ts'
import type { RequestIdSource } from './request-id.ts'
import { problemResponse, repeatedProblemResponse } from './response.ts'
import { parseTraceParent } from './trace-context.ts'

export interface GateDependencies {
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  /** Null: no request is traced. */
  readonly tracer?: Tracer | null
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  /** Records how long a key's organization waited for each verdict. */
  readonly latency?: Pick<OrganizationLatency, 'record'>
  /** Called for every refusal and failure. Must not throw. */
  readonly report: (error: unknown, requestId: string, traceId?: string) => void
  /**
   * While true, each answer asks its client to close the connection, so that no connection is cut when the listener
   * stops.
   */
  readonly isStopping: () => boolean
  /** Shared by all refusals of a thread. */
  readonly pacer: RefusalPacer
}

export interface GateSettings {
  readonly method: string
  /** The path, as used in metrics. */
  readonly route: string
  readonly scope: ApiKeyScope
  /** Reads the key from where this interface carries it; null when there is none. */
  readonly readKey: (headers: Headers) => string | null
  /** The `WWW-Authenticate` header of a 401. */
  readonly challenge: string
  /**
   * The refusal that the request would get later anyway, or null. Called once the key is known, before the request
   * takes a token of the key's limit and before its body is read. The same error object each time, not one per request.
   */
  readonly refusal?: (principal: Principal, headers: Headers, deadlineMs: number) => CountersignError | null
  /** Whether its answers are verdicts: their durations are recorded by organization. */
  readonly decides?: boolean
}

/** A request that was let in. */
export interface AdmittedRequest {
  readonly request: Request
  readonly requestId: string
  readonly principal: Principal
  /** Null: the key has no limit. */
  readonly rateLimit: RateLimitState | null
  readonly deadline: Deadline
  /** Null: the request is not traced. */
  readonly trace?: RequestTrace | null
  /**
   * Checks the key again if any key has changed since the last check, or if that check is 250 ms old. Returns
   * synchronously when the key is cached. Throws or rejects as the gate does.
   */
  readonly confirmKey: () => Promise<void> | undefined
}

/** A key that was checked longer ago is checked again, because it may have expired. */
const KEY_AGE_MAX_MS = 250

export type Endpoint = (request: Request) => Promise<Response>

/**
 * `handle` throws any error that should be the answer: it is mapped, counted and, unless it is an expected answer,
 * reported.
 */
export type Gate = (settings: GateSettings, handle: (call: AdmittedRequest) => Promise<Response>) => Endpoint

export const createGate = (dependencies: GateDependencies): Gate => {
  const { authenticator, limiter, deadlines, requestIds, pacer, monotonicMs, metrics, report, isStopping } =
    dependencies
  const { tracer = null } = dependencies

  return ({ method, route, scope, readKey, challenge, refusal, decides = false }, handle) => {
    const latency = decides ? dependencies.latency : undefined
    const record = metrics.route(method, route)

    return (request) => {
      const startedMs = monotonicMs()
      pacer.arrived()
      const { headers } = request
      const requestId = requestIds(headers.get('x-request-id'))
      let rateLimit: RateLimitState | null = null
      let trace: RequestTrace | null = null
      let organizationId = ''

      const answer = (response: Response): Response => {
        if (isStopping()) response.headers.set('connection', 'close')
        const durationMs = monotonicMs() - startedMs
        record(response.status, durationMs)
        // A refusal is quick and no verdict. A request that is answered 408 has waited for a verdict.
        if (organizationId !== '' && (response.status === 200 || response.status === 408))
          latency?.record(organizationId, durationMs)
        trace?.end(response.status)
        return response
      }
      const failRequest = (error: unknown): Response | Promise<Response> =>
        pacer.refuse(() => {
          const { code } = toProblem(error)
          metrics.recordError(code)
          trace?.error(code)
          return answer(problemResponse(error, requestId, { report, rateLimit, challenge, requestHeaders: headers }))
        })
      const refuseEarly = (error: CountersignError): Response | Promise<Response> =>
        pacer.refuse(() => {
          metrics.recordError(error.code)
          trace?.error(error.code)
          report(error, requestId)
          return answer(repeatedProblemResponse(error, requestId))
        })

      let confirmedMs = startedMs
      // After the process was suspended, its cache is outdated until the changes are read, however recent the check.
      let confirmedChanges = authenticator.changes()
      const confirmKey = (): Promise<void> | undefined => {
        const nowMs = monotonicMs()
        const changes = authenticator.changes()
        if (changes === confirmedChanges && nowMs - confirmedMs < KEY_AGE_MAX_MS) return undefined
        const note = (): void => {
          confirmedMs = nowMs
          confirmedChanges = changes
        }
        const found = authenticator.authenticate(readKey(headers), scope)
        if (found instanceof Promise) return found.then(note)
        note()
        return undefined
      }
      const letIn = (principal: Principal, deadline: Deadline): Promise<Response> => {
        rateLimit = limiter.take(principal)
        trace?.enter('front')
        return handle({ request, requestId, principal, rateLimit, deadline, trace, confirmKey })
      }
      const admit = (principal: Principal, deadline: Deadline): CountersignError | Promise<Response> => {
        organizationId = principal.organizationId
        // The trace begins only after the key was checked: requests without a valid key must not fill the exporter's
        // buffer.
        if (tracer !== null)
          trace = tracer.begin(parseTraceParent(headers.get('traceparent')), method, route, startedMs)
        const refused = refusal?.(principal, headers, deadline.deadlineMs) ?? null
        if (refused !== null) return refused
        const ready = limiter.ready(principal)
        return ready === undefined ? letIn(principal, deadline) : ready.then(() => letIn(principal, deadline))
      }
      // Creates no promise when the key is cached, as most keys are.
      const enter = (deadline: Deadline): CountersignError | Promise<Response | CountersignError> => {
        const found = authenticator.authenticate(readKey(headers), scope)
        return found instanceof Promise
          ? found.then<Response | CountersignError>((principal) => admit(principal, deadline))
          : admit(found, deadline)
      }
      const settle = (result: Response | CountersignError): Response | Promise<Response> =>
        result instanceof Response ? answer(result) : refuseEarly(result)
      try {
        const watched = deadlines.watch(enter)
        return watched instanceof Promise ? watched.then(settle, failRequest) : Promise.resolve(settle(watched))
      } catch (error) {
        return Promise.resolve(failRequest(error))
      }
    }
  }
}
