// Events of a session, and its state after each change, so that any process can report all changes in order.
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Session, SessionEvent, SessionState, SessionStatus } from '../../domain/session.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements } from '../database.ts'
import { EVENTS } from './session-changes.ts'
import { readState, SESSIONS } from './session-rows.ts'

const readEvents = (statements: Statements, organizationId: string, sessionId: string) =>
  EVENTS.list(statements, { organizationId, sessionId }, ['sequence'])

/** Returns the session after each change. Wallets removed since then are missing from all states. */
const replay = ({ session, wallets }: SessionState, events: readonly SessionEvent[]): SessionState[] => {
  let identified = false
  let completedAtSeconds: number | null = null
  return events
    .filter(({ sequence }) => sequence <= session.sequence)
    .map(({ sequence, kind, status, createdAtSeconds }) => {
      if (kind === 'status') completedAtSeconds = status === 'completed' ? createdAtSeconds : null
      identified ||= status === 'completed'
      return {
        session: {
          ...session,
          sequence,
          status,
          completedAtSeconds,
          personId: identified ? session.personId : null,
          userId: identified ? session.userId : null,
        },
        wallets: wallets.filter(({ connectedSequence }) => connectedSequence <= sequence),
      }
    })
}

/** Number of sessions per outcome from which the usual wait is computed. */
const WAITS_READ = 100
const WAITS_MIN = 5

/** Limited per status, so that the cost does not grow with the number of sessions. */
const newestDecided = (status: SessionStatus): string =>
  `SELECT id, environment FROM (SELECT id, environment FROM sessions WHERE organization_id = ? AND status = '${status}'
     ORDER BY id DESC LIMIT ${WAITS_READ}) AS newest_${status}`

interface DecidedByPeople {
  readonly session: Session
  readonly decidedAtSeconds: number
}

export const createSessionHistory = (scope: TableScope) => ({
  listEvents: (organizationId: string, sessionId: string): Promise<readonly SessionEvent[]> =>
    readEvents(scope.statements, organizationId, sessionId),

  /** Last submissions by session id, in Unix seconds. Omits sessions that were never submitted. */
  findSubmittedTimes: async (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> => {
    if (sessionIds.length === 0) return new Map()
    const rows = await scope.statements.query<{ readonly session_id: string; readonly at: number }>(
      `SELECT session_id, MAX(created_at_seconds) AS at FROM session_events
       WHERE organization_id = ? AND session_id IN (${sessionIds.map(() => '?').join(', ')})
         AND kind = 'status' AND status = 'submitted' GROUP BY session_id`,
      [organizationId, ...sessionIds],
    )
    return new Map(rows.map(({ session_id: id, at }) => [id, at]))
  },

  /** Returns the median wait for a decision, in seconds; null if fewer than WAITS_MIN sessions were decided. */
  findUsualWait: async (organizationId: string, environment: ApiKeyEnvironment): Promise<number | null> => {
    const rows = await scope.statements.query<{ readonly waited: number }>(
      `SELECT MIN(CASE WHEN status <> 'submitted' THEN created_at_seconds END)
         - MIN(CASE WHEN status = 'submitted' THEN created_at_seconds END) AS waited
       FROM session_events WHERE organization_id = ? AND kind = 'status' AND session_id IN (
         SELECT id FROM (${newestDecided('completed')} UNION ALL ${newestDecided('rejected')}) AS decided
         WHERE environment = ?)
       GROUP BY session_id`,
      [organizationId, organizationId, organizationId, environment],
    )
    const waits = rows.flatMap(({ waited }) => (waited === null || waited < 0 ? [] : [Number(waited)]))
    if (waits.length < WAITS_MIN) return null
    return waits.sort((left, right) => left - right)[Math.floor(waits.length / 2)] ?? null
  },

  /** Decided by people or an external service, newest first: at most `limit` completed and `limit` rejected. */
  findDecidedByPeople: async (
    organizationId: string,
    time: { readonly sinceSeconds: number; readonly untilSeconds: number },
    limit: number,
  ): Promise<readonly DecidedByPeople[]> => {
    const found: DecidedByPeople[] = []
    for (const status of ['completed', 'rejected'] as const) {
      const rows = await scope.statements.query<Session & { readonly decided_at: number }>(
        `SELECT newest.*, e.created_at_seconds AS decided_at
         FROM (SELECT ${SESSIONS.columns} FROM sessions WHERE organization_id = ? AND status = ?
           ORDER BY id DESC LIMIT ?) AS newest
         JOIN session_events e ON e.organization_id = newest."organizationId" AND e.session_id = newest.id
           AND e.sequence = (SELECT MAX(last.sequence) FROM session_events last
             WHERE last.organization_id = newest."organizationId" AND last.session_id = newest.id AND last.kind = 'status')
         WHERE e.created_at_seconds >= ? AND e.created_at_seconds < ?
           AND (e.actor LIKE 'operator:%' OR e.actor = 'provider:webhook')
         ORDER BY newest.id DESC`,
        [organizationId, status, limit, time.sinceSeconds, time.untilSeconds],
      )
      found.push(...rows.map(({ decided_at: decidedAtSeconds, ...session }) => ({ session, decidedAtSeconds })))
    }
    return found
  },

  /** Returns the session after each change beyond a sequence number, oldest first. */
  findSince: async (
    organizationId: string,
    sessionId: string,
    afterSequence: number,
  ): Promise<readonly SessionState[]> => {
    const state = await readState(scope.statements, organizationId, sessionId)
    if (state === null || state.session.sequence <= afterSequence) return []
    const events = await readEvents(scope.statements, organizationId, sessionId)
    return replay(state, events).filter(({ session }) => session.sequence > afterSequence)
  },
})
