// What came of comparing sessions with the lists: the newest comparison of each session, its hits, and what was decided about
// them. A hit that was cleared or confirmed stays as it was decided, also when the list changes.
import { randomBase62 } from '../domain/identifier.ts'
import type { CheckType, Session } from '../domain/session.ts'
import { HitOpenError } from '../domain/session-errors.ts'
import type { Statements, Transaction } from './database.ts'
import { lockSession } from './session-rows.ts'
import type { TableScope } from './table-scope.ts'

export const HIT_STATES = ['open', 'cleared', 'confirmed'] as const
export type HitState = (typeof HIT_STATES)[number]

export interface ScreeningCheck {
  readonly sessionSequence: number
  /** Name of the list → id of its version. */
  readonly versions: Readonly<Record<string, string>>
  readonly threshold: number
  /** Why the session could not be compared; null: it was. */
  readonly problem: string | null
  readonly checkedAtSeconds: number
}

export interface FoundHit {
  readonly list: string
  readonly entry: string
  readonly versionId: string
  readonly name: string
  /** Whose name it is like: `person`, `business` or `owner 1`. */
  readonly subject: string
  readonly score: number
  readonly why: readonly { readonly part: string; readonly points: number; readonly detail: string }[]
}

export interface StoredHit extends FoundHit {
  readonly id: string
  readonly state: HitState
  readonly foundAtSeconds: number
  readonly decidedAtSeconds: number | null
  readonly decidedBy: string | null
  readonly reason: string | null
}

/** A session that has not been compared with the lists as they are. */
export interface SessionToScreen {
  readonly organizationId: string
  readonly sessionId: string
  readonly checkType: CheckType
  readonly level: number
  readonly sequence: number
}

interface HitRow {
  readonly id: string
  readonly list_name: string
  readonly entry_id: string
  readonly version_id: string
  readonly entry_name: string
  readonly subject: string
  readonly score: number
  readonly why: string
  readonly state: HitState
  readonly found_at_seconds: number
  readonly decided_at_seconds: number | null
  readonly decided_by: string | null
  readonly reason: string | null
}

const HIT_COLUMNS = `id, list_name, entry_id, version_id, entry_name, subject, score, why, state, found_at_seconds,
  decided_at_seconds, decided_by, reason`

const toHit = (row: HitRow): StoredHit => ({
  id: row.id,
  list: row.list_name,
  entry: row.entry_id,
  versionId: row.version_id,
  name: row.entry_name,
  subject: row.subject,
  score: row.score,
  why: JSON.parse(row.why) as StoredHit['why'],
  state: row.state,
  foundAtSeconds: row.found_at_seconds,
  decidedAtSeconds: row.decided_at_seconds,
  decidedBy: row.decided_by,
  reason: row.reason,
})

const OF_SESSION = 'organization_id = ? AND session_id = ?'

const hitsOf = async (
  statements: Statements,
  organizationId: string,
  sessionId: string,
): Promise<readonly StoredHit[]> =>
  (
    await statements.query<HitRow>(
      `SELECT ${HIT_COLUMNS} FROM screening_hits WHERE ${OF_SESSION} ORDER BY score DESC, id`,
      [organizationId, sessionId],
    )
  ).map(toHit)

const keyOf = ({ list, entry, subject }: FoundHit): string => JSON.stringify([list, entry, subject])

const writeHits = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
  found: readonly FoundHit[],
  nowSeconds: number,
): Promise<number> => {
  const known = new Map((await hitsOf(transaction, organizationId, sessionId)).map((hit) => [keyOf(hit), hit]))
  let opened = 0
  for (const hit of found) {
    const before = known.get(keyOf(hit))
    known.delete(keyOf(hit))
    if (before !== undefined) {
      if (before.state !== 'open') continue
      await transaction.execute(
        'UPDATE screening_hits SET version_id = ?, entry_name = ?, score = ?, why = ? WHERE id = ?',
        [hit.versionId, hit.name, hit.score, JSON.stringify(hit.why), before.id],
      )
      continue
    }
    opened += 1
    await transaction.execute(
      `INSERT INTO screening_hits (id, organization_id, session_id, list_name, entry_id, version_id, entry_name, subject,
         score, why, state, found_at_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)`,
      [
        `hit_${randomBase62(16)}`,
        organizationId,
        sessionId,
        hit.list,
        hit.entry,
        hit.versionId,
        hit.name,
        hit.subject,
        hit.score,
        JSON.stringify(hit.why),
        nowSeconds,
      ],
    )
  }
  // No longer listed, or no longer alike: nobody has to look at it. What was decided stays.
  for (const { id, state } of known.values()) {
    if (state === 'open') await transaction.execute('DELETE FROM screening_hits WHERE id = ?', [id])
  }
  return opened
}

/**
 * For whoever completes a session, inside that transaction.
 * @throws HitOpenError
 */
export const requireNoOpenHit = async (
  transaction: Transaction,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  const rows = await transaction.query(
    `SELECT 1 AS one FROM screening_hits WHERE ${OF_SESSION} AND state = 'open' LIMIT 1`,
    [organizationId, id],
  )
  if (rows.length > 0) throw new HitOpenError()
}

