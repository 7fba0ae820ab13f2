// Performs an authorized operation: decodes the input, checks the rights to the objects in the path, and runs the
// route's handler. `write` makes a change and its audit entries in one transaction.
import { Value } from '@sinclair/typebox/value'
import type { Deadline } from '../server/deadline.ts'
import { IdempotencyTwinInFlightError } from '../server/idempotency.ts'
import { readJsonBody } from '../server/json-body.ts'
import { requestQuery } from '../server/request-path.ts'
import { parseStrictJsonObject } from '../server/strict-json.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { IdempotencyClaim } from '../store/idempotency.ts'
import type { Tables } from '../store/store.ts'
import type { Caller } from './accounts/sessions.ts'
import { actorId, actorName } from './actor.ts'
import { ConflictError } from './errors.ts'
import { type Admission, readmit } from './gate.ts'
import { requireRightsOverPath } from './rights.ts'
import { type Answer, type AuditNote, type Call, isUnsafe, Reply, type Route, SecretReply } from './route.ts'
import { type AnyCall, AwaitsApproval, guardedWrite, type SeenCall } from './second-person/guard.ts'
import type { Services } from './services.ts'
import { checkValue, decodeQuery } from './validate.ts'

interface PerformDependencies {
  readonly services: Services
  readonly report: (error: unknown, requestId: string) => void
}

interface DecodedBody {
  readonly text: string
  readonly value: unknown
}

/** Maximum number of escapes. Policy sources have one escape per line and quotation mark. */
const ESCAPES_MAX = 65_536

const NONE: DecodedBody = Object.freeze({ text: '', value: undefined })

const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

const decodeBody = async (route: Route, request: Request): Promise<DecodedBody> => {
  if (route.body === null) return NONE
  if (isAbsent(request)) return { text: '', value: checkValue(route.body, {}) }
  const text = await readJsonBody(request, route.bodyMaxBytes === null ? {} : { maxBytes: route.bodyMaxBytes })
  return { text, value: checkValue(route.body, parseStrictJsonObject(text, ESCAPES_MAX)) }
}

export interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: DecodedBody
}

export interface Entry {
  readonly request: Request
  readonly requestId: string
  readonly caller: Caller
  readonly deadline: Deadline
  readonly origin: string | null
  /** Returns the claim of the request's Idempotency-Key; null before it is held, or without a key. */
  readonly claim: () => IdempotencyClaim | null
  readonly stillAllowed: () => Promise<boolean>
}

/** Time during which a repeated Idempotency-Key gets the first response. */
export const KEEP_SECONDS = 86_400

const asAnswer = (error: unknown): unknown =>
  error instanceof ConstraintViolatedError
    ? new ConflictError(
        error.constraint === 'unique' ? 'it already exists' : 'it refers to something that does not exist',
      )
    : error

/** Stored status of a change whose response is unknown before the commit or must not be stored. */
export const CHANGE_MADE = 409

const UNSTORED = { status: CHANGE_MADE, body: '' }

/** Returns the response to store in the transaction: the result of the change, if it is the route's response. */
const keptOf = (route: Route, result: unknown): { readonly status: number; readonly body: string } => {
  const isReply = result instanceof Reply || result instanceof SecretReply
  const { schema } = route.answers[0]
  const isAnswer = isReply || schema === null || Value.Check(schema, result)
  if (!isAnswer) return UNSTORED
  return settle(route, schema === null && !isReply ? undefined : result).kept
}

/** Admits the caller again in the transaction of the change, because rights may be lost meanwhile. */
const createWrite =
  (
    { services, report }: PerformDependencies,
    route: Route,
    { actor, organization }: Admission,
    { requestId, claim: claimOf, caller }: Entry,
    requireRights: (tables: Tables) => Promise<void>,
  ): Call<never, never, never, never>['write'] =>
  async (work) => {
    const result = await services.store.transaction(async (tables) => {
      await readmit(tables, services.clock, route.access, { actor, organization })
      await requireRights(tables)
      const notes: AuditNote[] = []
      const result = await work(tables, (note) => notes.push(note))
      for (const { action, subject, detail = {}, organizationId = organization?.id ?? null } of notes) {
        await tables.audit.append({
          organizationId,
          action,
          subject,
          detail,
          requestId,
          address: caller.address,
          actor: actor === null ? 'visitor' : actorId(actor),
          actorName: actor === null ? '' : actorName(actor),
        })
      }
      const claim = claimOf()
      if (claim === null || notes.length === 0) return result
      const keepUntilSeconds = services.clock.unixSeconds() + KEEP_SECONDS
      const held = await tables.adminIdempotency.settle(claim, keptOf(route, result), keepUntilSeconds)
      // Rolls back, because another request has taken the claim.
      if (held === null) throw new IdempotencyTwinInFlightError()
      return result
    })
    // Updates this process's caches before the response. If this fails, the next poll updates them.
    await services.notifyChanges().catch((error: unknown) => report(error, requestId))
    return result
  }

export const settle = (route: Route, answer: unknown) => {
  const reply =
    answer instanceof Reply || answer instanceof SecretReply ? answer : new Reply(route.answers[0].status, answer)
  const text = (body: unknown): string => (body === undefined || body === null ? '' : JSON.stringify(body))
  const kept = reply instanceof SecretReply ? reply.remembered : reply.body
  const isUnstored = reply instanceof SecretReply && kept === undefined
  return {
    status: reply.status,
    body: text(reply.body),
    kept: isUnstored ? UNSTORED : { status: reply.status, body: text(kept) },
    headers: reply instanceof Reply ? reply.headers : {},
  }
}

export const decodeInput = async (
  route: Route,
  params: Readonly<Record<string, string>>,
  request: Request,
): Promise<Input> => ({
  params,
  query: decodeQuery(route.query, requestQuery(request.url)),
  body: await decodeBody(route, request),
})

export const performOperation = async (
  dependencies: PerformDependencies,
  route: Route,
  admission: Admission,
  { params, query, body }: Input,
  entry: Entry,
): Promise<Answer<unknown>> => {
  const { services } = dependencies
  const { actor, organization, pending } = admission
  const requireRights = (tables: Tables): Promise<void> =>
    requireRightsOverPath(tables, services.clock, {
      route,
      params,
      actor,
      organizationId: organization?.id ?? '',
    })
  const unwritten = {
    request: entry.request,
    requestId: entry.requestId,
    caller: entry.caller,
    deadline: entry.deadline,
    services,
    actor,
    pending,
    organization,
    params,
    query,
    body: body.value,
    kept: null,
    isApproved: false,
    origin: entry.origin,
    stillAllowed: entry.stillAllowed,
  } as unknown as SeenCall
  const write = guardedWrite(route, unwritten, createWrite(dependencies, route, admission, entry, requireRights))
  const call: AnyCall = { ...unwritten, write }
  try {
    if (!isUnsafe(route.method)) await requireRights(services.store)
    return await route.handle(call)
  } catch (error) {
    if (error instanceof AwaitsApproval) return error.reply
    throw asAnswer(error)
  }
}
