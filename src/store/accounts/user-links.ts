// Links that work once and expire: to make the first account, to accept an invitation, to set a new password. Only the hash
// of the link's secret is stored.

import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'
import { lockDeployment } from '../row-locks.ts'

export type UserLinkPurpose = 'first-admin' | 'invitation' | 'recovery'

export interface UserLink {
  readonly purpose: UserLinkPurpose
  /** Null for the first account, which does not exist yet. */
  readonly userId: string | null
  readonly expiresAtSeconds: number
}

type LinkRow = RowOf<UserLink>

const COLUMNS = 'purpose, user_id, expires_at_seconds'

export const createUserLinkTable = (scope: TableScope) => ({
  /** Makes a link; the ones before it for the same account (or the first account) stop working. */
  replace: (link: UserLink, hash: Uint8Array): Promise<void> =>
    scope.write(async (transaction) => {
      // One at a time: of two links made at once, the second ends the first.
      await lockDeployment(transaction)
      if (link.userId === null) await transaction.execute("DELETE FROM user_links WHERE purpose = 'first-admin'")
      else await transaction.execute('DELETE FROM user_links WHERE user_id = ?', [link.userId])
      await insertRow(transaction, 'user_links', { hash, ...link })
    }),

  /** Ends the invitations to an account: for when it gets rights that whoever holds one must not have. */
  endInvitations: (userId: string): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute("DELETE FROM user_links WHERE user_id = ? AND purpose = 'invitation'", [userId])
    }),

  /** What a link is for, without opening it; null when it is unknown, used or too old. */
  find: async (hash: Uint8Array): Promise<UserLink | null> => {
    const [row] = await scope.statements.query<LinkRow>(
      `SELECT ${COLUMNS} FROM user_links WHERE hash = ? AND expires_at_seconds > ?`,
      [hash, scope.nowSeconds()],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /** Uses a link up. Null as `find`. When two calls come at once, one gets it. */
  spend: (hash: Uint8Array): Promise<UserLink | null> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<LinkRow>(
        `DELETE FROM user_links WHERE hash = ? AND expires_at_seconds > ? RETURNING ${COLUMNS}`,
        [hash, scope.nowSeconds()],
      )
      return row === undefined ? null : fieldsOf(row)
    }),
})

export type UserLinkTable = ReturnType<typeof createUserLinkTable>
