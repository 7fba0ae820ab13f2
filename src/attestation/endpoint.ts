// Routes of the attestation API, and the handler of an admitted request, shared by both single-request endpoints so
// that neither can omit a step.
import { Elysia } from 'elysia'
import type { ChainTable } from '../domain/chain.ts'
import { type CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Pool } from '../pool/pool.ts'
import type { AdmittedRequest, Endpoint, Gate } from '../server/gate.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import { readJsonBody } from '../server/json-body.ts'
import { routerPath } from '../server/public-route.ts'
import { API_KEY_CHALLENGE, jsonResponse } from '../server/response.ts'
import { type JsonObject, parseStrictJsonObject } from '../server/strict-json.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DecisionKind } from '../telemetry/request-metrics.ts'
import type { AttestHandler, CallAnswer } from './attest.ts'
import type { Concurrency } from './concurrency.ts'
import { ATTESTATION_PATHS } from './paths.ts'
import type { DecodedRequest } from './schema.ts'

export interface EndpointDependencies {
  readonly gate: Gate
  readonly idempotent: IdempotencyGuard
  readonly metrics: Pick<Metrics, 'recordDecision'>
  /** `withhold`: marks a decision in the log whose request was already answered with 408 (invariant 4). */
  readonly pool: Pick<Pool, 'refusal' | 'withhold'>
  readonly concurrency: Pick<Concurrency, 'refusal'> | null
  /** Returns the estimated wait of a new claim of the organization, in milliseconds; null if too many are waiting. */
  readonly storeBacklogMs: (organizationId: string) => number | null
  readonly chains: ChainTable
  readonly clock: Pick<Clock, 'unixSeconds'>
}

export type DecodeRequest = (body: JsonObject, chains: ChainTable, nowSeconds: number) => DecodedRequest

export interface EndpointDefinition {
  readonly kind: DecisionKind
  readonly route: string
  readonly decode: DecodeRequest
  readonly attest: AttestHandler
}

/** A request without an Idempotency-Key has no claim to write before the dispatch. */
const NOT_CLAIMED = (): undefined => undefined
/**
 * Store delays that must fit into the deadline of a request with an idempotency key. It needs up to three writes, and
 * delays grow while it waits. Lower factors accept requests that miss their deadline: a quarter of them with 3, a fifth
 * with 4, a twentieth with 6 (measured).
 */
const STORE_TURNS = 6
const STORE_CROWDED = new QueueFullError(1)

/**
 * Returns the error that a request would get from its organization’s limit or the pool, or null. Always the same
 * object.
 */
export const refusalOf = (
  { concurrency, pool }: Pick<EndpointDependencies, 'concurrency' | 'pool'>,
  organizationId: string,
  deadlineMs: number,
): CountersignError | null => concurrency?.refusal(organizationId) ?? pool.refusal(organizationId, deadlineMs)

/** Like `refusalOf`. The deadline of a request with an idempotency key must also cover the store's delays. */
const earlyRefusalOf = (
  dependencies: EndpointDependencies,
  organizationId: string,
  headers: Headers,
  deadlineMs: number,
): CountersignError | null => {
  if (!headers.has('idempotency-key')) return refusalOf(dependencies, organizationId, deadlineMs)
  const backlogMs = dependencies.storeBacklogMs(organizationId)
  return backlogMs === null
    ? STORE_CROWDED
    : refusalOf(dependencies, organizationId, deadlineMs - backlogMs * STORE_TURNS)
}

const recordVerdict = (
  metrics: EndpointDependencies['metrics'],
  kind: DecisionKind,
  { request }: DecodedRequest,
  { compliant }: CallAnswer,
  trace: AdmittedRequest['trace'],
): void => {
  metrics.recordDecision(kind, request.chain.name, compliant)
  trace?.verdict(compliant)
}

