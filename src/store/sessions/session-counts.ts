// Numbers of an organization's sessions for its overview. Each query reads an index and stops at a limit, so that its
// cost does not depend on the number of sessions.
import type { TableScope } from '../copy/table-scope.ts'

const WAITING_MAX = 1_000
const VERIFIED_MAX = 10_000

interface WaitingSessions {
  readonly count: number
  readonly exact: boolean
  /** Submission of the longest waiting session, if any, in Unix seconds. */
  readonly oldestAtSeconds: number | null
}

type OpenHits = Pick<WaitingSessions, 'count' | 'exact'>

interface VerifiedUsers {
  readonly people: number
  readonly businesses: number
  /** False if only the newest sessions were counted. */
  readonly exact: boolean
}

export const createSessionCounts = ({ statements: { query, queryLong = query } }: TableScope) => ({
  waiting: async (organizationId: string): Promise<WaitingSessions> => {
    const [row] = await queryLong<{ count: number; oldest: number | null }>(
      `SELECT COUNT(*) AS count, MIN(at) AS oldest FROM (
         SELECT (SELECT MAX(created_at_seconds) FROM session_events
                 WHERE organization_id = waiting.organization_id AND session_id = waiting.id
                   AND kind = 'status' AND status = 'submitted') AS at
         FROM (SELECT organization_id, id FROM sessions WHERE organization_id = ? AND status = 'submitted'
               ORDER BY id LIMIT ?) AS waiting
       ) AS submitted`,
      [organizationId, WAITING_MAX + 1],
    )
    const count = Number(row?.count ?? 0)
    return { count: Math.min(count, WAITING_MAX), exact: count <= WAITING_MAX, oldestAtSeconds: row?.oldest ?? null }
  },

  /** Completed sessions with an undecided hit. */
  withOpenHits: async (organizationId: string): Promise<OpenHits> => {
    const rows = await queryLong(
      `SELECT DISTINCT h.session_id FROM screening_hits h
       JOIN sessions s ON s.organization_id = h.organization_id AND s.id = h.session_id
       WHERE h.organization_id = ? AND h.state = 'open' AND s.status = 'completed' LIMIT ?`,
      [organizationId, WAITING_MAX + 1],
    )
    return { count: Math.min(rows.length, WAITING_MAX), exact: rows.length <= WAITING_MAX }
  },

  /** Persons and businesses with a completed live session, each once. */
  verified: async (organizationId: string): Promise<VerifiedUsers> => {
    const rows = await queryLong<{ check_type: string; users: number; sessions: number }>(
      `SELECT check_type, COUNT(DISTINCT CASE WHEN environment = 'live' THEN COALESCE(user_id, id) END) AS users,
         COUNT(*) AS sessions
       FROM (SELECT id, user_id, check_type, environment FROM sessions
             WHERE organization_id = ? AND status = 'completed' ORDER BY id DESC LIMIT ?) AS completed
       GROUP BY check_type`,
      [organizationId, VERIFIED_MAX + 1],
    )
    const of = (checkType: string): number =>
      Number(rows.find(({ check_type: type }) => type === checkType)?.users ?? 0)
    const sessions = rows.reduce((sum, row) => sum + Number(row.sessions), 0)
    return { people: of('kyc'), businesses: of('kyb'), exact: sessions <= VERIFIED_MAX }
  },
})
