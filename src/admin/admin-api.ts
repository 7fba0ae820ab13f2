// Answers an admin request, step by step: request id, deadline, route, authentication and rights, input, the route's own work
// (perform.ts), and the response.
import { randomUUID } from 'node:crypto'
import type { Deadline, Deadlines } from '../server/deadline.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import { toProblem } from '../server/problem.ts'
import type { RateLimitState } from '../server/rate-limit.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath, requestQuery } from '../server/request-path.ts'
import { BEARER_CHALLENGE, jsonResponse, problemResponse } from '../server/response.ts'
import type { IdempotencyClaim } from '../store/idempotency.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Caller } from './accounts/sessions.ts'
import { actorId } from './actor.ts'
import { ConfirmationRequiredError, ConflictError } from './errors.ts'
import { fieldMembers } from './field-members.ts'
import type { AdminGate, Admission } from './gate.ts'
import { CHANGE_MADE, decodeInput, KEEP_SECONDS, performOperation, settle } from './perform.ts'
import { type Answer, isUnsafe, type ReplyHeaders, type Route } from './route.ts'
import { createRouter } from './router.ts'
import type { Services } from './services.ts'

export const ADMIN_PREFIX = '/admin/v1'

export interface AdminApiDependencies {
  readonly routes: readonly Route[]
  readonly gate: AdminGate
  readonly services: Services
  readonly deadlines: Deadlines
  readonly idempotent: IdempotencyGuard<IdempotencyClaim>
  readonly requestIds: RequestIdSource
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly report: (error: unknown, requestId: string) => void
}

/** The connection of a request, as the listener sees it. */
export interface Connection {
  readonly address: string
  /** Lifts the listener's idle timeout for this connection. */
  keepOpen(): void
}

/** Takes a request below /admin/v1. */
export type AdminApi = (request: Request, connection: Connection) => Promise<Response>

/** For streams and other answers without a time limit. */
const NO_DEADLINE: Deadline = { deadlineMs: Number.POSITIVE_INFINITY, passed: false }

const ANSWER_LOST =
  'the first request with this Idempotency-Key made its change, but its response was lost: check the result, and use another key for another change'

interface Outgoing {
  readonly status: number
  readonly body: string
  readonly headers: ReplyHeaders
  readonly replayed: boolean
}

const toResponse = (
  { status, body, headers, replayed }: Outgoing,
  requestId: string,
  rateLimit: RateLimitState | null,
): Response => {
  const response = jsonResponse(body, requestId, { status, rateLimit, replayed })
  if (body === '') response.headers.delete('content-type')
  for (const [name, value] of Object.entries(headers)) {
    response.headers.delete(name)
    for (const line of typeof value === 'string' ? [value] : value) response.headers.append(name, line)
  }
  return body === '' ? new Response(null, { status, headers: response.headers }) : response
}

export const createAdminApi = (dependencies: AdminApiDependencies): AdminApi => {
  const { routes, gate, services, deadlines, idempotent, requestIds, monotonicMs, metrics, report } = dependencies
  const match = createRouter(routes)
  const recorders = new Map(
    routes.map((route) => [route, metrics.route(route.method, ADMIN_PREFIX + route.path)] as const),
  )

  const perform = async (
    route: Route,
    params: Readonly<Record<string, string>>,
    admitted: Admission,
    context: { request: Request; requestId: string; caller: Caller; deadline: Deadline },
  ): Promise<Response> => {
    const { request, requestId, caller, deadline } = context
    const { rateLimit } = admitted
    const sent = requestQuery(request.url)
    const input = await decodeInput(route, params, request)
    // The sender decides how long a body takes to arrive.
    const admission = route.body === null ? admitted : await gate(route, params, request.headers, { counted: false })
    const { actor, organization } = admission
    const { body } = input
    if (actor?.kind === 'person' && route.needsFresh(body.value) && !services.sessions.isConfirmed(actor.session)) {
      throw new ConfirmationRequiredError()
    }
    let held: IdempotencyClaim | null = null
    const run = (): Promise<Answer<unknown>> =>
      performOperation(dependencies, route, admission, input, {
        request,
        requestId,
        caller,
        deadline,
        origin: services.origins.of(request.headers),
        claim: () => held,
        stillAllowed: () =>
          gate(route, params, request.headers, { counted: false }).then(
            () => true,
            () => false,
          ),
      })
    const header =
      isUnsafe(route.method) && actor !== null && !route.streams ? request.headers.get('idempotency-key') : null
    if (header === null || actor === null) {
      const answer = await run()
      if (answer instanceof Response) return answer
      return toResponse({ ...settle(route, answer), replayed: false }, requestId, rateLimit)
    }
    let fresh: ReturnType<typeof settle> | null = null
    const final = await idempotent(
      {
        organizationId: organization?.id ?? 'deployment',
        keyId: actorId(actor),
        header,
        route: `${route.method} ${requestPath(request.url)}${sent.size === 0 ? '' : `?${sent}`}`,
        body: body.text,
        uuid: randomUUID(),
      },
      async (_uuid, onDispatch, claim) => {
        held = claim
        await onDispatch(0)
        const answer = await run()
        if (answer instanceof Response) throw new Error(`${route.operationId} answers a stream and must say so`)
        fresh = settle(route, answer)
        return { body: fresh.kept, status: fresh.status, keepSeconds: KEEP_SECONDS }
      },
    )
    const settled = fresh as ReturnType<typeof settle> | null
    if (final.replayed && final.status === CHANGE_MADE) throw new ConflictError(ANSWER_LOST)
    return settled === null || final.replayed
      ? toResponse({ status: final.status, body: final.body, headers: {}, replayed: true }, requestId, rateLimit)
      : toResponse({ ...settled, replayed: false }, requestId, rateLimit)
  }

  return async (request, connection) => {
    const startedMs = monotonicMs()
    const { headers } = request
    const requestId = requestIds(headers.get('x-request-id'))
    const caller = services.sessions.callerOf(headers, connection.address)
    let record: ReturnType<Metrics['route']> | undefined
    let rateLimit: RateLimitState | null = null
    try {
      const { route, params } = match(request.method, requestPath(request.url).slice(ADMIN_PREFIX.length))
      record = recorders.get(route)
      const enter = async (deadline: Deadline): Promise<Response> => {
        const admission = await gate(route, params, headers)
        rateLimit = admission.rateLimit
        return perform(route, params, admission, { request, requestId, caller, deadline })
      }
      if (route.streams) connection.keepOpen()
      const response = await (route.streams ? enter(NO_DEADLINE) : deadlines.watch(enter))
      record?.(response.status, monotonicMs() - startedMs)
      return response
    } catch (error) {
      const { status, code } = toProblem(error)
      record?.(status, monotonicMs() - startedMs)
      metrics.recordError(code)
      return problemResponse(error, requestId, {
        report,
        rateLimit,
        challenge: BEARER_CHALLENGE,
        members: { ...fieldMembers(error) },
      })
    }
  }
}
