// Records who created, admitted or could control an account, to decide whether two accounts count as two people.

import { among, integer, nullable, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type MakerKind =
  | 'made'
  /** Received a recovery link, or made the account a deployment admin without approval. */
  | 'recovered'

/** An operator of the machine: all links printed by the command line count as received by one person. */
export const COMMAND_LINE = 'command-line'

export interface Administrator {
  readonly userId: string
  readonly name: string
  /** Time when the account received its oldest administration right. */
  readonly sinceSeconds: number
}

export interface AccountRelations {
  /** Accounts that created, admitted or could control the account, or assigned its role. */
  readonly makers: ReadonlySet<string>
  /** Accounts that received a link to the account. Links to administrators from before the rule don't count. */
  readonly controllers: ReadonlySet<string>
}

/** Organization id in rows that apply to all organizations. */
const EVERYWHERE = ''

const MAKERS = defineTable('account_makers', {
  userId: text,
  /** An account, a key without a known recipient (`key:…`), or COMMAND_LINE. */
  makerId: text,
  organizationId: text,
  kind: typed<MakerKind>(),
  /** Time of the maker's last link to the account, for its password or its membership. */
  heldAtSeconds: nullable(integer),
})

/** Administrators when the rule was last enabled; earlier links to them don't count. */
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
  // Rows are sorted newest first, so that the map keeps the oldest row per account.
  return [...new Map(rows.map((row) => [row.user_id, fieldsOf(row)])).values()]
}

export const createAccountMakerTable = (scope: TableScope) => ({
  /** Accounts that can sign in and administer the organization (null: the deployment), including deployment admins. */
  administrators: (organizationId: string | null) => administratorsOf(scope, organizationId),

  /** Idempotent. @param organizationId null for all organizations @param holdsLink true if the maker receives a link */
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
