// Passkeys (W3C Web Authentication, level 3): public keys of authenticators, and answered challenges, so that each
// challenge is accepted only once.

import { fixedError } from '../../domain/errors.ts'
import { bytes, integer, nullable, sql, text, words } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

const PASSKEYS = defineTable('passkeys', {
  /** The credential's id, base64url. */
  id: text,
  userId: text,
  /** The owner's name for the passkey. */
  name: text,
  /** COSE key. */
  publicKey: bytes,
  /** Increments with each use if the authenticator counts; otherwise 0. */
  signatureCount: integer,
  /** Hints for the browser: `internal`, `usb`, `hybrid` … */
  transports: words(),
  createdAtSeconds: integer,
  lastUsedAtSeconds: nullable(integer),
})
const CHALLENGES = defineTable('passkey_challenges', { id: text, challenge: text, expiresAtSeconds: integer })

export interface Passkey extends ItemOf<typeof PASSKEYS> {}

/** Maximum number of an account's passkeys. Requests of the account may read all of them. */
export const PASSKEYS_PER_ACCOUNT_MAX = 50

export class PasskeyLimitError extends fixedError(
  'CONFLICT',
  `an account has at most ${PASSKEYS_PER_ACCOUNT_MAX} passkeys: remove one first`,
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

  /** Oldest first. */
  listOf: (userId: string): Promise<readonly Passkey[]> => PASSKEYS.list(scope, { userId }, ['createdAtSeconds', 'id']),

  noteUse: async (id: string, signatureCount: number): Promise<void> => {
    await PASSKEYS.updateAll(scope, { id }, { signatureCount, lastUsedAtSeconds: scope.nowSeconds() })
  },

  remove: async (userId: string, id: string): Promise<boolean> =>
    (await PASSKEYS.removeAll(scope, { userId, id })) === 1,

  /**
   * Records that a challenge was answered. Returns false if it was answered before, so that only one of two concurrent
   * answers counts.
   * @param challenge base64url
   */
  spendChallenge: (challenge: string, rememberUntilSeconds: number): Promise<boolean> =>
    CHALLENGES.insertNew(scope, { id: challenge, challenge: '', expiresAtSeconds: rememberUntilSeconds }),

  /** Deletes a batch of expired, answered challenges. @returns the number deleted; repeat until it is 0 */
  sweep: (): Promise<number> =>
    CHALLENGES.sweep(survivingCrashes(scope), ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
})

export type PasskeyTable = ReturnType<typeof createPasskeyTable>
