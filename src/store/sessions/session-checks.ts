// Session checks, and the queue of pending checks. A session enters the queue in the transaction that submits it,
// and leaves it after all follow-up work.
import { type BoundHit, isUncompared } from '../../domain/screening-hit.ts'
import { COMPARED_STATUSES, type Session, type SessionStatus } from '../../domain/session.ts'
import { ChecksPendingError, UncomparedError } from '../../domain/session-errors.ts'
import { shuffled } from '../../lib/shuffled.ts'
import { among, columnsOf, type Expression, flag, hidden, integer, json, type NewRow, sql, text } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { endClearedHits, replaceHits } from '../lists/screening-checks.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { queueCheckMessages } from '../webhooks/webhook-queue.ts'
import { lockSessionAsItIs, placeholdersFor, SESSIONS } from './session-rows.ts'
import { announceSharing, whileSharing } from './session-sharing.ts'

interface NewCheck {
  readonly name: string
  readonly outcome: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly version: string
  readonly hits?: readonly BoundHit[]
  readonly subjectBases?: readonly string[]
  readonly settings?: string
  readonly lowestScore?: number
}

interface StoredCheck extends Omit<NewCheck, 'hits' | 'subjectBases' | 'settings' | 'lowestScore'> {
  readonly checkedAtSeconds: number
}

/** Parameters that match a part's checks. Names of parts contain no LIKE wildcards. */
const ofPart = (part: string): readonly [string, string] => [part, `${part}.%`]

const QUEUE = defineTable('session_check_queue', {
  organizationId: text,
  sessionId: text,
  sequence: integer,
  attempts: integer,
  /** True when all checks are stored. */
  isMade: flag,
  dueAtSeconds: hidden(integer),
})

interface QueuedChecks extends ItemOf<typeof QUEUE> {}

type QueuedSession = Pick<QueuedChecks, 'organizationId' | 'sessionId' | 'sequence'>

const CHECKS = defineTable('session_checks', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  ownOutcome: hidden(text),
  ...columnsOf<Omit<StoredCheck, 'detail'>>()('name outcome version checkedAtSeconds'),
  detail: json<StoredCheck['detail']>(),
})

/** After a power loss, the checks are repeated. */
const DURABILITY = { survives: 'process-crash' } as const

const isPending = async (statements: Statements, organizationId: string, sessionId: string): Promise<boolean> =>
  (await QUEUE.find(statements, { organizationId, sessionId, isMade: false })) !== null

/** Call in the transaction that submits a session or finds its checks missing. Deletes earlier checks. */
export const queueChecks = async (
  transaction: Transaction,
  { organizationId, id, sequence }: Pick<Session, 'organizationId' | 'id' | 'sequence'>,
  nowSeconds: number,
): Promise<void> => {
  await CHECKS.removeAll(transaction, { organizationId, sessionId: id })
  const queued = { sequence, dueAtSeconds: nowSeconds, attempts: 0, isMade: false }
  await QUEUE.put(transaction, { organizationId, sessionId: id }, queued)
}

/** Call in the transaction that completes a session, before reading its hits. @throws ChecksPendingError */
export const requireChecksMade = async (
  transaction: Transaction,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  if (await isPending(transaction, organizationId, id)) throw new ChecksPendingError()
}

/** Call in the transaction that completes a session automatically. @throws UncomparedError */
export const requireCompared = async (
  transaction: Transaction,
  { organizationId, id: sessionId }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  if (isUncompared(await CHECKS.list(transaction, { organizationId, sessionId }, ['name']))) throw new UncomparedError()
}

interface SessionChecks {
  readonly sessionId: string
  readonly checks: readonly NewCheck[]
}