const answerOnce = async (
  { idempotent, metrics, pool }: EndpointDependencies,
  { kind, route, attest }: EndpointDefinition,
  header: string,
  body: string,
  decoded: DecodedRequest,
  caller: AdmittedRequest,
): Promise<Response> => {
  const { requestId, rateLimit, deadline, trace = null } = caller
  const { organizationId, keyId } = caller.principal
  const { deadlineMs } = deadline
  let decided: string | null = null
  trace?.enter('idempotency')
  const final = await idempotent(
    { organizationId, keyId, header, route, body, uuid: crypto.randomUUID(), caller },
    async (uuid, onDispatch) => {
      trace?.enter('policy')
      const answer = await attest(decoded, { caller, uuid, deadlineMs, onDispatch, trace })
      trace?.enter('idempotency')
      if (deadline.passed) {
        // The answer isn't stored either. The claim stays until it expires; a retry then finds the outcome in the log.
        pool.withhold([uuid])
        throw new DeadlineExceededError()
      }
      decided = uuid
      recordVerdict(metrics, kind, decoded, answer, trace)
      return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
    },
  )
  // The pool answered in time, but the idempotency store did not, so the signed answer isn't sent.
  if (deadline.passed && decided !== null) pool.withhold([decided])
  return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
}

const handle = async (
  dependencies: EndpointDependencies,
  definition: EndpointDefinition,
  caller: AdmittedRequest,
): Promise<Response> => {
  const { metrics, pool, chains, clock } = dependencies
  const { request, requestId, rateLimit, deadline, trace = null } = caller
  const body = await readJsonBody(request)
  const confirmed = caller.confirmKey()
  if (confirmed !== undefined) await confirmed
  const decoded = definition.decode(parseStrictJsonObject(body), chains, clock.unixSeconds())
  const header = request.headers.get('idempotency-key')
  if (header !== null) return answerOnce(dependencies, definition, header, body, decoded, caller)
  const uuid = crypto.randomUUID()
  const { deadlineMs } = deadline
  trace?.enter('policy')
  const answer = await definition.attest(decoded, { caller, uuid, deadlineMs, onDispatch: NOT_CLAIMED, trace })
  recordVerdict(metrics, definition.kind, decoded, answer, trace)
  // The pool answered in time, but this thread was blocked before it could send the answer.
  if (deadline.passed) pool.withhold([uuid])
  return jsonResponse(answer.body, requestId, { rateLimit })
}

export const createEndpoint = (dependencies: EndpointDependencies, definition: EndpointDefinition): Endpoint =>
  dependencies.gate(
    {
      method: 'POST',
      route: definition.route,
      scope: 'attestation',
      decides: true,
      readKey: (headers) => headers.get('x-api-key'),
      challenge: API_KEY_CHALLENGE,
      // Refuse early, even a retry with a stored answer: under overload, reading and claiming would take most of the
      // time.
      refusal: ({ organizationId }, headers, deadlineMs) =>
        earlyRefusalOf(dependencies, organizationId, headers, deadlineMs),
    },
    (caller) => handle(dependencies, definition, caller),
  )

export interface AttestationEndpoints {
  readonly attestation: Endpoint
  readonly task: Endpoint
  readonly batch: Endpoint
  readonly proof: Endpoint | null
}

export const attestationRoutes = ({ attestation, task, batch, proof }: AttestationEndpoints) => {
  const routes = new Elysia({ name: 'attestation' })
    .post(ATTESTATION_PATHS.attestation.path, ({ request, server }) => attestation(request, server), { parse: 'none' })
    .post(ATTESTATION_PATHS.task.path, ({ request, server }) => task(request, server), { parse: 'none' })
    .post(ATTESTATION_PATHS.batch.path, ({ request, server }) => batch(request, server), { parse: 'none' })
  return proof === null
    ? routes
    : routes.get(routerPath(ATTESTATION_PATHS.proof), ({ request, server }) => proof(request, server))
}
