// Queues a session's events for each receiving endpoint, in the transaction of the change (invariant 7).
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import { newOrderedId } from '../../domain/identifier.ts'
import type { SessionEvent, SessionEventKind } from '../../domain/session.ts'
import {
  type ToldHit,
  WEBHOOK_PROVIDER,
  type WebhookMessageType,
  type WebhookSnapshot,
} from '../../domain/webhook-message.ts'
import type { Transaction } from '../database.ts'
import { readState } from '../sessions/session-rows.ts'
import { SENT_MESSAGES } from './webhook-messages.ts'

const TYPES: Readonly<Partial<Record<SessionEventKind, WebhookMessageType>>> = {
  created: 'session.created',
  status: 'session.status_changed',
  'wallet-connected': 'session.wallets_changed',
  'wallet-removed': 'session.wallets_changed',
}

/** Visible to receivers. Contains no period, because a period separates the parts of the signed text. */
export const newWebhookMessageId = (): string => `msg_${newOrderedId().replaceAll('-', '')}`

interface TargetRow {
  readonly id: string
  readonly environment: ApiKeyEnvironment
}

const targetsOf = (
  transaction: Transaction,
  organizationId: string,
  purpose: 'events' | 'decisions' = 'events',
): Promise<readonly TargetRow[]> =>
  transaction.query<TargetRow>(
    `SELECT id, environment FROM webhook_endpoints
     WHERE organization_id = ? AND purpose = ? AND removed_at_seconds IS NULL`,
    [organizationId, purpose],
  )

const insertMessage = (
  transaction: Transaction,
  endpointId: string,
  type: WebhookMessageType,
  snapshot: WebhookSnapshot,
): Promise<unknown> => {
  const { organizationId, id: sessionId } = snapshot.state.session
  const { sequence, createdAtSeconds } = snapshot.event
  return SENT_MESSAGES.insert(transaction, {
    id: newWebhookMessageId(),
    organizationId,
    endpointId,
    sessionId,
    sequence,
    type,
    snapshot,
    createdAtSeconds,
    state: 'waiting',
    attempts: 0,
    nextAttemptAtSeconds: createdAtSeconds,
    claimedUntilSeconds: 0,
  })
}

const readChecks = (transaction: Transaction, organizationId: string, sessionId: string) =>
  transaction.query<{ name: string; outcome: string }>(
    'SELECT name, outcome FROM session_checks WHERE organization_id = ? AND session_id = ? ORDER BY name',
    [organizationId, sessionId],
  )

/** Costs one indexed read if no endpoint receives events. The session's row must already have its new state. */
export const queueMessages = async (
  transaction: Transaction,
  session: { readonly organizationId: string; readonly id: string },
  event: Omit<SessionEvent, 'overridden'>,
): Promise<void> => {
  const type = TYPES[event.kind]
  if (type === undefined) return
  const { organizationId, id } = session
  const targets = await targetsOf(transaction, organizationId)
  if (targets.length === 0) return
  const state = await readState(transaction, organizationId, id)
  if (state === null) return
  const { sequence, publicComment, createdAtSeconds, actor } = event
  const snapshot: WebhookSnapshot = {
    state,
    event: { sequence, publicComment, createdAtSeconds, actor },
    checks: event.kind === 'status' ? await readChecks(transaction, organizationId, id) : [],
  }
  for (const target of targets) {
    if (target.environment === state.session.environment) await insertMessage(transaction, target.id, type, snapshot)
  }
}

/** Queues messages without a change of the session: all its checks were made, or it has a new hit. */
export const queueCheckMessages = async (
  transaction: Transaction,
  { organizationId, sessionId }: { readonly organizationId: string; readonly sessionId: string },
  type: 'session.checked' | 'screening.hit',
  nowSeconds: number,
): Promise<void> => {
  const targets = await targetsOf(transaction, organizationId)
  const deciders = type === 'session.checked' ? await targetsOf(transaction, organizationId, 'decisions') : []
  if (targets.length + deciders.length === 0) return
  const state = await readState(transaction, organizationId, sessionId)
  if (state === null) return
  const { environment, sequence, status, provider } = state.session
  const snapshot: WebhookSnapshot = {
    state,
    event: { sequence, publicComment: null, createdAtSeconds: nowSeconds },
    checks: await readChecks(transaction, organizationId, sessionId),
    ...(type === 'screening.hit'
      ? {
          openHits: await transaction.query<ToldHit>(
            `SELECT id, check_name AS "check", list_name AS list, subject FROM screening_hits
             WHERE organization_id = ? AND session_id = ? AND state = 'open' ORDER BY id`,
            [organizationId, sessionId],
          ),
        }
      : {}),
  }
  for (const target of targets) {
    if (target.environment === environment) await insertMessage(transaction, target.id, type, snapshot)
  }
  if (status !== 'submitted' || provider !== WEBHOOK_PROVIDER) return
  for (const decider of deciders) {
    if (decider.environment !== environment) continue
    await insertMessage(transaction, decider.id, 'session.decision_requested', snapshot)
  }
}