/** Replaces a part's checks, including their hits. @returns new hits by session; omits sessions without new hits */
const writeChecks = async (
  transaction: Transaction,
  organizationId: string,
  part: string,
  made: readonly SessionChecks[],
  nowSeconds: number,
): Promise<ReadonlyMap<string, number>> => {
  const opened = new Map<string, number>()
  if (made.length === 0) return opened
  const ids = made.map(({ sessionId }) => sessionId)
  const ofSessions = `organization_id = ? AND session_id IN (${placeholdersFor(ids)})`
  const known = await transaction.query<{ session_id: string }>(
    `SELECT DISTINCT session_id FROM screening_hits WHERE ${ofSessions}`,
    [organizationId, ...ids],
  )
  const haveHits = new Set(known.map((row) => row.session_id))
  const written: NewRow<(typeof CHECKS)['shape']>[] = []
  // Hits first: this locks the session in the same order as a decision. Hits of an omitted check stay open.
  for (const { sessionId, checks } of made) {
    const isFailed = checks.some(({ name, outcome }) => name === part && outcome === 'not-done')
    if (haveHits.has(sessionId) && !isFailed) {
      const names = new Set(checks.map(({ name }) => name))
      const isOmitted = (name: string) => (name === part || name.startsWith(`${part}.`)) && !names.has(name)
      await endClearedHits(transaction, { organizationId, sessionId }, isOmitted, nowSeconds)
    }
    for (const check of checks) {
      const { name, outcome, detail, version, hits, settings = '', lowestScore = 0, subjectBases = [] } = check
      const row = {
        organizationId,
        sessionId,
        name,
        ownOutcome: outcome,
        detail,
        version,
        checkedAtSeconds: nowSeconds,
      }
      if (hits === undefined || (hits.length === 0 && !haveHits.has(sessionId))) {
        written.push({ ...row, outcome })
        continue
      }
      const target = { organizationId, sessionId, check: name }
      const found = await replaceHits(
        transaction,
        target,
        { hits, outcome, settings, lowestScore, subjectBases },
        nowSeconds,
      )
      written.push({ ...row, outcome: found.outcome })
      if (found.opened > 0) opened.set(sessionId, (opened.get(sessionId) ?? 0) + found.opened)
    }
  }
  await transaction.execute(`DELETE FROM session_checks WHERE ${ofSessions} AND (name = ? OR name LIKE ?)`, [
    organizationId,
    ...ids,
    ...ofPart(part),
  ])
  // If another process stores the same check concurrently, the later write wins.
  await CHECKS.putAll(transaction, ['organizationId', 'sessionId', 'name'], written)
  for (const sessionId of opened.keys()) {
    await queueCheckMessages(transaction, { organizationId, sessionId }, 'screening.hit', nowSeconds)
  }
  return opened
}

const checksOf = (part: string): Expression => {
  const [name, prefix] = ofPart(part)
  return sql`SELECT 1 FROM session_checks c WHERE c.organization_id = sessions.organization_id
    AND c.session_id = sessions.id AND (c.name = ${name} OR c.name LIKE ${prefix})`
}

/** Skips from organization to organization in the index, so that long queues cost nothing. */
const ORGANIZATIONS_WITH_DUE = `WITH RECURSIVE queued (organization_id) AS (
    SELECT MIN(organization_id) FROM session_check_queue
    UNION ALL
    SELECT (SELECT MIN(following.organization_id) FROM session_check_queue AS following
      WHERE following.organization_id > queued.organization_id)
    FROM queued WHERE queued.organization_id IS NOT NULL)
  SELECT organization_id FROM queued WHERE EXISTS (SELECT 1 FROM session_check_queue AS due
    WHERE due.organization_id = queued.organization_id AND due.due_at_seconds <= ?)`

