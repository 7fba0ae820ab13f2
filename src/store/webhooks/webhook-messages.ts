// The queue of webhook messages. A sender holds a message under an expiring claim, so that a crash loses nothing. After
// the last attempt, a message is dead: it can be inspected and sent again manually.
import type { WebhookMessageType, WebhookOutcome, WebhookSnapshot } from '../../domain/webhook-message.ts'
import { shuffled } from '../../lib/shuffled.ts'
import { among, type Expression, hidden, integer, json, nullable, sql, text, typed } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import type { Page, PageRequest } from '../paging.ts'
import { chunkRows } from '../row-fields.ts'
import { defineTable, type ItemOf } from '../table.ts'

export const WEBHOOK_MESSAGE_STATES = ['waiting', 'delivered', 'dead'] as const
export type WebhookMessageState = (typeof WEBHOOK_MESSAGE_STATES)[number]

const COLUMNS = {
  /** The same for every attempt, so that receivers can recognize duplicates. */
  id: text,
  organizationId: text,
  endpointId: text,
  sessionId: text,
  sequence: integer,
  type: typed<WebhookMessageType>(),
  state: typed<WebhookMessageState>(),
  attempts: integer,
  nextAttemptAtSeconds: integer,
  /** HTTP status of the last response, if any. */
  lastStatus: nullable(integer),
  lastFailure: nullable(text),
  createdAtSeconds: integer,
  settledAtSeconds: nullable(integer),
  claimedUntilSeconds: hidden(integer),
}

const MESSAGES = defineTable('webhook_messages', COLUMNS)
export const SENT_MESSAGES = defineTable('webhook_messages', { ...COLUMNS, snapshot: json<WebhookSnapshot>() })

export interface WebhookMessage extends ItemOf<typeof MESSAGES> {}
type ClaimedMessage = ItemOf<typeof SENT_MESSAGES>

/** Maximum concurrent messages per endpoint, so that an unresponsive endpoint does not block the others. */
const PER_ENDPOINT_MAX = 8
/** Maximum concurrent messages per organization; fewer than a process sends at once. */
const PER_ORGANIZATION_MAX = 24
/** Maximum messages that one transaction changes: about 20 milliseconds of work. */
export const MESSAGES_AT_ONCE = 2_000
const DELIVERED_KEEP_SECONDS = 7 * 86_400
const DEAD_KEEP_SECONDS = 30 * 86_400
/** If a claim or an outcome is lost, the message is sent again with the same id. */
const DURABILITY = { survives: 'process-crash' } as const

const PAUSED = 'SELECT id FROM webhook_endpoints WHERE paused_at_seconds IS NOT NULL AND removed_at_seconds IS NULL'

/** Uses an index, so that the number of waiting messages does not matter. */
const ENDPOINTS_WITH_DUE = `SELECT id, organization_id FROM webhook_endpoints
  WHERE removed_at_seconds IS NULL AND paused_at_seconds IS NULL AND EXISTS (
    SELECT 1 FROM webhook_messages WHERE endpoint_id = webhook_endpoints.id AND state = 'waiting'
      AND next_attempt_at_seconds <= ? AND claimed_until_seconds <= ?)`

const DUE = `SELECT id FROM webhook_messages WHERE endpoint_id = ? AND state = 'waiting' AND next_attempt_at_seconds <= ?
  AND claimed_until_seconds <= ? ORDER BY next_attempt_at_seconds, id LIMIT ?`

const REMOVED = 'SELECT id FROM webhook_endpoints WHERE removed_at_seconds IS NOT NULL'

const inUse = (organizationId: string): Expression => sql`endpoint_id IN (
  SELECT id FROM webhook_endpoints WHERE organization_id = ${organizationId} AND removed_at_seconds IS NULL)`

const selectDead = (organizationId: string): Expression => sql`SELECT id FROM webhook_messages
  WHERE organization_id = ${organizationId} AND ${inUse(organizationId)} AND state = 'dead'
  ORDER BY endpoint_id, created_at_seconds, id LIMIT ${MESSAGES_AT_ONCE}`

/**
 * Marks a batch of waiting messages as dead. Returns their number.
 * @param endpoints SQL query that selects the endpoint ids
 */
export const endMessages = (
  scope: Pick<TableScope, 'execute' | 'nowSeconds'>,
  endpoints: string,
  parameters: readonly string[],
): Promise<number> =>
  scope.execute(
    `UPDATE webhook_messages SET state = 'dead', settled_at_seconds = ?, last_failure = 'the endpoint was removed'
     WHERE state = 'waiting' AND id IN (
       SELECT id FROM webhook_messages WHERE endpoint_id IN (${endpoints}) AND state = 'waiting' LIMIT ?)`,
    [scope.nowSeconds(), ...parameters, MESSAGES_AT_ONCE],
  )

