// Builds messages: the session's status object and sequence, without evidence.
import { levelName } from '../../domain/level.ts'
import { parsePolicyActor, SESSION_TYPES } from '../../domain/session.ts'
import type {
  WebhookEndpoint,
  WebhookMessageType,
  WebhookOutcome,
  WebhookSnapshot,
} from '../../domain/webhook-message.ts'
import { isoTime } from '../../lib/time.ts'
import { IDENTITY_PATHS } from '../paths.ts'
import { buildStatus } from '../sessions/status.ts'

const providerPath = (endpointId: string, sessionId: string, what: 'result' | 'evidence'): string => {
  const { path } = what === 'result' ? IDENTITY_PATHS.providerResult : IDENTITY_PATHS.providerEvidence
  return path.replace('{endpointId}', () => endpointId).replace('{sessionId}', () => sessionId)
}

const WITH_CHECKS: ReadonlySet<WebhookMessageType> = new Set([
  'session.status_changed',
  'session.checked',
  'screening.hit',
])

export interface ClaimedMessage {
  /** Message id, the same in every attempt. */
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly type: WebhookMessageType
  /** Number of attempts, including the current attempt. */
  readonly attempts: number
  readonly snapshot: WebhookSnapshot
}

export interface WebhookMessageStore {
  /** @param underWay returns the number of messages being sent for an endpoint or organization id */
  claim(limit: number, claimSeconds: number, underWay: (id: string) => number): Promise<readonly ClaimedMessage[]>
  settle(message: Pick<ClaimedMessage, 'organizationId' | 'id' | 'attempts'>, outcome: WebhookOutcome): Promise<boolean>
}

export interface WebhookEndpointStore {
  find(organizationId: string, id: string): Promise<WebhookEndpoint | null>
  findDecider(id: string): Promise<WebhookEndpoint | null>
  organizationsWithDecider(): Promise<readonly string[]>
}

const dataOf = ({ type, endpointId, snapshot }: ClaimedMessage): object => {
  const { state, event, checks = [], openHits } = snapshot
  const { session } = state
  const told = {
    ...buildStatus(state),
    type: SESSION_TYPES[session.checkType],
    environment: session.environment,
    // Messages may arrive in any order; the highest number is the newest.
    sequence: event.sequence,
    ...(WITH_CHECKS.has(type) ? { checks: checks.map(({ name: check, outcome }) => ({ check, outcome })) } : {}),
    ...(openHits === undefined ? {} : { hits: openHits }),
  }
  if (type !== 'session.decision_requested') {
    const decider = parsePolicyActor(event.actor ?? '')
    return {
      ...told,
      ...(event.publicComment === null ? {} : { comment: event.publicComment }),
      ...(decider === null ? {} : { decidedBy: { policyId: decider.policyId, revision: decider.revision } }),
    }
  }
  return {
    ...told,
    level: levelName(session.level),
    retryCount: session.retryCount,
    resultPath: providerPath(endpointId, session.id, 'result'),
    evidencePath: providerPath(endpointId, session.id, 'evidence'),
  }
}

export const messageBody = (message: ClaimedMessage): string =>
  JSON.stringify({
    type: message.type,
    timestamp: isoTime(message.snapshot.event.createdAtSeconds),
    data: dataOf(message),
  })
