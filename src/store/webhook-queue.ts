// Queues a session's events for each endpoint that receives them, in the transaction that makes the change: an event is
// queued exactly when it is true (invariant 7).
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import { newOrderedId } from '../domain/identifier.ts'
import type { SessionEvent, SessionEventKind, SessionState } from '../domain/session.ts'
import type { Transaction } from './database.ts'
import { readState } from './session-rows.ts'

/** Name of the provider whose sessions an outside service decides. */
const WEBHOOK_PROVIDER = 'webhook'

/** As messages name them. */
export type WebhookMessageType =
  | 'session.created'
  | 'session.status_changed'
  | 'session.wallets_changed'
  | 'session.decision_requested'

const TYPES: Readonly<Partial<Record<SessionEventKind, WebhookMessageType>>> = {
  created: 'session.created',
  status: 'session.status_changed',
  'wallet-connected': 'session.wallets_changed',
  'wallet-removed': 'session.wallets_changed',
}

/** The content of a message: the session immediately after the event. */
export interface WebhookSnapshot {
  readonly state: SessionState
  readonly event: SessionEvent
}

/** Receivers see it; none of its characters is one that signatures are made with. */
const newMessageId = (): string => `msg_${newOrderedId().replaceAll('-', '')}`

interface TargetRow {
  readonly id: string
  readonly environment: ApiKeyEnvironment
  readonly purpose: 'events' | 'decisions'
}

const messageTypeFor = (
  target: TargetRow,
  { session }: SessionState,
  event: SessionEvent,
): WebhookMessageType | undefined => {
  if (target.environment !== session.environment) return undefined
  if (target.purpose === 'events') return TYPES[event.kind]
  const handedIn = event.kind === 'status' && event.status === 'submitted'
  return handedIn && session.provider === WEBHOOK_PROVIDER ? 'session.decision_requested' : undefined
}

/** Costs one indexed read when no endpoint receives events. The session's row must already have its new state. */
export const queueMessages = async (
  transaction: Transaction,
  session: { readonly organizationId: string; readonly id: string },
  event: SessionEvent,
): Promise<void> => {
  if (TYPES[event.kind] === undefined) return
  const { organizationId, id } = session
  const targets = await transaction.query<TargetRow>(
    `SELECT id, environment, purpose FROM webhook_endpoints WHERE organization_id = ? AND removed_at_seconds IS NULL`,
    [organizationId],
  )
  if (targets.length === 0) return
  const state = await readState(transaction, organizationId, id)
  if (state === null) return
  // Comments for operators only are not sent.
  const snapshot: WebhookSnapshot = { state, event: { ...event, privateComment: null } }
  for (const target of targets) {
    const type = messageTypeFor(target, state, event)
    if (type === undefined) continue
    await transaction.execute(
      `INSERT INTO webhook_messages (id, organization_id, endpoint_id, session_id, sequence, type, snapshot, state,
         attempts, next_attempt_at_seconds, claimed_until_seconds, created_at_seconds)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, 0, ?)`,
      [
        newMessageId(),
        organizationId,
        target.id,
        id,
        event.sequence,
        type,
        JSON.stringify(snapshot),
        event.createdAtSeconds,
        event.createdAtSeconds,
      ],
    )
  }
}