export const createScreeningCheckTable = (scope: TableScope) => ({
  /** Null until the session was compared for the first time. */
  find: async (organizationId: string, sessionId: string): Promise<ScreeningCheck | null> => {
    const [row] = await scope.statements.query<{
      session_sequence: number
      versions: string
      threshold: number
      problem: string | null
      checked_at_seconds: number
    }>(
      `SELECT session_sequence, versions, threshold, problem, checked_at_seconds FROM screening_checks WHERE ${OF_SESSION}`,
      [organizationId, sessionId],
    )
    if (row === undefined) return null
    return {
      sessionSequence: row.session_sequence,
      versions: JSON.parse(row.versions) as Record<string, string>,
      threshold: row.threshold,
      problem: row.problem,
      checkedAtSeconds: row.checked_at_seconds,
    }
  },

  /** The highest score first. */
  hits: (organizationId: string, sessionId: string): Promise<readonly StoredHit[]> =>
    hitsOf(scope.statements, organizationId, sessionId),

  /**
   * Sessions of a status that were not compared with these lists: for the deployment's own work, in the order of
   * organization and id. One that was submitted again is compared again.
   */
  toScreen: async (
    status: 'submitted' | 'completed',
    listsKey: string,
    after: Pick<SessionToScreen, 'organizationId' | 'sessionId'>,
    limit: number,
  ): Promise<readonly SessionToScreen[]> => {
    const rows = await scope.statements.query<{
      organization_id: string
      id: string
      check_type: CheckType
      level: number
      sequence: number
    }>(
      `SELECT s.organization_id, s.id, s.check_type, s.level, s.sequence FROM sessions s
       WHERE s.status = ? AND (s.organization_id > ? OR (s.organization_id = ? AND s.id > ?))
         AND NOT EXISTS (SELECT 1 FROM screening_checks c WHERE c.organization_id = s.organization_id
           AND c.session_id = s.id AND c.lists_key = ? ${status === 'submitted' ? 'AND c.session_sequence = s.sequence' : ''})
       ORDER BY s.organization_id, s.id LIMIT ?`,
      [status, after.organizationId, after.organizationId, after.sessionId, listsKey, limit],
    )
    return rows.map((row) => ({
      organizationId: row.organization_id,
      sessionId: row.id,
      checkType: row.check_type,
      level: row.level,
      sequence: row.sequence,
    }))
  },

  /** Notes comparisons, all in one transaction. @returns how many hits are new */
  record: (
    checks: readonly {
      readonly session: SessionToScreen
      readonly listsKey: string
      readonly check: Omit<ScreeningCheck, 'sessionSequence' | 'checkedAtSeconds'>
      readonly hits: readonly FoundHit[]
    }[],
  ): Promise<number> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      let opened = 0
      for (const { session, listsKey, check, hits } of checks) {
        const { organizationId, sessionId, sequence } = session
        await transaction.execute(
          `INSERT INTO screening_checks (organization_id, session_id, session_sequence, lists_key, versions, threshold,
             problem, checked_at_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (organization_id, session_id) DO UPDATE SET session_sequence = excluded.session_sequence,
             lists_key = excluded.lists_key, versions = excluded.versions, threshold = excluded.threshold,
             problem = excluded.problem, checked_at_seconds = excluded.checked_at_seconds`,
          [
            organizationId,
            sessionId,
            sequence,
            listsKey,
            JSON.stringify(check.versions),
            check.threshold,
            check.problem,
            now,
          ],
        )
        // What could not be compared says nothing of the hits that are there.
        if (check.problem === null) opened += await writeHits(transaction, organizationId, sessionId, hits, now)
      }
      return opened
    }),

  /** @returns the hit as it is now, and its state before; null when the session has no such hit */
  decideHit: (
    target: { readonly organizationId: string; readonly sessionId: string; readonly hitId: string },
    decision: { readonly state: 'cleared' | 'confirmed'; readonly by: string; readonly reason: string },
  ): Promise<{ readonly hit: StoredHit; readonly before: HitState } | null> =>
    scope.write(async (transaction) => {
      const { organizationId, sessionId, hitId } = target
      const now = scope.nowSeconds()
      // A decision about the session reads its hits under the same lock.
      await lockSession(transaction, organizationId, sessionId, now)
      const before = (await hitsOf(transaction, organizationId, sessionId)).find(({ id }) => id === hitId)
      if (before === undefined) return null
      const { state, by, reason } = decision
      await transaction.execute(
        'UPDATE screening_hits SET state = ?, decided_at_seconds = ?, decided_by = ?, reason = ? WHERE id = ?',
        [state, now, by, reason, hitId],
      )
      return {
        before: before.state,
        hit: { ...before, state, reason, decidedAtSeconds: now, decidedBy: by },
      }
    }),

  /** Null: none is set. */
  readThreshold: async (organizationId: string): Promise<number | null> => {
    const [row] = await scope.statements.query<{ threshold: number }>(
      'SELECT threshold FROM screening_thresholds WHERE organization_id = ?',
      [organizationId],
    )
    return row?.threshold ?? null
  },

  setThreshold: (organizationId: string, threshold: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `INSERT INTO screening_thresholds (organization_id, threshold) VALUES (?, ?)
         ON CONFLICT (organization_id) DO UPDATE SET threshold = excluded.threshold`,
        [organizationId, threshold],
      )
    }),
})

export type ScreeningCheckTable = ReturnType<typeof createScreeningCheckTable>
