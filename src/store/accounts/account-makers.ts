// Records who created, admitted or could control an account, to decide whether two accounts count as two people.

import { integer, nullable, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { placeholdersFor } from '../sessions/session-rows.ts'
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
  /** Accounts that received a link to the account. Links to administrators don't count if they predate the rule. */
  readonly controllers: ReadonlySet<string>
  /**
   * True if there are more relations than any real account has. The sets are then incomplete, so count the account as
   * related to all.
   */
  readonly isEndless: boolean
}

/** Limits the time for which a check of approvers occupies the thread. */
const REACHED_MAX = 100
const ROWS_MAX = 5_000

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

type MakerRow = Pick<ItemOf<typeof MAKERS>, 'userId' | 'makerId' | 'kind' | 'heldAtSeconds'>

/** Returns a query. Parameters: the account ids, then the organization's id three times. */
const selectMakers = (userIds: readonly string[]): string => `WITH RECURSIVE reached (user_id) AS (
    SELECT user_id FROM account_makers WHERE user_id IN (${placeholdersFor(userIds)}) AND organization_id IN ('', ?)
    UNION SELECT made.maker_id FROM account_makers made JOIN reached ON made.user_id = reached.user_id
    WHERE made.organization_id IN ('', ?)
  )
  SELECT made.user_id, made.maker_id, made.kind, made.held_at_seconds FROM account_makers made
  JOIN reached ON made.user_id = reached.user_id WHERE made.organization_id IN ('', ?) LIMIT ${ROWS_MAX + 1}`

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

  /**
   * Returns a function that finds the relations of one of these accounts within the organization. Reads all of them at
   * once, because accounts can form long chains. Handles cycles.
   */
  relations: async (
    organizationId: string | null,
    userIds: readonly string[],
  ): Promise<(userId: string) => AccountRelations> => {
    const owner = organizationId ?? EVERYWHERE
    const accepted = new Map(
      (await RULE_ADMINISTRATORS.list(scope, { organizationId: owner }, ['userId'])).map((row) => [
        row.userId,
        row.sinceSeconds,
      ]),
    )
    const rows = (
      await scope.statements.query<RowOf<MakerRow>>(selectMakers(userIds), [...userIds, owner, owner, owner])
    ).map((row) => fieldsOf(row))
    const rowsOf = Map.groupBy(rows, (row) => row.userId)
    const couldControl = ({ userId, kind, heldAtSeconds }: MakerRow): boolean =>
      kind === 'recovered' || (heldAtSeconds !== null && heldAtSeconds > (accepted.get(userId) ?? -1))
    const reach = (from: string, counts: (row: MakerRow) => boolean): ReadonlySet<string> => {
      const found = new Set([from])
      for (const userId of found) {
        for (const row of rowsOf.get(userId) ?? []) if (counts(row)) found.add(row.makerId)
        if (found.size > REACHED_MAX) break
      }
      return found
    }
    return (userId) => {
      const makers = reach(userId, () => true)
      const isEndless = rows.length > ROWS_MAX || makers.size > REACHED_MAX
      return { makers, controllers: reach(userId, couldControl), isEndless }
    }
  },
})
