// The way of a request of interface A behind the gate: body, idempotency, use case, answer. One function for both
// endpoints, so that neither forgets a step.
import { type CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { Call, Endpoint, Gate, GateSettings } from '../http/gate.ts'
import type { IdempotencyGuard } from '../http/idempotency.ts'
import { readJsonBody } from '../http/json-body.ts'
import { API_KEY_CHALLENGE, jsonResponse } from '../http/response.ts'
import { type JsonObject, parseStrictJsonObject } from '../http/strict-json.ts'
import type { DecisionKind, Metrics } from '../telemetry/metrics.ts'
import type { CallAnswer, CallContext } from './job.ts'

export interface EndpointDependencies {
  readonly gate: Gate
  readonly idempotent: IdempotencyGuard
  readonly metrics: Pick<Metrics, 'recordDecision'>
  /** A decision was made for a request that was answered 408 meanwhile: the log must say so (invariant 4). */
  readonly withhold: (uuids: readonly string[]) => void
  /** The refusal that a request would meet by its organization's cap or at the pool, if any: the same error each time. */
  readonly refusal: (organizationId: string, deadlineMs: number) => CountersignError | null
  /** Milliseconds until a write to the store asked for now would be done; null: too many wait. */
  readonly storeBacklogMs: () => number | null
}

export interface EndpointDefinition<Decoded> {
  readonly kind: DecisionKind
  /** The path, as metrics name it and as idempotency keys are bound to it. */
  readonly route: string
  readonly decode: (body: JsonObject) => Decoded
  readonly perform: (request: Decoded, context: CallContext) => Promise<CallAnswer>
}

const IGNORE = (): undefined => undefined
/**
 * An idempotency key is two writes, a claim and an answer, and over PostgreSQL a third, the dispatch between them. Each
 * waits for the store, and the wait that is forecast now has grown by the time they come. Measured with a deadline of half a second at twice and ten times capacity: with 3, 4
 * and 6 a quarter, a fifth and a twentieth of what was sent was taken in and came too late.
 */
const STORE_TURNS = 6
/** One for all: see the pool's. */
const STORE_CROWDED = new QueueFullError(1)

export const createEndpoint = <Decoded>(
  { gate, idempotent, metrics, withhold, refusal, storeBacklogMs }: EndpointDependencies,
  { kind, route, decode, perform }: EndpointDefinition<Decoded>,
): Endpoint => {
  const settings: GateSettings = {
    method: 'POST',
    route,
    scope: 'attestation',
    readKey: (headers) => headers.get('x-api-key'),
    challenge: API_KEY_CHALLENGE,
    // Under a flood most of the time would go into reading and claiming what is refused afterwards. A repetition is
    // refused as well, though its answer may be there: to find out is what there is no time for.
    refusal: ({ organizationId }, headers, deadlineMs) => {
      if (!headers.has('idempotency-key')) return refusal(organizationId, deadlineMs)
      const backlogMs = storeBacklogMs()
      return backlogMs === null ? STORE_CROWDED : refusal(organizationId, deadlineMs - backlogMs * STORE_TURNS)
    },
  }

  /** With an Idempotency-Key: answered once, whatever is retried. */
  const answerOnce = async (
    header: string,
    body: string,
    decoded: Decoded,
    { requestId, principal, rateLimit, deadline }: Call,
  ): Promise<Response> => {
    const { organizationId, keyId, environment } = principal
    const { deadlineMs } = deadline
    let decided: string | null = null
    const final = await idempotent(
      { organizationId, keyId, header, route, body, uuid: crypto.randomUUID() },
      async (uuid, onDispatch) => {
        const context = { organizationId, keyId, environment, requestId, uuid, deadlineMs, onDispatch }
        const answer = await perform(decoded, context)
        if (deadline.passed) {
          // Not stored as the answer either: its claim stays until it expires, and the log then tells what it came to.
          withhold([uuid])
          throw new DeadlineExceededError()
        }
        decided = uuid
        metrics.recordDecision(kind, answer.chainName, answer.compliant)
        return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
      },
    )
    // The pool answered in time and the idempotency store did not: what was signed is not sent.
    if (deadline.passed && decided !== null) withhold([decided])
    return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
  }

  const handle = async (call: Call): Promise<Response> => {
    const { request, requestId, principal, rateLimit, deadline } = call
    const body = await readJsonBody(request)
    const confirmed = call.confirmKey()
    if (confirmed !== undefined) await confirmed
    const decoded = decode(parseStrictJsonObject(body))
    const header = request.headers.get('idempotency-key')
    if (header !== null) return answerOnce(header, body, decoded, call)
    const { organizationId, keyId, environment } = principal
    const uuid = crypto.randomUUID()
    const { deadlineMs } = deadline
    const context = { organizationId, keyId, environment, requestId, uuid, deadlineMs, onDispatch: IGNORE }
    const answer = await perform(decoded, context)
    metrics.recordDecision(kind, answer.chainName, answer.compliant)
    // The pool answered in time, and this thread was held up before it could be sent.
    if (deadline.passed) withhold([uuid])
    return jsonResponse(answer.body, requestId, { rateLimit })
  }

  return gate(settings, handle)
}
