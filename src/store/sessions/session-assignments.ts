// Who reviews which session. If two reviewers take the same session, the version decides: the one who saw an older
// state is refused.

import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

export interface SessionAssignment {
  readonly sessionId: string
  /** The reviewer's account; null: nobody reviews the session. */
  readonly userId: string | null
  /** Rises with every change; 0 for a session that was never assigned. */
  readonly version: number
  readonly assignedAtSeconds: number | null
}

type AssignmentRow = RowOf<SessionAssignment>

const COLUMNS = 'session_id, user_id, version, assigned_at_seconds'

const nobody = (sessionId: string): SessionAssignment => ({
  sessionId,
  userId: null,
  version: 0,
  assignedAtSeconds: null,
})

export const createSessionAssignmentTable = (scope: TableScope) => ({
  find: async (organizationId: string, sessionId: string): Promise<SessionAssignment> => {
    const [row] = await scope.statements.query<AssignmentRow>(
      `SELECT ${COLUMNS} FROM session_assignments WHERE organization_id = ? AND session_id = ?`,
      [organizationId, sessionId],
    )
    return row === undefined ? nobody(sessionId) : fieldsOf(row)
  },

  /** The assignments of some sessions, by session id; a session without an assignment is left out. */
  findMany: async (organizationId: string, sessionIds: readonly string[]) => {
    if (sessionIds.length === 0) return new Map<string, SessionAssignment>()
    const rows = await scope.statements.query<AssignmentRow>(
      `SELECT ${COLUMNS} FROM session_assignments WHERE organization_id = ?
       AND session_id IN (${sessionIds.map(() => '?').join(', ')})`,
      [organizationId, ...sessionIds],
    )
    return new Map(rows.map((row) => [row.session_id, fieldsOf(row)]))
  },

  /**
   * Null when the session was assigned again since `expectedVersion` was read.
   * @throws ConstraintViolatedError when the organization has no such session
   */
  assign: (input: {
    readonly organizationId: string
    readonly sessionId: string
    readonly userId: string | null
    readonly expectedVersion: number
  }): Promise<SessionAssignment | null> =>
    scope.write(async (transaction) => {
      const { organizationId, sessionId, userId, expectedVersion } = input
      const nowSeconds = scope.nowSeconds()
      const [row] =
        expectedVersion === 0
          ? await transaction.query<AssignmentRow>(
              `INSERT INTO session_assignments (organization_id, ${COLUMNS}) VALUES (?, ?, ?, 1, ?)
               ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
              [organizationId, sessionId, userId, nowSeconds],
            )
          : await transaction.query<AssignmentRow>(
              `UPDATE session_assignments SET user_id = ?, version = version + 1, assigned_at_seconds = ?
               WHERE organization_id = ? AND session_id = ? AND version = ? RETURNING ${COLUMNS}`,
              [userId, nowSeconds, organizationId, sessionId, expectedVersion],
            )
      return row === undefined ? null : fieldsOf(row)
    }),
})
