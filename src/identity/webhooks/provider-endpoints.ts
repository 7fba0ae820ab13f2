// Receives results and evidence requests from an external decider. A message must be signed with the endpoint's secret,
// at most five minutes old, and new. Its session must belong to the organization and be assigned to the decider.
// Source: Standard Webhooks 1.0.0; threats row 1.
import { fixedError } from '../../domain/errors.ts'
import type { SessionState, SessionStatus, StatusChange } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import { WEBHOOK_PROVIDER, type WebhookEndpoint } from '../../domain/webhook-message.ts'
import { serviceKey } from '../../lib/service-key.ts'
import type { Clock } from '../../lib/time.ts'
import { jsonResponse } from '../../server/response.ts'
import { SECURITY_HEADERS } from '../../server/security-headers.ts'
import type { SignedCall, SignedEndpoint, SignedGate } from '../../server/signed-gate.ts'
import type { EvidenceService } from '../evidence-types.ts'
import { IDENTITY_PATHS } from '../paths.ts'
import { parseSessionId } from '../schema.ts'
import { buildStatus } from '../sessions/status.ts'
import type { WebhookEndpointStore } from './message.ts'
import { decodeEvidenceRequest, decodeResult } from './provider-message.ts'
import type { EndpointSecrets } from './secrets.ts'

export interface ProviderEndpoints {
  readonly providerResult: SignedEndpoint
  readonly providerEvidence: SignedEndpoint
  /** Receives webhooks of a verification service; null if no service is connected. */
  readonly providerEvent: SignedEndpoint | null
}

export interface ProviderMessage {
  readonly organizationId: string
  readonly endpointId: string
  readonly messageId: string
  readonly sessionId: string
}

export interface ProviderEndpointDependencies {
  readonly gate: SignedGate
  readonly endpoints: Pick<WebhookEndpointStore, 'findDecider'>
  readonly secretsOf: EndpointSecrets
  readonly findSession: (organizationId: string, sessionId: string) => Promise<SessionState | null>
  /** Records the message and makes the change atomically. Returns null if the message was already processed. */
  readonly decide: (message: ProviderMessage, change: StatusChange) => Promise<SessionState | null>
  /** Returns false for a message processed before. */
  readonly spend: (message: ProviderMessage) => Promise<boolean>
  readonly evidence: Pick<EvidenceService, 'readFields' | 'listEvidence' | 'openDocument'>
  /** Times of the last submissions by session id, in Unix seconds. */
  readonly submittedTimes: (
    organizationId: string,
    sessionIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>
  readonly clock: Clock
  /** Called if a service contradicts a session's existing decision; a person must review it. */
  readonly onLateDecision: (sessionId: string, status: SessionStatus) => void
}

export type CreateServiceEndpoint = (dependencies: ProviderEndpointDependencies) => SignedEndpoint

export const SERVICE_EVENTS = serviceKey<() => Promise<CreateServiceEndpoint>>('events of verification services')

class ProviderMessageRepeatedError extends fixedError(
  'SESSION_CONFLICT',
  'this message was already accepted: send a new message with a new ID',
) {}

class DocumentUnknownError extends fixedError('NOT_FOUND', 'document not found') {}

type SessionCall = SignedCall<(typeof IDENTITY_PATHS)['providerResult' | 'providerEvidence']['path'], WebhookEndpoint>

const ACTOR = `provider:${WEBHOOK_PROVIDER}`

export const createProviderEndpoints = (
  dependencies: ProviderEndpointDependencies,
  createServiceEndpoint: CreateServiceEndpoint | null,
): ProviderEndpoints => {
  const { gate, endpoints, secretsOf, findSession, decide, spend, evidence } = dependencies

  const findSender = async ({ endpointId }: SessionCall['parameters']) => {
    const endpoint = await endpoints.findDecider(endpointId)
    if (endpoint === null) return null
    return { sender: endpoint, organizationId: endpoint.organizationId, secrets: await secretsOf(endpoint) }
  }

  const requireSession = async ({ parameters, sender }: SessionCall): Promise<SessionState> => {
    const sessionId = parseSessionId(parameters.sessionId)
    const state = sessionId === null ? null : await findSession(sender.organizationId, sessionId)
    if (state === null || state.session.provider !== WEBHOOK_PROVIDER) throw new SessionUnknownError()
    return state
  }

  const messageOf = ({ sender, messageId }: SessionCall, sessionId: string): ProviderMessage => ({
    messageId,
    sessionId,
    organizationId: sender.organizationId,
    endpointId: sender.id,
  })

  return {
    providerResult: gate({ path: IDENTITY_PATHS.providerResult.path, findSender }, async (call) => {
      const { session } = await requireSession(call)
      const { status, publicComment, privateComment, sequence } = decodeResult(call.message, session.id)
      const decided = await decide(messageOf(call, session.id), {
        organizationId: session.organizationId,
        sessionId: session.id,
        publicComment,
        privateComment,
        to: status,
        actor: ACTOR,
        expectedSequence: sequence,
      })
      // A sender that missed the first response receives it again.
      const state = decided ?? (await requireSession(call))
      const answer = { ...buildStatus(state), applied: decided !== null }
      return jsonResponse(JSON.stringify(answer), call.requestId)
    }),

    providerEvidence: gate({ path: IDENTITY_PATHS.providerEvidence.path, findSender }, async (call) => {
      const { session } = await requireSession(call)
      const { documentId } = decodeEvidenceRequest(call.message, session.id)
      if (!(await spend(messageOf(call, session.id)))) throw new ProviderMessageRepeatedError()
      if (documentId === null) {
        const { documents } = await evidence.listEvidence(session)
        const fields = await evidence.readFields(session, ACTOR)
        return jsonResponse(JSON.stringify({ sessionId: session.id, fields, documents }), call.requestId)
      }
      const opened = await evidence.openDocument(session, documentId, ACTOR)
      if (opened === null) throw new DocumentUnknownError()
      const { receipt, stream } = opened
      return new Response(stream, { headers: documentHeaders(receipt.mediaType, call.requestId) })
    }),

    providerEvent: createServiceEndpoint?.(dependencies) ?? null,
  }
}

/** The file is untrusted, so it is served only as a download (threats row 17). */
const documentHeaders = (mediaType: string, requestId: string): Record<string, string> => ({
  'content-type': mediaType,
  'content-disposition': 'attachment',
  ...SECURITY_HEADERS,
  'cache-control': 'no-store',
  'x-request-id': requestId,
})