export const createWebhookMessageTable = (scope: TableScope) => ({
  /**
   * Claims due messages of all organizations; those with the fewest messages in progress come first.
   * @param underWay number of messages that the caller is sending, by id of an endpoint or organization
   * @param allowed called in the transaction, so that a process that may no longer send claims nothing
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
          // Another process may have claimed the message in the meantime.
          const message = await SENT_MESSAGES.everywhere.update(
            transaction,
            { id, state: 'waiting', claimedUntilSeconds: sql`<= ${nowSeconds}` },
            { claimedUntilSeconds: nowSeconds + claimSeconds, attempts: sql`attempts + 1` },
          )
          if (message !== null) claimed.push(message)
        }
      }
      return claimed
    }, DURABILITY)
  },

  /** Returns false if the message is settled, or if another attempt has begun; a delivery counts even then. */
  settle: async (
    { organizationId, id, attempts }: Pick<WebhookMessage, 'organizationId' | 'id' | 'attempts'>,
    outcome: WebhookOutcome,
  ): Promise<boolean> => {
    const nowSeconds = scope.nowSeconds()
    const isWaiting = outcome.state === 'waiting'
    const isDelivered = outcome.state === 'delivered'
    const settled = await MESSAGES.updateAll(
      survivingCrashes(scope),
      { organizationId, id, state: 'waiting', ...(isDelivered ? {} : { attempts }) },
      {
        state: outcome.state,
        lastStatus: outcome.status,
        lastFailure: isDelivered ? null : outcome.failure,
        claimedUntilSeconds: 0,
        nextAttemptAtSeconds: isWaiting ? outcome.nextAttemptAtSeconds : nowSeconds,
        settledAtSeconds: isWaiting ? null : nowSeconds,
      },
    )
    return settled > 0
  },

  /** Returns the waiting messages of all organizations, and the due time of the first; excludes paused endpoints. */
  queueState: async (): Promise<{ readonly waiting: number; readonly nextAttemptAtSeconds: number | null }> => {
    const { query, queryLong = query } = scope.statements
    const [row] = await queryLong<{ waiting: number; next: number | null }>(
      `SELECT COUNT(*) AS waiting, MIN(next_attempt_at_seconds) AS next FROM webhook_messages
       WHERE state = 'waiting' AND endpoint_id NOT IN (${PAUSED})`,
    )
    return { waiting: row?.waiting ?? 0, nextAttemptAtSeconds: row?.next ?? null }
  },

  page: (
    organizationId: string,
    { state, endpointId }: { readonly state?: WebhookMessageState; readonly endpointId?: string },
    page: PageRequest,
  ): Promise<Page<WebhookMessage>> => {
    const newestFirst = { by: ['createdAtSeconds', 'id'], descending: true } as const
    return MESSAGES.page(scope, { organizationId, state, endpointId }, newestFirst, page)
  },

  find: (organizationId: string, id: string): Promise<ClaimedMessage | null> =>
    SENT_MESSAGES.find(scope, { organizationId, id }),

  /** Resends an ended message, or each endpoint's oldest dead messages, from the first attempt. Returns their number. */
  resend: (organizationId: string, messageId: string | null): Promise<number> => {
    const fromFirst = {
      state: 'waiting',
      attempts: 0,
      claimedUntilSeconds: 0,
      settledAtSeconds: null,
      nextAttemptAtSeconds: scope.nowSeconds(),
    } as const
    if (messageId !== null) {
      const ended = { organizationId, id: messageId, state: sql`<> 'waiting'` }
      return MESSAGES.updateAll(scope, ended, fromFirst, inUse(organizationId))
    }
    // Two statements, because a single statement would find the rows by their organization, not by their ids.
    return scope.write(async (own) => {
      const { text, parameters } = selectDead(organizationId)
      const ids = (await own.query<{ id: string }>(text, parameters)).map(({ id }) => id)
      let resent = 0
      for (const chunk of chunkRows(ids)) {
        resent += await MESSAGES.everywhere.updateAll(own, { id: among(chunk), state: 'dead' }, fromFirst)
      }
      return resent
    })
  },

  /**
   * Deletes old messages, and marks waiting messages of removed endpoints as dead, one batch per call. Call again until
   * it returns 0.
   */
  sweep: async (): Promise<number> => {
    const nowSeconds = scope.nowSeconds()
    const before = sql`CASE state WHEN 'dead' THEN ${nowSeconds - DEAD_KEEP_SECONDS}
      ELSE ${nowSeconds - DELIVERED_KEEP_SECONDS} END`
    const isOld = sql`settled_at_seconds IS NOT NULL AND settled_at_seconds < ${before}`
    const lasting = survivingCrashes(scope)
    return (await MESSAGES.sweep(lasting, ['id'], isOld)) + (await endMessages(lasting, REMOVED, []))
  },
})
