// Who made which account or let it into an organization, and who administers: what decides whether two accounts are two
// people. Rows are only ever added; an account without any was made by nobody in particular.
import type { TableScope } from './table-scope.ts'

export type MakerKind =
  /** Made the account, let it in, or gave it a role. */
  | 'made'
  /** Was handed a link with which to set its password. */
  | 'recovered'

/** In place of an account: whoever runs the machine. Whom they recovered is for the rule one person's. */
export const COMMAND_LINE = 'command-line'

export interface Administrator {
  readonly userId: string
  readonly name: string
  /** Since when the account may decide; of several such rights the oldest. */
  readonly sinceSeconds: number
}

/** Of the account itself, and of its being a deployment admin. */
const EVERYWHERE = ''

export const createAccountMakerTable = (scope: TableScope) => ({
  /** Safe to call twice. @param organizationId null: of the account itself, everywhere */
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
   * The account's makers, theirs, and so on, as far as the organization is concerned; never fails on a circle.
   * @param kind left out: of either kind
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

  /** Who can sign in and administers the organization, deployment admins included; null: the deployment. */
  administrators: async (organizationId: string | null): Promise<readonly Administrator[]> => {
    const rows = await scope.statements.query<{ user_id: string; name: string; since_seconds: number }>(
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
    // Of one account's rows the last is the oldest.
    return [
      ...new Map(
        rows.map((row) => [row.user_id, { userId: row.user_id, name: row.name, sinceSeconds: row.since_seconds }]),
      ).values(),
    ]
  },
})

export type AccountMakerTable = ReturnType<typeof createAccountMakerTable>
