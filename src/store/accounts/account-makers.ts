// Records who created an account, admitted it to an organization or received a link to it. Decides whether two accounts
// count as two people. Rows are never removed.

import { among, integer, nullable, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type MakerKind =
  /** Created the account, admitted it to an organization, or assigned it a role. */
  | 'made'
  /** Could control the account: received its recovery link, or made it a deployment admin without approval. */
  | 'recovered'

/** Represents an operator of the machine. All links printed by the command line count as received by one person. */
export const COMMAND_LINE = 'command-line'

export interface Administrator {
  readonly userId: string
  readonly name: string
  /** Start of the right to decide; the oldest if the account has several such rights. */
  readonly sinceSeconds: number
}

/** Accounts related to an account, directly or through others, including the account itself. */
export interface AccountRelations {
  /** Accounts that created, admitted or could control the account, or gave it a role. */
  readonly makers: ReadonlySet<string>
  /**
   * Accounts that could control the account by the links that they received. A link to an account that already was an
   * administrator when the rule was enabled doesn't count, unless it is newer or a recovery link.
   */
  readonly controllers: ReadonlySet<string>
}

/** Replaces the organization's id in rows about the account itself or its right as a deployment admin. */
const EVERYWHERE = ''

const MAKERS = defineTable('account_makers', {
  userId: text,
  /** An account, a key without a known recipient (`key:…`), or COMMAND_LINE. */
  makerId: text,
  organizationId: text,
  kind: typed<MakerKind>(),
  /** Time of the maker's last link to the account: for its password, or for its membership in the organization. */
  heldAtSeconds: nullable(integer),
})

/** The administrators at the time when the rule was last turned on; their earlier links don't count. */
const RULE_ADMINISTRATORS = defineTable('rule_administrators', {
  organizationId: text,
  userId: text,
  sinceSeconds: integer,
})

const administratorsOf = async (
  { statements }: Pick<TableScope, 'statements'>,
  organizationId: string | null,
): Promise<readonly Administrator[]> => {
  const rows = await statements.query<RowOf<Administrator>>(
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
  // An account's rows are ordered newest first, and the map keeps the last row.
  return [...new Map(rows.map((row) => [row.user_id, fieldsOf(row)])).values()]
}

export const createAccountMakerTable = (scope: TableScope) => ({
  /**
   * Returns accounts that can sign in and administer the organization, including deployment admins. Null means the
   * deployment.
   */
  administrators: (organizationId: string | null) => administratorsOf(scope, organizationId),

  /**
   * Idempotent.
   * @param organizationId null for the account itself, in all organizations
   * @param holdsLink whether the maker receives a link to the account
   */
  add: async ({
    userId,
    makerId,
    organizationId,
    kind,
    holdsLink = false,
  }: {
    readonly userId: string
    readonly makerId: string
    readonly organizationId: string | null
    readonly kind: MakerKind
    readonly holdsLink?: boolean
  }): Promise<void> => {
    const row = { userId, makerId, organizationId: organizationId ?? EVERYWHERE, kind }
    if (holdsLink) await MAKERS.put(scope, row, { heldAtSeconds: scope.nowSeconds() })
    else await MAKERS.insertNew(scope, row)
  },

  /** Call when the rule is enabled: earlier links to its administrators stop counting. */
  acceptAdministrators: (organizationId: string | null): Promise<void> =>
    scope.write(async (own) => {
      const owner = { organizationId: organizationId ?? EVERYWHERE }
      await RULE_ADMINISTRATORS.removeAll(own, owner)
      for (const { userId } of await administratorsOf(own, organizationId)) {
        await RULE_ADMINISTRATORS.insert(own, { ...owner, userId, sinceSeconds: scope.nowSeconds() })
      }
    }),

  /** Returns a function that finds an account's relations within the organization. Handles cycles. */
  relations: async (organizationId: string | null): Promise<(userId: string) => Promise<AccountRelations>> => {
    const owner = organizationId ?? EVERYWHERE
    const accepted = new Map(
      (await RULE_ADMINISTRATORS.list(scope, { organizationId: owner }, ['userId'])).map((row) => [
        row.userId,
        row.sinceSeconds,
      ]),
    )
    const couldControl = ({ userId, kind, heldAtSeconds }: ItemOf<typeof MAKERS>): boolean =>
      kind === 'recovered' || (heldAtSeconds !== null && heldAtSeconds > (accepted.get(userId) ?? -1))
    const reach = async (
      from: string,
      counts: (row: ItemOf<typeof MAKERS>) => boolean,
    ): Promise<ReadonlySet<string>> => {
      const found = new Set([from])
      for (const userId of found) {
        const within = among([EVERYWHERE, owner])
        const rows = await MAKERS.everywhere.list(scope, { userId, organizationId: within }, ['makerId'])
        for (const row of rows) if (counts(row)) found.add(row.makerId)
      }
      return found
    }
    return async (userId) => ({
      makers: await reach(userId, () => true),
      controllers: await reach(userId, couldControl),
    })
  },
})
