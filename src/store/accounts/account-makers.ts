// Records who created an account or admitted it to an organization, and lists administrators. Determines whether two
// accounts count as two people. Rows are only added. An account without a row has no known creator.

import { among, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { defineTable } from '../table.ts'

export type MakerKind =
  /** Created the account, admitted it to an organization, or assigned it a role. */
  'made' | 'recovered'

/** An operator of the machine. All accounts recovered on the command line count as one person. */
export const COMMAND_LINE = 'command-line'

export interface Administrator {
  readonly userId: string
  readonly name: string
  /** Start of the right to decide; the oldest if the account has several such rights. */
  readonly sinceSeconds: number
}

/** Replaces the organization's id in rows about the account itself or its right as a deployment admin. */
const EVERYWHERE = ''

const MAKERS = defineTable('account_makers', {
  userId: text,
  makerId: text,
  organizationId: text,
  kind: typed<MakerKind>(),
})

export const createAccountMakerTable = (scope: TableScope) => ({
  /** Idempotent. @param organizationId null for the account itself, in all organizations */
  add: async ({
    userId,
    makerId,
    organizationId,
    kind,
  }: {
    readonly userId: string
    readonly makerId: string
    readonly organizationId: string | null
    readonly kind: MakerKind
  }): Promise<void> => {
    await MAKERS.insertNew(scope, { userId, makerId, organizationId: organizationId ?? EVERYWHERE, kind })
  },

  /** Returns the account's makers, their makers, and so on, within the organization. Handles cycles. */
  makersOf: async (userId: string, organizationId: string | null, kind?: MakerKind): Promise<ReadonlySet<string>> => {
    const found = new Set<string>()
    const waiting = [userId]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const within = among([EVERYWHERE, organizationId ?? EVERYWHERE])
      for (const maker of await MAKERS.everywhere.list(scope, { userId: next, organizationId: within }, ['makerId'])) {
        if (found.has(maker.makerId) || (kind !== undefined && maker.kind !== kind)) continue
        found.add(maker.makerId)
        waiting.push(maker.makerId)
      }
    }
    return found
  },

  /**
   * Returns enabled accounts that can administer the organization, including deployment admins. Null means the
   * deployment.
   */
  administrators: async (organizationId: string | null): Promise<readonly Administrator[]> => {
    const rows = await scope.statements.query<RowOf<Administrator>>(
      `SELECT users.id AS user_id, users.name AS name,
         COALESCE(users.deployment_admin_since_seconds, users.created_at_seconds) AS since_seconds
       FROM users WHERE users.deployment_admin = 1 AND users.disabled_at_seconds IS NULL
         AND users.password_hash IS NOT NULL
       UNION ALL
       SELECT users.id, users.name, COALESCE(memberships.role_since_seconds, memberships.created_at_seconds)
       FROM memberships JOIN users ON users.id = memberships.user_id
       WHERE memberships.organization_id = ? AND memberships.role = 'organization-admin'
         AND users.disabled_at_seconds IS NULL AND users.password_hash IS NOT NULL
       ORDER BY user_id, since_seconds DESC`,
      [organizationId],
    )
    // Rows are ordered newest first, and the map keeps the last row per account.
    return [...new Map(rows.map((row) => [row.user_id, fieldsOf(row)])).values()]
  },
})
