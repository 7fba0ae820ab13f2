// The queue of webhook messages. A sender takes a message under a claim that expires, so that a sender that dies loses
// nothing. A message ends as delivered or, after the last attempt, dead: it can then be inspected and sent again by
// hand.
import type { WebhookMessageType, WebhookOutcome, WebhookSnapshot } from '../../domain/webhook-message.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { SqlParameter, Transaction } from '../database.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { sweepRows } from '../sweep.ts'

export const WEBHOOK_MESSAGE_STATES = ['waiting', 'delivered', 'dead'] as const
export type WebhookMessageState = (typeof WEBHOOK_MESSAGE_STATES)[number]

export interface WebhookMessage {
  /** The same for every attempt, so that receivers recognise a repetition. */
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly sessionId: string
  readonly sequence: number
  readonly type: WebhookMessageType
  readonly state: WebhookMessageState
  /** Number of attempts made so far. */
  readonly attempts: number
  readonly nextAttemptAtSeconds: number
  /** HTTP status of the last attempt's answer; null when there was no answer. */
  readonly lastStatus: number | null
  /** Why the last attempt failed, in our own words. */
  readonly lastFailure: string | null
  readonly createdAtSeconds: number
  readonly settledAtSeconds: number | null
}

/** A message to send now. */
interface ClaimedMessage extends WebhookMessage {
  readonly snapshot: WebhookSnapshot
}

type MessageRow = RowOf<WebhookMessage>

interface MessageFilter {
  readonly state?: WebhookMessageState
  readonly endpointId?: string
}

const COLUMNS = `id, organization_id, endpoint_id, session_id, sequence, type, state, attempts, next_attempt_at_seconds,
  last_status, last_failure, created_at_seconds, settled_at_seconds`

/**
 * Maximum number of messages sent to one endpoint at once, so that an endpoint that does not answer does not block the
 * others.
 */
const PER_ENDPOINT_MAX = 8
/** The same for all endpoints of one organization: fewer than a process sends at once. */
const PER_ORGANIZATION_MAX = 24
/** How long delivered and dead messages are kept. */
const DELIVERED_KEEP_SECONDS = 7 * 86_400
const DEAD_KEEP_SECONDS = 30 * 86_400
/** If a claim or an outcome is lost, the message is sent once more, with the same id. */
const DURABILITY = { survives: 'process-crash' } as const

/**
 * Endpoints with messages that are due, without favouring any of them: read from an index, however many messages wait.
 */
const ENDPOINTS_WITH_DUE = `SELECT id, organization_id FROM webhook_endpoints WHERE removed_at_seconds IS NULL AND EXISTS (
    SELECT 1 FROM webhook_messages WHERE endpoint_id = webhook_endpoints.id AND state = 'waiting'
      AND next_attempt_at_seconds <= ? AND claimed_until_seconds <= ?)`

const DUE = `SELECT id FROM webhook_messages WHERE endpoint_id = ? AND state = 'waiting' AND next_attempt_at_seconds <= ?
  AND claimed_until_seconds <= ? ORDER BY next_attempt_at_seconds, id LIMIT ?`

const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)