export const createSessionCheckTable = (scope: TableScope) => ({
  list: (organizationId: string, sessionId: string): Promise<readonly StoredCheck[]> =>
    CHECKS.list(scope, { organizationId, sessionId }, ['name']),

  versionsOf: (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<readonly { readonly session_id: string; readonly name: string; readonly version: string }[]> =>
    scope.statements.query(
      `SELECT c.session_id, c.name, c.version FROM session_checks c
       JOIN sessions s ON s.organization_id = c.organization_id AND s.id = c.session_id
       WHERE c.organization_id = ? AND c.session_id IN (${placeholdersFor(sessionIds)})
         AND s.status IN (${placeholdersFor(COMPARED_STATUSES)})`,
      [organizationId, ...sessionIds, ...COMPARED_STATUSES],
    ),

  isPending: (organizationId: string, sessionId: string): Promise<boolean> =>
    isPending(scope.statements, organizationId, sessionId),

  queued: async (organizationId: string, sessionIds: readonly string[]): Promise<ReadonlySet<string>> => {
    const queued = await QUEUE.list(scope, { organizationId, sessionId: among(sessionIds) }, ['sessionId'])
    return new Set(queued.map(({ sessionId }) => sessionId))
  },

  /** Claims the longest waiting due session per organization, in random order, for `claimSeconds`. */
  claim: async (
    limit: number,
    claimSeconds: number,
    except: readonly string[] = [],
  ): Promise<readonly QueuedChecks[]> => {
    const nowSeconds = scope.nowSeconds()
    const due = { dueAtSeconds: sql`<= ${nowSeconds}` }
    const ready = await scope.statements.query<{ organization_id: string }>(ORGANIZATIONS_WITH_DUE, [nowSeconds])
    const owners = shuffled(ready.filter(({ organization_id: id }) => !except.includes(id))).slice(0, limit)
    const waiting: QueuedChecks[] = []
    for (const { organization_id: organizationId } of owners) {
      waiting.push(...(await QUEUE.list(scope, { organizationId, ...due }, { by: ['dueAtSeconds'], limit: 1 })))
    }
    if (waiting.length === 0) return []
    return survivingCrashes(scope).write(async (own) => {
      const claimed: QueuedChecks[] = []
      for (const queued of waiting) {
        const { organizationId, sessionId, sequence } = queued
        const which = { organizationId, sessionId, sequence, ...due }
        const taken = await QUEUE.updateAll(own, which, { dueAtSeconds: nowSeconds + claimSeconds })
        if (taken > 0) claimed.push(queued)
      }
      return claimed
    })
  },

  /** Queues a submitted session for another comparison with the lists, unless it is already queued. */
  queueRepeat: ({ organizationId, sessionId }: Omit<QueuedSession, 'sequence'>): Promise<void> =>
    scope.write(async (transaction) => {
      const session = await lockSessionAsItIs(transaction, organizationId, sessionId)
      if (session?.status !== 'submitted') return
      const queued = { sequence: session.sequence, attempts: 0, isMade: true, dueAtSeconds: scope.nowSeconds() }
      await QUEUE.insertNew(transaction, { organizationId, sessionId, ...queued })
    }, DURABILITY),

  /** Releases the claims of an earlier process. Call before claiming, if no other process claims. */
  releaseClaims: (): Promise<number> => {
    const nowSeconds = scope.nowSeconds()
    // After a failure, the session must wait for its next attempt.
    const claimed = { dueAtSeconds: sql`> ${nowSeconds}`, attempts: 0 }
    return QUEUE.everywhere.updateAll(survivingCrashes(scope), claimed, { dueAtSeconds: nowSeconds })
  },

  /** Skips sessions changed since the check. Returns new hits by session, and the number of skipped sessions. */
  replaceUnchanged: (
    organizationId: string,
    part: string,
    made: readonly (SessionChecks & { readonly sequence: number })[],
  ): Promise<{ readonly opened: ReadonlyMap<string, number>; readonly skipped: number }> =>
    scope.write(async (transaction) => {
      if (made.length === 0) return { opened: new Map<string, number>(), skipped: 0 }
      const ids = made.map(({ sessionId }) => sessionId)
      const unchanged = { updatedAtSeconds: sql`updated_at_seconds` }
      const locked = await SESSIONS.updateRows(transaction, { organizationId, id: among(ids) }, unchanged)
      const sequences = new Map(locked.map(({ id, sequence }) => [id, sequence]))
      const same = made.filter(({ sessionId, sequence }) => sequences.get(sessionId) === sequence)
      const nowSeconds = scope.nowSeconds()
      const opened = await whileSharing(transaction, organizationId, ids, nowSeconds, () =>
        writeChecks(transaction, organizationId, part, same, nowSeconds),
      )
      return { opened, skipped: made.length - same.length }
    }, DURABILITY),

  /**
   * Returns the sessions without a check of this part and version. With an empty version, returns the sessions with a
   * check of the part.
   */
  outdated: async (
    organizationId: string,
    status: SessionStatus,
    made: { readonly part: string; readonly version: string },
    afterId: string,
    limit: number,
  ): Promise<readonly Session[]> => {
    const checks = checksOf(made.part)
    return SESSIONS.list(
      scope.statements,
      { organizationId, status, id: sql`> ${afterId}` },
      { by: ['id'], limit },
      made.version === '' ? sql`EXISTS (${checks})` : sql`NOT EXISTS (${checks} AND c.version = ${made.version})`,
    )
  },

  /** Marks the checks as complete and queues the webhook messages, unless the session was submitted again. */
  markMade: ({ organizationId, sessionId, sequence }: QueuedSession): Promise<void> =>
    scope.write(async (transaction) => {
      const which = { organizationId, sessionId, sequence, isMade: false }
      const marked = await QUEUE.updateAll(transaction, which, { isMade: true })
      if (marked === 0) return
      await announceSharing(transaction, organizationId, sessionId, scope.nowSeconds())
      await queueCheckMessages(transaction, { organizationId, sessionId }, 'session.checked', scope.nowSeconds())
    }, DURABILITY),

  finish: async ({ organizationId, sessionId, sequence }: QueuedSession): Promise<void> => {
    await QUEUE.removeAll(survivingCrashes(scope), { organizationId, sessionId, sequence })
  },

  retry: async (queued: QueuedChecks, dueAtSeconds: number): Promise<void> => {
    const { organizationId, sessionId, sequence, attempts } = queued
    const values = { attempts: attempts + 1, dueAtSeconds }
    await QUEUE.updateAll(survivingCrashes(scope), { organizationId, sessionId, sequence }, values)
  },
})
