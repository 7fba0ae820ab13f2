// Single-use links for the first account, an invitation or a new password. Only hashes of their secrets are stored.

import { bytes, hidden, integer, nullable, sql, text, typed } from '../columns.ts'
import { type TableScope, unidentifiedReads } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { lockDeployment, lockUser } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type UserLinkPurpose = 'first-admin' | 'invitation' | 'recovery'

const LINKS = defineTable('user_links', {
  purpose: typed<UserLinkPurpose>(),
  /** Null for the first account. */
  userId: nullable(text),
  expiresAtSeconds: integer,
  hash: hidden(bytes),
})

export interface UserLink extends ItemOf<typeof LINKS> {}

/** Both the renewal and the use of a link take this lock before the link's row. It also serializes renewals. */
const lockOwner = (own: Transaction, userId: string | null): Promise<unknown> =>
  userId === null ? lockDeployment(own) : lockUser(own, userId)

export const createUserLinkTable = (scope: TableScope) => {
  const open = (hash: Uint8Array) => ({ hash, expiresAtSeconds: sql`> ${scope.nowSeconds()}` })
  return {
    /** Invalidates earlier links for the same account, or for the first account. */
    replace: ({ purpose, userId, expiresAtSeconds }: UserLink, hash: Uint8Array): Promise<void> =>
      scope.write(async (own) => {
        await lockOwner(own, userId)
        await LINKS.removeAll(own, userId === null ? { purpose: 'first-admin' } : { userId })
        await LINKS.insert(own, { hash, purpose, userId, expiresAtSeconds })
      }),

    /** Call before the account receives rights that the holder of an invitation must not have. */
    endInvitations: async (userId: string): Promise<void> => {
      await LINKS.removeAll(scope, { userId, purpose: 'invitation' })
    },

    endRecoveries: async (userId: string, afterSeconds: number): Promise<void> => {
      await LINKS.removeAll(scope, { userId, purpose: 'recovery', expiresAtSeconds: sql`> ${afterSeconds}` })
    },

    find: (hash: Uint8Array): Promise<UserLink | null> => LINKS.find(unidentifiedReads(scope), open(hash)),

    /** Like `find`, and uses the link. If calls are concurrent, only one succeeds. */
    spend: ({ userId }: Pick<UserLink, 'userId'>, hash: Uint8Array): Promise<UserLink | null> =>
      scope.write(async (own) => {
        await lockOwner(own, userId)
        return LINKS.remove(own, open(hash))
      }),
  }
}
