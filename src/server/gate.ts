// Takes every API request through the same steps: request id, deadline, key, rate limit, then the endpoint’s work.
import type { ApiKeyScope } from '../domain/api-key.ts'
import { type CountersignError, DeadlineExceededError } from '../domain/errors.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { OrganizationLatency, RouteRecorder } from '../telemetry/request-metrics.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Authenticator, LookupOwner, Principal } from './authenticate.ts'
import type { ClientAddress } from './client-address.ts'
import type { Deadline, Deadlines, TimedRequest } from './deadline.ts'
import type { RefusalPacer } from './event-loop-turns.ts'
import { toProblem } from './problem.ts'
import type { RateLimiter, RateLimitState } from './rate-limit.ts'
import type { RequestIdSource } from './request-id.ts'
import { problemResponse, repeatedProblemResponse } from './response.ts'
import { parseTraceParent } from './trace-context.ts'

export interface GateDependencies {
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly tracer?: Tracer | null
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly latency?: Pick<OrganizationLatency, 'record'>
  /** Called for every refusal and failure. Must not throw. */
  readonly report: (error: unknown, requestId: string, traceId?: string) => void
  /** While stopping, each response closes its connection, so that stopping the listener interrupts no response. */
  readonly lifecycle: { readonly stopping: boolean }
  readonly pacer: RefusalPacer
  readonly clientAddress: ClientAddress
}

export interface GateSettings {
  readonly method: string
  readonly route: string
  readonly scope: ApiKeyScope
  readonly readKey: (headers: Headers) => string | null
  /** The `WWW-Authenticate` header of a 401. */
  readonly challenge: string
  /** Returns a shared error that the request would get later anyway. Called before reading the body. */
  readonly refusal?: (principal: Principal, headers: Headers, deadlineMs: number) => CountersignError | null
  /** True if responses are verdicts, whose durations are recorded by organization. */
  readonly decides?: boolean
}

export interface AdmittedRequest {
  readonly request: Request
  readonly requestId: string
  readonly principal: Principal
  readonly rateLimit: RateLimitState | null
  readonly deadline: Deadline
  /** Aborted with a DeadlineExceededError when the client has left or the deadline has passed. */
  readonly ended: AbortSignal
  readonly trace?: RequestTrace | null
  /** Checks the key again if any key has changed, or after 250 ms. Synchronous if the key is cached. */
  confirmKey(): Promise<void> | undefined
}

type Peers = Pick<Bun.Server<unknown>, 'requestIP'>

/** @param server of the request, for its client's address. Null if the request is the service's own */
export type Endpoint = (request: Request, server: Peers | null) => Promise<Response>

/** Errors thrown by `handle` become the response. */
export type Gate = (settings: GateSettings, handle: (admitted: AdmittedRequest) => Promise<Response>) => Endpoint

interface Route {
  readonly dependencies: GateDependencies
  readonly settings: GateSettings
  readonly record: RouteRecorder
}

/** Maximum age of a key check: the key may have expired since. */
const KEY_AGE_MAX_MS = 250

/** One object with methods: closures would need twenty objects per request. */
class GatedRequest implements AdmittedRequest, TimedRequest, LookupOwner {
  readonly requestId: string
  rateLimit: RateLimitState | null = null
  trace: RequestTrace | null = null
  deadlineMs = 0
  passed = false
  earlier: TimedRequest | null = null
  later: TimedRequest | null = null
  private checked: Principal | null = null
  private ending: AbortController | null = null
  private confirmedMs: number
  // After the process was suspended, the cache is outdated until changes are read, even if the check is recent.
  private confirmedChanges: number

  constructor(
    readonly route: Route,
    readonly request: Request,
    private readonly server: Peers | null,
    readonly startedMs: number,
    private readonly respond: (response: Response | Promise<Response>) => void,
  ) {
    const { requestIds, authenticator } = route.dependencies
    this.requestId = requestIds(request.headers.get('x-request-id'))
    this.confirmedMs = startedMs
    this.confirmedChanges = authenticator.changes()
  }

  get deadline(): Deadline {
    return this
  }

  /** Created on demand, because few requests wait for abortable work. */
  get ended(): AbortSignal {
    if (this.ending === null) {
      this.ending = new AbortController()
      const { signal } = this.request
      if (this.passed || signal.aborted) this.end()
      else signal.addEventListener('abort', () => this.end(), { once: true })
    }
    return this.ending.signal
  }

  private end(): void {
    this.ending?.abort(new DeadlineExceededError())
  }

  get principal(): Principal {
    if (this.checked === null) throw new Error('the key has not been checked')
    return this.checked
  }

