// Session counts for an organization's overview. Each query reads an index and stops at a limit.
import { operatorActor } from '../../domain/session.ts'
import type { TableScope } from '../copy/table-scope.ts'

const WAITING_MAX = 1_000
const VERIFIED_MAX = 10_000

interface WaitingSessions {
  readonly count: number
  readonly exact: boolean
  /** Submission time of the longest waiting session, in Unix seconds; null if none waits. */
  readonly oldestAtSeconds: number | null
}

/** Live sessions only. Each count is a subset of the previous count. */
interface SessionFunnel {
  readonly created: number
  /** Sessions whose person agreed to the verification. */
  readonly started: number
  readonly submitted: number
  readonly verified: number
  /** False if only the newest sessions were counted. */
  readonly exact: boolean
}

interface ReviewerWork {
  /** Email address, or `key:…`; null for unassigned sessions. */
  readonly reviewer: string | null
  readonly waiting: number
  readonly decided: number
}

/** The newest sessions by id, so that the cost does not grow with the number of sessions. */
const NEWEST = `(SELECT * FROM (SELECT organization_id, id, environment, status, consented_at_seconds, created_at_seconds
  FROM sessions WHERE organization_id = ? ORDER BY id DESC LIMIT ${VERIFIED_MAX + 1}) AS newest
  WHERE created_at_seconds >= ?)`

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

  withOpenHits: async (organizationId: string): Promise<Pick<WaitingSessions, 'count' | 'exact'>> => {
    const rows = await queryLong(
      `SELECT DISTINCT h.session_id FROM screening_hits h
       JOIN sessions s ON s.organization_id = h.organization_id AND s.id = h.session_id
       WHERE h.organization_id = ? AND h.state = 'open' AND s.status = 'completed' LIMIT ?`,
      [organizationId, WAITING_MAX + 1],
    )
    return { count: Math.min(rows.length, WAITING_MAX), exact: rows.length <= WAITING_MAX }
  },

  funnel: async (organizationId: string, sinceSeconds: number): Promise<SessionFunnel> => {
    const [row] = await queryLong<{ all_created: number } & Omit<SessionFunnel, 'exact'>>(
      `SELECT COUNT(*) AS all_created, COUNT(CASE WHEN environment = 'live' THEN 1 END) AS created,
         COUNT(CASE WHEN environment = 'live' AND (consented_at_seconds IS NOT NULL OR status <> 'pending') THEN 1 END)
           AS started,
         COUNT(CASE WHEN environment = 'live' AND status <> 'pending' THEN 1 END) AS submitted,
         COUNT(CASE WHEN environment = 'live' AND status = 'completed' THEN 1 END) AS verified
       FROM ${NEWEST} AS recent`,
      [organizationId, sinceSeconds],
    )
    return {
      created: Number(row?.created ?? 0),
      started: Number(row?.started ?? 0),
      submitted: Number(row?.submitted ?? 0),
      verified: Number(row?.verified ?? 0),
      exact: Number(row?.all_created ?? 0) <= VERIFIED_MAX,
    }
  },

  /** Sorted by number of decisions, highest first; omits reviewers and admin keys without decisions or assignments. */
  byReviewer: async (organizationId: string, sinceSeconds: number): Promise<readonly ReviewerWork[]> => {
    const decided = await queryLong<{ actor: string; count: number }>(
      `SELECT e.actor AS actor, COUNT(DISTINCT e.session_id) AS count FROM ${NEWEST} AS recent
       JOIN session_events e ON e.organization_id = recent.organization_id AND e.session_id = recent.id
       WHERE recent.environment = 'live' AND e.kind = 'status' AND e.status IN ('completed', 'rejected', 'retry')
         AND e.actor LIKE 'operator:%'
       GROUP BY e.actor`,
      [organizationId, sinceSeconds],
    )
    const waiting = await queryLong<{ reviewer: string | null; count: number }>(
      `SELECT users.email AS reviewer, COUNT(*) AS count
       FROM (SELECT * FROM (SELECT organization_id, id, environment FROM sessions
         WHERE organization_id = ? AND status = 'submitted' ORDER BY id LIMIT ?) AS oldest
         WHERE environment = 'live') AS waiting
       LEFT JOIN session_assignments a ON a.organization_id = waiting.organization_id AND a.session_id = waiting.id
       LEFT JOIN users ON users.id = a.user_id GROUP BY users.email`,
      [organizationId, WAITING_MAX],
    )
    const work = new Map<string | null, ReviewerWork>()
    for (const { reviewer, count } of waiting) work.set(reviewer, { reviewer, waiting: Number(count), decided: 0 })
    for (const { actor, count } of decided) {
      const reviewer = actor.slice(operatorActor('').length)
      work.set(reviewer, { reviewer, waiting: work.get(reviewer)?.waiting ?? 0, decided: Number(count) })
    }
    return [...work.values()].sort((left, right) => right.decided - left.decided || right.waiting - left.waiting)
  },

  verified: async (organizationId: string) => {
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
