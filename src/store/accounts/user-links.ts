// Single-use links for the first account, an invitation or a new password. Only hashes of their secrets are stored.

import { bytes, hidden, integer, nullable, sql, text, typed } from '../columns.ts'
import { type TableScope, unidentifiedReads } from '../copy/table-scope.ts'
import { lockDeployment } from '../row-locks.ts'
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

export const createUserLinkTable = (scope: TableScope) => {
  const open = (hash: Uint8Array) => ({ hash, expiresAtSeconds: sql`> ${scope.nowSeconds()}` })
  return {
    /** Invalidates earlier links for the same account, or for the first account. */
    replace: ({ purpose, userId, expiresAtSeconds }: UserLink, hash: Uint8Array): Promise<void> =>
      scope.write(async (own) => {
        // Serializes concurrent calls.
        await lockDeployment(own)
        await LINKS.removeAll(own, userId === null ? { purpose: 'first-admin' } : { userId })
        await LINKS.insert(own, { hash, purpose, userId, expiresAtSeconds })
      }),

    /** Call before the account gets rights that the holder of an invitation must not have. */
    endInvitations: async (userId: string): Promise<void> => {
      await LINKS.removeAll(scope, { userId, purpose: 'invitation' })
    },

    endRecoveries: async (userId: string, afterSeconds: number): Promise<void> => {
      await LINKS.removeAll(scope, { userId, purpose: 'recovery', expiresAtSeconds: sql`> ${afterSeconds}` })
    },

    find: (hash: Uint8Array): Promise<UserLink | null> => LINKS.find(unidentifiedReads(scope), open(hash)),

    /** Like `find`, and uses the link. If calls are concurrent, only one succeeds. */
    spend: (hash: Uint8Array): Promise<UserLink | null> => LINKS.remove(scope, open(hash)),
  }
}
