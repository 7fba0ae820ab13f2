// The way of an admin request, in the order of the house: request id, deadline, route, who and whether, what, then the
// route's own work; and the one way out. Every change and its audit entries are one transaction.
import { randomUUID } from 'node:crypto'
import type { Deadline, Deadlines } from '../http/deadline.ts'
import type { IdempotencyGuard } from '../http/idempotency.ts'
import { toProblem } from '../http/problem.ts'
import type { RateLimitState } from '../http/rate-limit.ts'
import type { RequestIdSource } from '../http/request-id.ts'
import { requestPath, requestQuery } from '../http/request-path.ts'
import { BEARER_CHALLENGE, jsonResponse, problemResponse } from '../http/response.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Caller } from './accounts/sessions.ts'
import { actorId, actorName } from './actor.ts'
import { ConflictError } from './errors.ts'
import { fieldMembers } from './field-members.ts'
import type { AdminGate, Admission } from './gate.ts'
import { decodeBody } from './request-body.ts'
import { type Answer, type AuditNote, type Call, isUnsafe, Reply, type Route, SecretReply } from './route.ts'
import { createRouter } from './router.ts'
import type { Services } from './services.ts'
import { decodeQuery } from './validate.ts'

export const ADMIN_PREFIX = '/admin/v1'

export interface AdminApiDependencies {
  readonly routes: readonly Route[]
  readonly gate: AdminGate
  readonly services: Services
  readonly deadlines: Deadlines
  readonly idempotent: IdempotencyGuard
  readonly requestIds: RequestIdSource
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly report: (error: unknown, requestId: string) => void
}

/** What the listener knows of a request's connection. */
export interface Connection {
  readonly address: string
  /** From here on it may be quiet for as long as it takes. */
  keepOpen(): void
}

/** Takes a request below /admin/v1. */
export type AdminApi = (request: Request, connection: Connection) => Promise<Response>

/** Of what goes on for as long as it takes. */
const NO_DEADLINE: Deadline = { deadlineMs: Number.POSITIVE_INFINITY, passed: false }
/** How long a repeated Idempotency-Key is answered alike. */
const KEEP_SECONDS = 86_400

/** What the schema refuses is the caller's to mend. */
const asAnswer = (error: unknown): unknown =>
  error instanceof ConstraintViolatedError
    ? new ConflictError(
        error.constraint === 'unique' ? 'there is one like it already' : 'it names something that is not there',
      )
    : error

const createWrite =
  (
    services: Services,
    { actor, organization }: Admission,
    requestId: string,
  ): Call<never, never, never, never>['write'] =>
  (work) =>
    services.store.transaction(async (tables) => {
      const notes: AuditNote[] = []
      const result = await work(tables, (note) => notes.push(note))
      for (const { action, subject, detail = {}, organizationId = organization?.id ?? null } of notes) {
        await tables.audit.append({
          ...{ organizationId, action, subject, detail, requestId },
          actor: actor === null ? 'visitor' : actorId(actor),
          actorName: actor === null ? '' : actorName(actor),
        })
      }
      return result
    })

/** Body and status of an answer; `kept` is what a repeated request is told. */
const settle = (route: Route, answer: Exclude<Answer<unknown>, Response>) => {
  const reply =
    answer instanceof Reply || answer instanceof SecretReply ? answer : new Reply(route.answers[0].status, answer)
  const text = (body: unknown): string => (body === undefined || body === null ? '' : JSON.stringify(body))
  return {
    status: reply.status,
    body: text(reply.body),
    kept: text(reply instanceof SecretReply ? reply.remembered : reply.body),
    headers: reply instanceof Reply ? reply.headers : {},
  }
}

interface Outgoing {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly replayed: boolean
}

const toResponse = (
  { status, body, headers, replayed }: Outgoing,
  requestId: string,
  rateLimit: RateLimitState | null,
): Response => {
  const response = jsonResponse(body, requestId, { status, rateLimit, replayed })
  if (body === '') response.headers.delete('content-type')
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
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
    admission: Admission,
    context: { request: Request; requestId: string; caller: Caller; deadline: Deadline },
  ): Promise<Response> => {
    const { request, requestId, caller, deadline } = context
    const { actor, organization, pending, rateLimit } = admission
    const sent = requestQuery(request.url)
    const query = decodeQuery(route.query, sent)
    const body = await decodeBody(route, request)
    const call = {
      ...{ request, requestId, caller, deadline, services, actor, pending, organization, params, query },
      body: body.value,
      origin: services.origins.of(request.headers),
      write: createWrite(services, admission, requestId),
      stillAllowed: () =>
        gate(route, params, request.headers).then(
          () => true,
          () => false,
        ),
    }
    const run = (): Promise<Answer<unknown>> => route.handle(call as unknown as Parameters<Route['handle']>[0])
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
      async (_uuid, onDispatch) => {
        // From here on it may be committed, whatever becomes of the answer.
        onDispatch()
        const answer = await run()
        if (answer instanceof Response) throw new Error(`${route.operationId} answers a stream and must say so`)
        fresh = settle(route, answer)
        return { body: fresh.kept, status: fresh.status, keepSeconds: KEEP_SECONDS }
      },
    )
    const settled = fresh as ReturnType<typeof settle> | null
    return settled === null || final.replayed
      ? toResponse({ status: final.status, body: final.body, headers: {}, replayed: true }, requestId, rateLimit)
      : toResponse({ ...settled, replayed: false }, requestId, rateLimit)
  }

  return async (request, connection) => {
    const startedMs = monotonicMs()
    const { headers } = request
    const requestId = requestIds(headers.get('x-request-id'))
    const caller = { address: connection.address, userAgent: headers.get('user-agent') ?? '' }
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
    } catch (thrown) {
      const error = asAnswer(thrown)
      const { status, code } = toProblem(error)
      record?.(status, monotonicMs() - startedMs)
      metrics.recordError(code)
      return problemResponse(error, requestId, {
        ...{ report, rateLimit, challenge: BEARER_CHALLENGE },
        members: { ...fieldMembers(error) },
      })
    }
  }
}
