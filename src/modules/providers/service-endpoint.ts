// Receives webhooks of a verification service. A decision applies if it is for the session and later than the last
// submission; other valid messages get 200.
import { FieldInvalidError } from '../../domain/errors.ts'
import { RETRIES_MAX, type SessionState } from '../../domain/session.ts'
import { TransitionRefusedError } from '../../domain/session-errors.ts'
import { WEBHOOK_PROVIDER } from '../../domain/webhook-message.ts'
import { IDENTITY_PATHS } from '../../identity/paths.ts'
import { parseSessionId } from '../../identity/schema.ts'
import type { ProviderEndpointDependencies } from '../../identity/webhooks/provider-endpoints.ts'
import { serviceSecretsOf } from '../../identity/webhooks/secrets.ts'
import { jsonResponse } from '../../server/response.ts'
import type { SignedEndpoint } from '../../server/signed-gate.ts'
import { PERSONA } from './services/persona.ts'
import type { ServiceDecision, VerificationService } from './services/service.ts'
import { SUMSUB } from './services/sumsub.ts'
import { VERIFF } from './services/veriff.ts'

/** Maximum size of a message, which is large because messages contain all check results. */
const BODY_BYTES_MAX = 1_048_576
const AHEAD_SECONDS_MAX = 300

/** Reason that a message has no effect; `ignored` in the response. */
type Ignored = 'decides-nothing' | 'other-session' | 'decided-already' | 'decided-before-submission' | 'repeated'

const SERVICES: readonly VerificationService[] = [SUMSUB, PERSONA, VERIFF]

export const serviceNamed = (name: string | null): VerificationService | undefined =>
  SERVICES.find((service) => service.name === name)

export const createServiceEndpoint = (dependencies: ProviderEndpointDependencies): SignedEndpoint => {
  const { gate, endpoints, secretsOf, findSession, decide, submittedTimes, clock, onLateDecision } = dependencies

  const findSender = async ({ endpointId }: { readonly endpointId: string }) => {
    const endpoint = await endpoints.findDecider(endpointId)
    const service = serviceNamed(endpoint?.service ?? null)
    if (endpoint === null || service === undefined) return null
    const secrets = await serviceSecretsOf(secretsOf, endpoint)
    const { organizationId } = endpoint
    return { sender: { endpoint, service }, organizationId, secrets, verify: service.verify }
  }

  const requireRecent = ({ decidedAtMs }: ServiceDecision, ageSecondsMax: number): void => {
    const ageSeconds = clock.unixSeconds() - decidedAtMs / 1_000
    if (ageSeconds > ageSecondsMax) throw new FieldInvalidError('message', 'is too old')
    if (ageSeconds < -AHEAD_SECONDS_MAX) throw new FieldInvalidError('message', 'is dated in the future')
  }

  const sessionOf = async (organizationId: string, { reference }: ServiceDecision): Promise<SessionState | null> => {
    const sessionId = parseSessionId(reference)
    const state = sessionId === null ? null : await findSession(organizationId, sessionId)
    return state?.session.provider === WEBHOOK_PROVIDER ? state : null
  }

  /** @throws TransitionRefusedError if the session waits for the person; the service then repeats the message */
  const reasonToIgnore = async (
    { session }: SessionState,
    { status, decidedAtMs }: ServiceDecision,
  ): Promise<Ignored | null> => {
    if (session.status === 'completed' || session.status === 'rejected') {
      if (session.status !== status) onLateDecision(session.id, status)
      return 'decided-already'
    }
    const submittedAt = (await submittedTimes(session.organizationId, [session.id])).get(session.id)
    // Submission times are whole seconds: after a retry, a decision in that second may refer to the previous
    // submission.
    const isAgain = session.status === 'submitted' && session.retryCount > 0
    if (submittedAt !== undefined && decidedAtMs < (submittedAt + (isAgain ? 1 : 0)) * 1_000) {
      return 'decided-before-submission'
    }
    if (session.status !== 'submitted') throw new TransitionRefusedError(session.status, status)
    // At the maximum number of retries, a person must decide.
    return status === 'retry' && session.retryCount >= RETRIES_MAX ? 'decides-nothing' : null
  }

  return gate(
    { path: IDENTITY_PATHS.providerEvent.path, findSender, bodyBytesMax: BODY_BYTES_MAX },
    async ({ sender, message, messageId, requestId }) => {
      const { endpoint, service } = sender
      const { organizationId } = endpoint
      const answer = (ignored: Ignored | null): Response =>
        jsonResponse(JSON.stringify(ignored === null ? { applied: true } : { applied: false, ignored }), requestId)
      const decision = service.read(message)
      if (decision === null) return answer('decides-nothing')
      requireRecent(decision, service.ageSecondsMax)
      const state = await sessionOf(organizationId, decision)
      if (state === null) return answer('other-session')
      const ignored = await reasonToIgnore(state, decision)
      if (ignored !== null) return answer(ignored)
      const { id: sessionId, sequence } = state.session
      const decided = await decide(
        { organizationId, sessionId, messageId, endpointId: endpoint.id },
        {
          organizationId,
          sessionId,
          to: decision.status,
          actor: `provider:${service.name}`,
          publicComment: decision.publicComment,
          privateComment: decision.privateComment,
          // Fails if the person has submitted again.
          expectedSequence: sequence,
        },
      )
      return answer(decided === null ? 'repeated' : null)
    },
  )
}
