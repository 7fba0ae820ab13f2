import type { EvidenceTarget } from '../../domain/evidence.ts'
import { hidden, integer, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { SqlParameter, Statements } from '../database.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { EVIDENCE } from './evidence-rows.ts'

/** Days after the end of the session. A session that awaits a decision keeps its evidence. */
const RETENTION = defineTable('evidence_retention', {
  organizationId: hidden(text),
  completedDays: integer,
  rejectedDays: integer,
  /** Days after the person's last step in a session that was never submitted. */
  abandonedDays: integer,
})

export interface Retention extends ItemOf<typeof RETENTION> {}

/** Five years (FATF recommendation 11), one year, 30 days. */
const RETENTION_DEFAULT: Retention = { completedDays: 1_826, rejectedDays: 365, abandonedDays: 30 }
export const RETENTION_DAYS_MAX = 36_500

const DAY_SECONDS = 86_400

const EVENTS = `SELECT 1 FROM session_events event WHERE event.organization_id = sessions.organization_id
  AND event.session_id = sessions.id AND event.kind = 'status'`

/**
 * A session that was ever submitted keeps its evidence at least as long as a rejected session. A session that was ever
 * completed keeps it at least as long as a completed session.
 */
const EXPIRED = `SELECT sessions.organization_id, sessions.id
  FROM (SELECT DISTINCT organization_id, session_id FROM session_evidence WHERE erased_at_seconds IS NULL) AS kept
  JOIN sessions ON sessions.organization_id = kept.organization_id AND sessions.id = kept.session_id
  LEFT JOIN evidence_retention ON evidence_retention.organization_id = sessions.organization_id
  WHERE CASE sessions.status
      WHEN 'completed' THEN sessions.completed_at_seconds + ${DAY_SECONDS} * COALESCE(completed_days, ?) < ?
      WHEN 'submitted' THEN 1 = 0
      WHEN 'rejected' THEN sessions.updated_at_seconds + ${DAY_SECONDS} * COALESCE(rejected_days, ?) < ?
      ELSE sessions.updated_at_seconds + ${DAY_SECONDS} * COALESCE(abandoned_days, ?) < ?
        AND NOT EXISTS (${EVENTS} AND event.status = 'submitted'
          AND sessions.updated_at_seconds + ${DAY_SECONDS} * COALESCE(rejected_days, ?) >= ?) END
    AND (sessions.status = 'completed' OR NOT EXISTS (${EVENTS} AND event.status = 'completed'
      AND event.created_at_seconds + ${DAY_SECONDS} * COALESCE(completed_days, ?) >= ?))`

const expiredParameters = (nowSeconds: number): readonly SqlParameter[] => {
  const { completedDays, rejectedDays, abandonedDays } = RETENTION_DEFAULT
  return [completedDays, rejectedDays, abandonedDays, rejectedDays, completedDays].flatMap((days) => [days, nowSeconds])
}

export const isExpired = async (
  transaction: Statements,
  { organizationId, sessionId }: EvidenceTarget,
  nowSeconds: number,
): Promise<boolean> => {
  const rows = await transaction.query(`${EXPIRED} AND sessions.organization_id = ? AND sessions.id = ?`, [
    ...expiredParameters(nowSeconds),
    organizationId,
    sessionId,
  ])
  return rows.length > 0
}

export const createEvidenceRetentionTable = (scope: TableScope) => ({
  find: async (organizationId: string): Promise<Retention> =>
    (await RETENTION.find(scope, { organizationId })) ?? RETENTION_DEFAULT,

  set: (organizationId: string, { completedDays, rejectedDays, abandonedDays }: Retention): Promise<void> =>
    RETENTION.put(scope, { organizationId }, { completedDays, rejectedDays, abandonedDays }),

  /** Lists at most `limit` sessions. Erase their evidence, then call again. */
  listExpired: async (limit: number): Promise<readonly EvidenceTarget[]> => {
    const rows = await scope.statements.query<{ organization_id: string; id: string }>(
      `${EXPIRED} ORDER BY sessions.id LIMIT ?`,
      [...expiredParameters(scope.nowSeconds()), limit],
    )
    return rows.map((row) => ({ organizationId: row.organization_id, sessionId: row.id }))
  },

  /** Returns null if no row names the file. */
  findFile: async (storageName: string): Promise<'in-use' | 'erased' | null> => {
    if ((await EVIDENCE.everywhere.find(scope, { storageName, erasedAtSeconds: null })) !== null) return 'in-use'
    return (await EVIDENCE.everywhere.find(scope, { storageName })) === null ? null : 'erased'
  },
})
