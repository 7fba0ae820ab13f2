// The way of a request of interface A behind the gate: body, idempotency, use case, answer. One function for both
// endpoints, so that neither forgets a step.
import { randomUUID } from 'node:crypto'
import type { Endpoint, Gate, GateSettings } from '../http/gate.ts'
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
  readonly withhold: (uuid: string) => void
}

export interface EndpointDefinition<Decoded> {
  readonly kind: DecisionKind
  /** The path, as metrics name it and as idempotency keys are bound to it. */
  readonly route: string
  readonly decode: (body: JsonObject) => Decoded
  readonly perform: (request: Decoded, context: CallContext) => Promise<CallAnswer>
}

export const createEndpoint = <Decoded>(
  { gate, idempotent, metrics, withhold }: EndpointDependencies,
  { kind, route, decode, perform }: EndpointDefinition<Decoded>,
): Endpoint => {
  const settings: GateSettings = {
    method: 'POST',
    route,
    scope: 'attestation',
    readKey: (headers) => headers.get('x-api-key'),
    challenge: API_KEY_CHALLENGE,
  }
  return gate(settings, async ({ request, requestId, principal, rateLimit, deadline, confirmKey }) => {
    const { organizationId, keyId, environment } = principal
    const { deadlineMs } = deadline
    const body = await readJsonBody(request)
    await confirmKey()
    const decoded = decode(parseStrictJsonObject(body))
    const header = request.headers.get('idempotency-key')
    let decided: string | null = null
    const final = await idempotent(
      { organizationId, keyId, header, route, body, uuid: randomUUID() },
      async (uuid, onDispatch) => {
        const context = { organizationId, keyId, environment, requestId, uuid, deadlineMs, onDispatch }
        const answer = await perform(decoded, context)
        decided = uuid
        metrics.recordDecision(kind, answer.chainName, answer.compliant)
        return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
      },
    )
    // The pool answered in time and the idempotency store did not: what was signed is not sent.
    if (deadline.passed && decided !== null) withhold(decided)
    return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
  })
}
