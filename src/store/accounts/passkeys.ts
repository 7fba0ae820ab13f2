// Passkeys (W3C Web Authentication, level 3), and used challenges, so that each challenge is accepted only once.

import { fixedError } from '../../domain/errors.ts'
import { bytes, integer, nullable, sql, text, words } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

const PASSKEYS = defineTable('passkeys', {
  id: text,
  userId: text,
  name: text,
  publicKey: bytes,
  /** 0 if the authenticator does not count. */
  signatureCount: integer,
  transports: words(),
  createdAtSeconds: integer,
  lastUsedAtSeconds: nullable(integer),
})
const CHALLENGES = defineTable('passkey_challenges', { id: text, challenge: text, expiresAtSeconds: integer })

export interface Passkey extends ItemOf<typeof PASSKEYS> {}

/** Maximum per account, because a request may read all passkeys of its account. */
export const PASSKEYS_PER_ACCOUNT_MAX = 50

export class PasskeyLimitError extends fixedError(
  'CONFLICT',
  `an account can have at most ${PASSKEYS_PER_ACCOUNT_MAX} passkeys: remove a passkey first`,
) {}

export const createPasskeyTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError if the credential is already registered; PasskeyLimitError */
  add: (passkey: Omit<Passkey, 'createdAtSeconds' | 'lastUsedAtSeconds'>): Promise<Passkey> =>
    scope.write(async (own) => {
      await lockDeployment(own)
      const count = await PASSKEYS.count(own, { userId: passkey.userId })
      if (count >= PASSKEYS_PER_ACCOUNT_MAX) throw new PasskeyLimitError()
      return PASSKEYS.insert(own, { ...passkey, createdAtSeconds: scope.nowSeconds() })
    }),

  find: (id: string): Promise<Passkey | null> => PASSKEYS.find(scope, { id }),

  listOf: (userId: string): Promise<readonly Passkey[]> => PASSKEYS.list(scope, { userId }, ['createdAtSeconds', 'id']),

  noteUse: async (id: string, signatureCount: number): Promise<void> => {
    await PASSKEYS.updateAll(scope, { id }, { signatureCount, lastUsedAtSeconds: scope.nowSeconds() })
  },

  remove: async (userId: string, id: string): Promise<boolean> =>
    (await PASSKEYS.removeAll(scope, { userId, id })) === 1,

  /** @param challenge base64url @returns false if it was used before */
  spendChallenge: (challenge: string, rememberUntilSeconds: number): Promise<boolean> =>
    CHALLENGES.insertNew(scope, { id: challenge, challenge: '', expiresAtSeconds: rememberUntilSeconds }),

  sweep: (): Promise<number> =>
    CHALLENGES.sweep(survivingCrashes(scope), ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
})

export type PasskeyTable = ReturnType<typeof createPasskeyTable>
