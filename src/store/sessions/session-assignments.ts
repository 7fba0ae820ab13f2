// Assigns reviewers to sessions. Updates with an outdated version are rejected.

import { among, hidden, integer, nullable, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

const ASSIGNMENTS = defineTable('session_assignments', {
  organizationId: hidden(text),
  sessionId: text,
  userId: nullable(text),
  version: integer,
  assignedAtSeconds: nullable(integer),
})

export interface SessionAssignment extends ItemOf<typeof ASSIGNMENTS> {}

const nobody = (sessionId: string): SessionAssignment => ({
  sessionId,
  userId: null,
  version: 0,
  assignedAtSeconds: null,
})

export const createSessionAssignmentTable = (scope: TableScope) => ({
  find: async (organizationId: string, sessionId: string): Promise<SessionAssignment> =>
    (await ASSIGNMENTS.find(scope, { organizationId, sessionId })) ?? nobody(sessionId),

  findMany: async (organizationId: string, sessionIds: readonly string[]) => {
    const rows = await ASSIGNMENTS.list(scope, { organizationId, sessionId: among(sessionIds) }, ['sessionId'])
    return new Map(rows.map((row) => [row.sessionId, row]))
  },

  /** Returns null if `expectedVersion` is outdated. */
  assign: (input: {
    readonly organizationId: string
    readonly sessionId: string
    readonly userId: string | null
    readonly expectedVersion: number
  }): Promise<SessionAssignment | null> =>
    scope.write(async (own) => {
      const { organizationId, sessionId, userId, expectedVersion } = input
      const which = { organizationId, sessionId }
      const assigned = { userId, assignedAtSeconds: scope.nowSeconds() }
      if (expectedVersion > 0) {
        const values = { ...assigned, version: sql`version + 1` }
        return ASSIGNMENTS.update(own, { ...which, version: expectedVersion }, values)
      }
      const isFirst = await ASSIGNMENTS.insertNew(own, { ...which, ...assigned, version: 1 })
      return isFirst ? ASSIGNMENTS.find(own, which) : null
    }),
})
