import { randomUUID } from 'node:crypto'
import { Elysia } from 'elysia'
import { assignOwner, runFor } from '../lib/caller.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { ClientAddress } from '../server/client-address.ts'
import type { Deadline, Deadlines } from '../server/deadline.ts'
import type { RefusalPacer } from '../server/event-loop-turns.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import { toProblem } from '../server/problem.ts'
import { routerPath } from '../server/public-route.ts'
import type { RateLimitState } from '../server/rate-limit.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath, requestQuery } from '../server/request-path.ts'
import { BEARER_CHALLENGE, jsonResponse, problemResponse } from '../server/response.ts'
import { RouteNotFoundError } from '../server/route-errors.ts'
import type { IdempotencyClaim } from '../store/idempotency.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Caller } from './accounts/sessions.ts'
import { actorId } from './actor.ts'
import { ConfirmationRequiredError, ConflictError } from './errors.ts'
import { fieldMembers } from './field-members.ts'
import type { AdminGate, Admission } from './gate.ts'
import { CHANGE_MADE, decodeInput, KEEP_SECONDS, performOperation, settle } from './perform.ts'
import { type Answer, type ReplyHeaders, type Route, takesIdempotencyKey } from './route.ts'
import type { Services } from './services.ts'

export const ADMIN_PREFIX = '/admin/v1'

interface AdminApiDependencies {
  readonly routes: readonly Route[]
  readonly gate: AdminGate
  readonly services: Services
  readonly deadlines: Deadlines
  readonly idempotent: IdempotencyGuard<IdempotencyClaim>
  readonly requestIds: RequestIdSource
  readonly clientAddress: ClientAddress
  readonly pacer: RefusalPacer
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly report: (error: unknown, requestId: string) => void
}

interface RoutedRequest {
  readonly request: Request
  readonly params?: Readonly<Record<string, string>>
  readonly server: Pick<Bun.Server<unknown>, 'requestIP' | 'timeout'> | null
}

const REFUSED_IDLE_SECONDS = 30
const PARAMETER_LENGTH_MAX = 200

const requireDecoded = (params: Readonly<Record<string, string>>): void => {
  const isMalformed = (text: string): boolean => text.length > PARAMETER_LENGTH_MAX || text.includes('\ufffd')
  if (Object.values(params).some(isMalformed)) throw new RouteNotFoundError()
}

const NO_DEADLINE: Deadline = { deadlineMs: Number.POSITIVE_INFINITY, passed: false }

const ANSWER_LOST =
  'the first request with this Idempotency-Key made its change, but its response was lost: check the result, and use a new key for a new change'

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

export const adminPlugin = (dependencies: AdminApiDependencies) => {
  const { routes, gate, services, deadlines, idempotent, requestIds, clientAddress, pacer, monotonicMs } = dependencies
  const { metrics, report } = dependencies

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
    // Check again: permissions may change while a client sends its body slowly.
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
    const header = takesIdempotencyKey(route) ? request.headers.get('idempotency-key') : null
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
        if (answer instanceof Response) throw new Error(`${route.operationId} returns a stream but does not declare it`)
        fresh = settle(route, answer)
        return { ...fresh.kept, keepSeconds: KEEP_SECONDS }
      },
    )
    const settled = fresh as ReturnType<typeof settle> | null
    if (final.replayed && final.status === CHANGE_MADE) throw new ConflictError(ANSWER_LOST)
    return settled === null || final.replayed
      ? toResponse({ status: final.status, body: final.body, headers: {}, replayed: true }, requestId, rateLimit)
      : toResponse({ ...settled, replayed: false }, requestId, rateLimit)
  }

  const answer = async (route: Route, { request, params = {}, server }: RoutedRequest): Promise<Response> => {
    const startedMs = monotonicMs()
    pacer.arrived()
    const { headers } = request
    const record = metrics.route(route.method, ADMIN_PREFIX + route.path)
    const requestId = requestIds(headers.get('x-request-id'))
    const address = clientAddress(server?.requestIP(request)?.address ?? '', headers)
    const caller = services.sessions.callerOf(headers, address)
    let rateLimit: RateLimitState | null = null
    const limitIdle = (seconds: number): void => {
      if (route.streams) server?.timeout(request, seconds)
    }
    const enter = async (deadline: Deadline, expired?: AbortSignal): Promise<Response> => {
      requireDecoded(params)
      const signal = expired === undefined ? request.signal : AbortSignal.any([request.signal, expired])
      return runFor({ owner: '', network: networkOf(address), signal }, async () => {
        const admission = await gate(route, params, headers)
        rateLimit = admission.rateLimit
        assignOwner(admission.organization?.id ?? '')
        limitIdle(0)
        return perform(route, params, admission, { request, requestId, caller, deadline })
      })
    }
    try {
      const response = await (route.streams ? enter(NO_DEADLINE) : deadlines.watch(enter))
      record(response.status, monotonicMs() - startedMs)
      // Otherwise, the connection would stay open without an idle limit.
      if (route.streams) response.headers.set('connection', 'close')
      return response
    } catch (error) {
      // The limit applies to the connection, which the client keeps.
      limitIdle(REFUSED_IDLE_SECONDS)
      return pacer.refuse(() => {
        const { status, code } = toProblem(error)
        record(status, monotonicMs() - startedMs)
        metrics.recordError(code)
        return problemResponse(error, requestId, {
          report,
          rateLimit,
          challenge: BEARER_CHALLENGE,
          members: { ...fieldMembers(error) },
        })
      })
    }
  }

  const plugin = new Elysia({ name: 'admin', prefix: ADMIN_PREFIX })
  for (const route of routes) {
    plugin.route(
      route.method,
      routerPath(route),
      ({ request, params, server }) => answer(route, { request, params, server }),
      { parse: 'none' },
    )
  }
  return plugin
}