export const createWebhookMessageTable = (scope: TableScope) => ({
  /**
   * Claims messages that are due and that no other process is sending. The deployment's own work, over all
   * organizations: those with the fewest messages under way come first.
   * @param underWay how many messages the caller is already sending, by the id of an endpoint or organization
   * @param allowed called in the transaction that claims, so that a process that may no longer send claims nothing
   */
  claim: async (
    limit: number,
    claimSeconds: number,
    underWay: (id: string) => number = () => 0,
    allowed: (transaction: Transaction) => Promise<boolean> = async () => true,
  ): Promise<readonly ClaimedMessage[]> => {
    const nowSeconds = scope.nowSeconds()
    const endpoints = await scope.statements.query<{ id: string; organization_id: string }>(ENDPOINTS_WITH_DUE, [
      nowSeconds,
      nowSeconds,
    ])
    const ready = shuffled(
      endpoints.filter(
        ({ id, organization_id: owner }) => underWay(id) < PER_ENDPOINT_MAX && underWay(owner) < PER_ORGANIZATION_MAX,
      ),
    ).sort((one, other) => underWay(one.organization_id) - underWay(other.organization_id))
    // Usually there is none, and then nothing is written.
    if (ready.length === 0) return []
    return scope.write(async (transaction) => {
      if (!(await allowed(transaction))) return []
      const claimed: ClaimedMessage[] = []
      for (const { id: endpointId, organization_id: owner } of ready) {
        const ofOwner = claimed.filter(({ organizationId }) => organizationId === owner).length
        const places = Math.min(
          PER_ENDPOINT_MAX - underWay(endpointId),
          PER_ORGANIZATION_MAX - underWay(owner) - ofOwner,
          limit - claimed.length,
        )
        if (places <= 0) continue
        const due = await transaction.query<{ id: string }>(DUE, [endpointId, nowSeconds, nowSeconds, places])
        for (const { id } of due) {
          const [row] = await transaction.query<MessageRow & { readonly snapshot: string }>(
            // Check again: another process may have claimed the message since it was read.
            `UPDATE webhook_messages SET claimed_until_seconds = ?, attempts = attempts + 1
             WHERE id = ? AND state = 'waiting' AND claimed_until_seconds <= ? RETURNING ${COLUMNS}, snapshot`,
            [nowSeconds + claimSeconds, id, nowSeconds],
          )
          if (row !== undefined) claimed.push({ ...fieldsOf(row), snapshot: JSON.parse(row.snapshot) })
        }
      }
      return claimed
    }, DURABILITY)
  },

  /**
   * Records the result of an attempt. Returns false, and changes nothing, when the message was settled meanwhile (for
   * example because its endpoint was removed), or when the claim expired and another attempt has begun, whose failure
   * counts. A successful delivery counts whichever attempt reports it.
   */
  settle: (
    { organizationId, id, attempts }: Pick<WebhookMessage, 'organizationId' | 'id' | 'attempts'>,
    outcome: WebhookOutcome,
  ): Promise<boolean> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const settled = await transaction.execute(
        `UPDATE webhook_messages SET state = ?, last_status = ?, last_failure = ?, claimed_until_seconds = 0,
           next_attempt_at_seconds = ?, settled_at_seconds = ?
         WHERE organization_id = ? AND id = ? AND state = 'waiting' ${outcome.state === 'delivered' ? '' : 'AND attempts = ?'}`,
        [
          outcome.state,
          outcome.status,
          outcome.state === 'delivered' ? null : outcome.failure,
          outcome.state === 'waiting' ? outcome.nextAttemptAtSeconds : nowSeconds,
          outcome.state === 'waiting' ? null : nowSeconds,
          organizationId,
          id,
          ...(outcome.state === 'delivered' ? [] : [attempts]),
        ],
      )
      return settled > 0
    }, DURABILITY),

  /**
   * The number of waiting messages over all organizations, and when the first is due; null when none waits. Reads only
   * an index.
   */
  queueState: async (): Promise<{ readonly waiting: number; readonly nextAttemptAtSeconds: number | null }> => {
    const [row] = await scope.statements.query<{ waiting: number; next: number | null }>(
      "SELECT COUNT(*) AS waiting, MIN(next_attempt_at_seconds) AS next FROM webhook_messages WHERE state = 'waiting'",
    )
    return { waiting: row?.waiting ?? 0, nextAttemptAtSeconds: row?.next ?? null }
  },

  /** Newest first. */
  page: (organizationId: string, filter: MessageFilter, page: PageRequest): Promise<Page<WebhookMessage>> => {
    const where = ['organization_id = ?']
    const parameters: SqlParameter[] = [organizationId]
    addFilter(where, parameters, 'state', filter.state)
    addFilter(where, parameters, 'endpoint_id', filter.endpointId)
    return queryPage<MessageRow, WebhookMessage>(
      scope.statements,
      {
        select: `SELECT ${COLUMNS} FROM webhook_messages`,
        where,
        parameters,
        order: ['created_at_seconds', 'id'],
        descending: true,
      },
      page,
      fieldsOf,
    )
  },

  /** Null when the organization has no such message. */
  find: async (organizationId: string, id: string): Promise<WebhookMessage | null> => {
    const [row] = await scope.statements.query<MessageRow>(
      `SELECT ${COLUMNS} FROM webhook_messages WHERE organization_id = ? AND id = ?`,
      [organizationId, id],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /**
   * Sends again, immediately and from the first attempt: one message, delivered or dead, or all dead messages of an
   * organization whose endpoints still exist. Returns their number.
   */
  resend: (organizationId: string, messageId: string | null): Promise<number> =>
    scope.write((transaction) => {
      const nowSeconds = scope.nowSeconds()
      const which = messageId === null ? "state = 'dead'" : "state <> 'waiting' AND id = ?"
      return transaction.execute(
        `UPDATE webhook_messages SET state = 'waiting', attempts = 0, next_attempt_at_seconds = ?,
           claimed_until_seconds = 0, settled_at_seconds = NULL
         WHERE organization_id = ? AND ${which} AND endpoint_id IN (
           SELECT id FROM webhook_endpoints WHERE organization_id = ? AND removed_at_seconds IS NULL)`,
        messageId === null
          ? [nowSeconds, organizationId, organizationId]
          : [nowSeconds, organizationId, messageId, organizationId],
      )
    }),

  /** Deletes a batch of messages that were kept long enough. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) =>
        sweepRows(
          transaction,
          'webhook_messages',
          'id',
          "settled_at_seconds IS NOT NULL AND settled_at_seconds < CASE state WHEN 'dead' THEN ? ELSE ? END",
          scope.nowSeconds() - DEAD_KEEP_SECONDS,
          scope.nowSeconds() - DELIVERED_KEEP_SECONDS,
        ),
      DURABILITY,
    ),
})
