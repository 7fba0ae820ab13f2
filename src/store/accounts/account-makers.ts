// Records who created which account or let it into an organization, and who administers: this decides whether two
// accounts count as two people. Rows are only ever added; an account without a row was created by nobody in particular.

import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

export type MakerKind =
  /** Created the account, let it into an organization, or gave it a role. */
  | 'made'
  /** Could be the account: was handed a link that sets its password, or made it a deployment admin without approval. */
  | 'recovered'

/**
 * Used in place of an account for whoever runs the machine. All accounts that the command line recovered count as one
 * person.
 */
export const COMMAND_LINE = 'command-line'

export interface Administrator {
  readonly userId: string
  readonly name: string
  /** Since when the account may decide; the oldest time if it has several such rights. */
  readonly sinceSeconds: number
}

/** Stands in place of an organization's id for what concerns the account itself, or its right as a deployment admin. */
const EVERYWHERE = ''

export const createAccountMakerTable = (scope: TableScope) => ({
  /** Safe to call twice. @param organizationId null: the account itself, everywhere */
  add: (input: {
    readonly userId: string
    readonly makerId: string
    readonly organizationId: string | null
    readonly kind: MakerKind
  }): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `INSERT INTO account_makers (user_id, maker_id, organization_id, kind) VALUES (?, ?, ?, ?)
         ON CONFLICT (user_id, maker_id, organization_id, kind) DO NOTHING`,
        [input.userId, input.makerId, input.organizationId ?? EVERYWHERE, input.kind],
      )
    }),

  /**
   * The account's makers, their makers, and so on, within the organization; a circle does no harm.
   * @param kind left out: both kinds
   */
  makersOf: async (userId: string, organizationId: string | null, kind?: MakerKind): Promise<ReadonlySet<string>> => {
    const found = new Set<string>()
    const waiting = [userId]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const rows = await scope.statements.query<{ maker_id: string; kind: MakerKind }>(
        'SELECT maker_id, kind FROM account_makers WHERE user_id = ? AND organization_id IN (?, ?)',
        [next, EVERYWHERE, organizationId ?? EVERYWHERE],
      )
      for (const row of rows) {
        if (found.has(row.maker_id) || (kind !== undefined && row.kind !== kind)) continue
        found.add(row.maker_id)
        waiting.push(row.maker_id)
      }
    }
    return found
  },

  /** Accounts that can sign in and administer the organization, deployment admins included; null: the deployment. */
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
    // An account's rows are ordered newest first, and the map keeps the last of them.
    return [...new Map(rows.map((row) => [row.user_id, fieldsOf(row)])).values()]
  },
})
