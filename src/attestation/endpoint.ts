// What a request of the attestation API does once the gate has admitted it: body, idempotency, decision, answer. Both
// endpoints use this one function, so that neither can omit a step.
import { type CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { AdmittedRequest, Endpoint, Gate, GateSettings } from '../server/gate.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import { readJsonBody } from '../server/json-body.ts'
import { API_KEY_CHALLENGE, jsonResponse } from '../server/response.ts'
import { type JsonObject, parseStrictJsonObject } from '../server/strict-json.ts'
import type { DecisionKind, Metrics } from '../telemetry/metrics.ts'
import type { AttestHandler, CallAnswer, DecodedRequest } from './attest.ts'

export interface EndpointDependencies {
  readonly gate: Gate
  readonly idempotent: IdempotencyGuard
  readonly metrics: Pick<Metrics, 'recordDecision'>
  /** Called when a decision was made after its request was answered 408: the log must say so (invariant 4). */
  readonly withhold: (uuids: readonly string[]) => void
  /**
   * The refusal that a request would get now, because of its organization's cap or the pool, or null. The same error
   * object each time.
   */
  readonly refusal: (organizationId: string, deadlineMs: number) => CountersignError | null
  /** Milliseconds until a write to the store, requested now, would be done; null when too many writes are waiting. */
  readonly storeBacklogMs: () => number | null
}

export interface EndpointDefinition {
  readonly kind: DecisionKind
  /** The path, as used in metrics and in the binding of idempotency keys. */
  readonly route: string
  readonly decode: (body: JsonObject) => DecodedRequest
  readonly attest: AttestHandler
}

/** Without an Idempotency-Key there is no claim to write before the dispatch. */
const NOT_CLAIMED = (): undefined => undefined
/**
 * How many forecast waits for the store a request with an idempotency key must have time for. It needs one write, its
 * claim, and with PostgreSQL two more, the dispatch and the answer. Each waits for the store, and the wait grows beyond
 * the current forecast until they come. Measured when each request was two writes, with a deadline of half a second, at
 * twice and ten times capacity: with 3, 4 and 6, a quarter, a fifth and a twentieth of the requests sent were accepted
 * and then answered too late.
 */
const STORE_TURNS = 6
/** One error object for all requests, like the pool's refusals. */
const STORE_CROWDED = new QueueFullError(1)

export const createEndpoint = (
  { gate, idempotent, metrics, withhold, refusal, storeBacklogMs }: EndpointDependencies,
  { kind, route, decode, attest }: EndpointDefinition,
): Endpoint => {
  const settings: GateSettings = {
    method: 'POST',
    route,
    scope: 'attestation',
    decides: true,
    readKey: (headers) => headers.get('x-api-key'),
    challenge: API_KEY_CHALLENGE,
    // Under a flood, most of the time would go into reading and claiming requests that are refused afterwards. A retry
    // is refused as well, even if its answer is stored: there is no time to look it up.
    refusal: ({ organizationId }, headers, deadlineMs) => {
      if (!headers.has('idempotency-key')) return refusal(organizationId, deadlineMs)
      const backlogMs = storeBacklogMs()
      return backlogMs === null ? STORE_CROWDED : refusal(organizationId, deadlineMs - backlogMs * STORE_TURNS)
    },
  }

  const recordVerdict = (
    { request }: DecodedRequest,
    { compliant }: CallAnswer,
    trace: AdmittedRequest['trace'],
  ): void => {
    metrics.recordDecision(kind, request.chain.name, compliant)
    trace?.verdict(compliant)
  }

  /** For a request with an Idempotency-Key: it is answered once, however often it is retried. */
  const answerOnce = async (
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
      { organizationId, keyId, header, route, body, uuid: crypto.randomUUID() },
      async (uuid, onDispatch) => {
        trace?.enter('policy')
        const answer = await attest(decoded, { caller, uuid, deadlineMs, onDispatch, trace })
        trace?.enter('idempotency')
        if (deadline.passed) {
          // The answer is not stored either: the claim stays until it expires, and a retry then finds the outcome in
          // the log.
          withhold([uuid])
          throw new DeadlineExceededError()
        }
        decided = uuid
        recordVerdict(decoded, answer, trace)
        return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
      },
    )
    // The pool answered in time, but the idempotency store did not: the signed answer is not sent.
    if (deadline.passed && decided !== null) withhold([decided])
    return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
  }

  const handle = async (caller: AdmittedRequest): Promise<Response> => {
    const { request, requestId, rateLimit, deadline, trace = null } = caller
    const body = await readJsonBody(request)
    const confirmed = caller.confirmKey()
    if (confirmed !== undefined) await confirmed
    const decoded = decode(parseStrictJsonObject(body))
    const header = request.headers.get('idempotency-key')
    if (header !== null) return answerOnce(header, body, decoded, caller)
    const uuid = crypto.randomUUID()
    trace?.enter('policy')
    const answer = await attest(decoded, {
      caller,
      uuid,
      deadlineMs: deadline.deadlineMs,
      onDispatch: NOT_CLAIMED,
      trace,
    })
    recordVerdict(decoded, answer, trace)
    // The pool answered in time, but this thread was blocked before it could send the answer.
    if (deadline.passed) withhold([uuid])
    return jsonResponse(answer.body, requestId, { rateLimit })
  }

  return gate(settings, handle)
}
