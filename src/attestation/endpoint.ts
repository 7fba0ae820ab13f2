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
}

export interface EndpointDefinition<Decoded> {
  readonly kind: DecisionKind
  /** The path, as metrics name it and as idempotency keys are bound to it. */
  readonly route: string
  readonly decode: (body: JsonObject) => Decoded
  readonly perform: (request: Decoded, context: CallContext) => Promise<CallAnswer>
}

export const createEndpoint = <Decoded>(
  { gate, idempotent, metrics }: EndpointDependencies,
  { kind, route, decode, perform }: EndpointDefinition<Decoded>,
): Endpoint => {
  const settings: GateSettings = {
    method: 'POST',
    route,
    scope: 'attestation',
    readKey: (headers) => headers.get('x-api-key'),
    challenge: API_KEY_CHALLENGE,
  }
  return gate(settings, async ({ request, requestId, principal, rateLimit, deadline }) => {
    const { organizationId, keyId, environment } = principal
    const { deadlineMs } = deadline
    const body = await readJsonBody(request)
    const decoded = decode(parseStrictJsonObject(body))
    const header = request.headers.get('idempotency-key')
    const final = await idempotent({ organizationId, keyId, header, route, body, uuid: randomUUID() }, async (uuid) => {
      const answer = await perform(decoded, { organizationId, keyId, environment, requestId, uuid, deadlineMs })
      metrics.recordDecision(kind, answer.chainName, answer.compliant)
      return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
    })
    return jsonResponse(final.body, requestId, { rateLimit, replayed: final.replayed })
  })
}