  authenticate(): Principal | Promise<Principal> {
    const { dependencies, settings } = this.route
    return dependencies.authenticator.authenticate(settings.readKey(this.request.headers), settings.scope, this)
  }

  lookupOwner(): string {
    if (this.checked !== null) return this.checked.organizationId
    const peer = this.server?.requestIP(this.request)?.address ?? ''
    return networkOf(this.route.dependencies.clientAddress(peer, this.request.headers))
  }

  enter(principal: Principal): CountersignError | null {
    const { dependencies, settings } = this.route
    const { headers } = this.request
    this.checked = principal
    // Starts after the key check, because requests without a valid key must not fill the exporter's buffer.
    if (dependencies.tracer)
      this.trace = dependencies.tracer.begin(
        parseTraceParent(headers.get('traceparent')),
        settings.method,
        settings.route,
        this.startedMs,
      )
    return settings.refusal?.(principal, headers, this.deadlineMs) ?? null
  }

  confirmKey(): Promise<void> | undefined {
    const { authenticator, monotonicMs } = this.route.dependencies
    const nowMs = monotonicMs()
    const changes = authenticator.changes()
    if (changes === this.confirmedChanges && nowMs - this.confirmedMs < KEY_AGE_MAX_MS) return undefined
    const found = this.authenticate()
    if (found instanceof Promise) return this.noteConfirmed(found, nowMs, changes)
    this.confirmedMs = nowMs
    this.confirmedChanges = changes
    return undefined
  }

  private async noteConfirmed(found: Promise<unknown>, nowMs: number, changes: number): Promise<void> {
    await found
    this.confirmedMs = nowMs
    this.confirmedChanges = changes
  }

  answer(response: Response): void {
    if (this.route.dependencies.deadlines.end(this)) this.respond(this.count(response))
  }

  fail(error: unknown): void {
    if (this.route.dependencies.deadlines.end(this, error)) this.refuse(error)
  }

  expire(): void {
    this.end()
    this.refuse(new DeadlineExceededError())
  }

  refuseEarly(error: CountersignError): void {
    const { deadlines, pacer, metrics, report } = this.route.dependencies
    if (!deadlines.end(this, error)) return
    const make = (): Response => {
      metrics.recordError(error.code)
      this.trace?.error(error.code)
      report(error, this.requestId)
      return this.count(repeatedProblemResponse(error, this.requestId))
    }
    this.respond(pacer.refuse(make))
  }

  private refuse(error: unknown): void {
    const { dependencies, settings } = this.route
    const { pacer, metrics, report } = dependencies
    const make = (): Response => {
      const { code } = toProblem(error)
      metrics.recordError(code)
      this.trace?.error(code)
      const { rateLimit, requestId, request } = this
      const options = { report, rateLimit, challenge: settings.challenge, requestHeaders: request.headers }
      return this.count(problemResponse(error, requestId, options))
    }
    this.respond(pacer.refuse(make))
  }

  private count(response: Response): Response {
    const { dependencies, settings, record } = this.route
    const { status } = response
    if (dependencies.lifecycle.stopping) response.headers.set('connection', 'close')
    const durationMs = dependencies.monotonicMs() - this.startedMs
    record(status, durationMs)
    // Refusals are fast and not verdicts. A request answered with 408 waited for a verdict.
    if (settings.decides === true && this.checked !== null && (status === 200 || status === 408))
      dependencies.latency?.record(this.checked.organizationId, durationMs)
    this.trace?.end(status)
    return response
  }
}

/** Never rejects. Awaits only if necessary: most keys are cached, and few limits are shared. */
const serve = async (gated: GatedRequest, handle: Parameters<Gate>[1]): Promise<void> => {
  const { deadlines, limiter } = gated.route.dependencies
  deadlines.begin(gated, gated.startedMs)
  try {
    const found = gated.authenticate()
    const principal = found instanceof Promise ? await found : found
    const refusal = gated.enter(principal)
    if (refusal !== null) {
      gated.refuseEarly(refusal)
      return
    }
    const ready = limiter.ready(principal)
    if (ready !== undefined) await ready
    gated.rateLimit = limiter.take(principal)
    gated.trace?.enter('front')
    gated.answer(await handle(gated))
  } catch (error) {
    gated.fail(error)
  }
}

export const createGate =
  (dependencies: GateDependencies): Gate =>
  (settings, handle) => {
    const { metrics, monotonicMs, pacer } = dependencies
    const route: Route = { dependencies, settings, record: metrics.route(settings.method, settings.route) }
    return (request, server) => {
      const startedMs = monotonicMs()
      pacer.arrived()
      const { promise, resolve } = Promise.withResolvers<Response>()
      void serve(new GatedRequest(route, request, server, startedMs, resolve), handle)
      return promise
    }
  }
