// Passkeys (W3C Web Authentication, level 3): public keys of authenticators, and the challenges that were answered, so
// that each is accepted once.

import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { sweepRows } from '../sweep.ts'

export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string
  readonly userId: string
  /** The owner's name for it. */
  readonly name: string
  /** COSE key. */
  readonly publicKey: Uint8Array
  /** Increments with each use if the authenticator counts; otherwise 0. */
  readonly signatureCount: number
  /** Hints for the browser: `internal`, `usb`, `hybrid` … */
  readonly transports: readonly string[]
  readonly createdAtSeconds: number
  readonly lastUsedAtSeconds: number | null
}

type PasskeyRow = RowOf<Omit<Passkey, 'transports'>> & {
  readonly transports: string
}

const COLUMNS = 'id, user_id, name, public_key, signature_count, transports, created_at_seconds, last_used_at_seconds'
const DURABILITY = { survives: 'process-crash' } as const

const toPasskey = (row: PasskeyRow): Passkey => ({
  ...fieldsOf(row),
  transports: row.transports === '' ? [] : row.transports.split(' '),
})

export const createPasskeyTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError when the credential is known already. */
  add: (passkey: Omit<Passkey, 'createdAtSeconds' | 'lastUsedAtSeconds'>): Promise<Passkey> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<PasskeyRow>(
        `INSERT INTO passkeys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL) RETURNING ${COLUMNS}`,
        [
          passkey.id,
          passkey.userId,
          passkey.name,
          passkey.publicKey,
          passkey.signatureCount,
          passkey.transports.join(' '),
          scope.nowSeconds(),
        ],
      )
      if (row === undefined) throw new Error('the new passkey was not returned')
      return toPasskey(row)
    }),

  find: async (passkeyId: string): Promise<Passkey | null> => {
    const [row] = await scope.statements.query<PasskeyRow>(`SELECT ${COLUMNS} FROM passkeys WHERE id = ?`, [passkeyId])
    return row === undefined ? null : toPasskey(row)
  },

  /** Oldest first. */
  listOf: async (userId: string): Promise<readonly Passkey[]> =>
    (
      await scope.statements.query<PasskeyRow>(
        `SELECT ${COLUMNS} FROM passkeys WHERE user_id = ? ORDER BY created_at_seconds, id`,
        [userId],
      )
    ).map(toPasskey),

  noteUse: (passkeyId: string, signatureCount: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute('UPDATE passkeys SET signature_count = ?, last_used_at_seconds = ? WHERE id = ?', [
        signatureCount,
        scope.nowSeconds(),
        passkeyId,
      ])
    }),

  remove: (userId: string, passkeyId: string): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute('DELETE FROM passkeys WHERE user_id = ? AND id = ?', [userId, passkeyId])) === 1,
    ),

  /**
   * Records that a challenge was answered. False when it was answered before, so that one of two concurrent answers
   * counts.
   * @param challenge base64url
   */
  spendChallenge: (challenge: string, rememberUntilSeconds: number): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          `INSERT INTO passkey_challenges (id, challenge, user_id, expires_at_seconds) VALUES (?, '', NULL, ?)
           ON CONFLICT (id) DO NOTHING`,
          [challenge, rememberUntilSeconds],
        )) === 1,
    ),

  /**
   * Deletes a batch of answered challenges that have expired anyway. @returns how many: call again until it is 0
   */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) =>
        sweepRows(transaction, 'passkey_challenges', 'id', 'expires_at_seconds <= ?', scope.nowSeconds()),
      DURABILITY,
    ),
})

export type PasskeyTable = ReturnType<typeof createPasskeyTable>
