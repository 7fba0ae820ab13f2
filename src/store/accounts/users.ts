// Accounts of people who administer and review, with the credentials that they sign in with. They belong to the deployment:
// an account may be a member of several organizations (memberships.ts).
import { newIdentifier } from '../../domain/identifier.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements } from '../database.ts'
import { type Page, type PageRequest, queryPage } from '../paging.ts'
import { pickFields, type RowOf } from '../row-fields.ts'
import { lockDeployment } from '../row-locks.ts'

export interface User {
  readonly id: string
  /** Lower case; unique in the deployment. */
  readonly email: string
  readonly name: string
  readonly deploymentAdmin: boolean
  /** False until an invitation is taken up. */
  readonly hasPassword: boolean
  readonly hasTotp: boolean
  /** The organization that made the account by adding a member; null for the deployment's own. */
  readonly madeByOrganizationId: string | null
  readonly version: number
  readonly createdAtSeconds: number
  /** Since when the account can't sign in; null while it can. */
  readonly disabledAtSeconds: number | null
}

/** What is compared when someone signs in. Stays inside the process: never listed, logged or answered. */
interface UserCredential {
  readonly user: User
  /** argon2id, in PHC form; null: none was set. */
  readonly passwordHash: string | null
  /** Sealed; null: none. Counts only while `user.hasTotp`. */
  readonly totpSecret: Uint8Array | null
  /** The last time step whose code was used (RFC 6238, section 5.2: a code is accepted once). */
  readonly totpLastStep: number
}

type UserRow = RowOf<Omit<User, 'deploymentAdmin' | 'hasPassword' | 'hasTotp'>> & {
  readonly deployment_admin: number
  readonly password_hash: string | null
  readonly totp_secret: Uint8Array | null
  readonly totp_confirmed_at_seconds: number | null
  readonly totp_last_step: number
}

const COLUMNS = `id, email, name, deployment_admin, password_hash, totp_secret, totp_confirmed_at_seconds,
  totp_last_step, version, created_at_seconds, disabled_at_seconds, made_by_organization_id`

const PUBLIC_COLUMNS = [
  'id',
  'email',
  'name',
  'version',
  'created_at_seconds',
  'disabled_at_seconds',
  'made_by_organization_id',
] as const

const toUser = (row: UserRow): User => ({
  ...pickFields(row, PUBLIC_COLUMNS),
  deploymentAdmin: row.deployment_admin === 1,
  hasPassword: row.password_hash !== null,
  hasTotp: row.totp_confirmed_at_seconds !== null,
})

const toCredential = (row: UserRow): UserCredential => ({
  user: toUser(row),
  passwordHash: row.password_hash,
  totpSecret: row.totp_secret,
  totpLastStep: row.totp_last_step,
})

const findRow = async (statements: Statements, column: 'id' | 'email', value: string): Promise<UserRow | null> => {
  const [row] = await statements.query<UserRow>(`SELECT ${COLUMNS} FROM users WHERE ${column} = ?`, [value])
  return row ?? null
}

export const createUserTable = (scope: TableScope) => {
  /**
   * Runs an UPDATE of one account; null when there is none. `inTurn`: one at a time, so that whoever counts the admins
   * afterwards, in the same transaction, counts what stays.
   */
  const update = (
    userId: string,
    set: string,
    parameters: readonly (string | number | Uint8Array | null)[],
    inTurn = false,
  ) =>
    scope.write(async (transaction): Promise<User | null> => {
      if (inTurn) await lockDeployment(transaction)
      const [row] = await transaction.query<UserRow>(
        `UPDATE users SET ${set}, version = version + 1 WHERE id = ? RETURNING ${COLUMNS}`,
        [...parameters, userId],
      )
      return row === undefined ? null : toUser(row)
    })

  return {
    /** @throws ConstraintViolatedError when the address is taken. */
    create: (input: {
      readonly email: string
      readonly name: string
      readonly deploymentAdmin: boolean
      readonly passwordHash: string | null
      /** Null unless stated. */
      readonly madeByOrganizationId?: string
    }): Promise<User> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<UserRow>(
          `INSERT INTO users (${COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL, NULL, 0, 1, ?, NULL, ?) RETURNING ${COLUMNS}`,
          [
            newIdentifier('user'),
            input.email.toLowerCase(),
            input.name,
            input.deploymentAdmin ? 1 : 0,
            input.passwordHash,
            scope.nowSeconds(),
            input.madeByOrganizationId ?? null,
          ],
        )
        if (row === undefined) throw new Error('the new account was not returned')
        return toUser(row)
      }),

    find: async (userId: string): Promise<User | null> => {
      const row = await findRow(scope.statements, 'id', userId)
      return row === null ? null : toUser(row)
    },

    /** The same, locked: a change of the account waits until the transaction has ended. */
    lock: (userId: string): Promise<User | null> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<UserRow>(
          `UPDATE users SET version = version WHERE id = ? RETURNING ${COLUMNS}`,
          [userId],
        )
        return row === undefined ? null : toUser(row)
      }),

    findByEmail: async (email: string): Promise<User | null> => {
      const row = await findRow(scope.statements, 'email', email.toLowerCase())
      return row === null ? null : toUser(row)
    },

    /** For signing in. Null for an address that nobody has. */
    findCredential: async (by: { readonly email: string } | { readonly userId: string }) => {
      const row =
        'email' in by
          ? await findRow(scope.statements, 'email', by.email.toLowerCase())
          : await findRow(scope.statements, 'id', by.userId)
      return row === null ? null : toCredential(row)
    },

    /** Oldest first, disabled ones included. */
    page: (page: PageRequest): Promise<Page<User>> =>
      queryPage<UserRow, User>(
        scope.statements,
        { select: `SELECT ${COLUMNS} FROM users`, where: [], parameters: [], order: ['created_at_seconds', 'id'] },
        page,
        toUser,
      ),

    /** Accounts that may do everything and can sign in. */
    countDeploymentAdmins: async (): Promise<number> => {
      const [row] = await scope.statements.query<{ count: number }>(
        'SELECT COUNT(*) AS count FROM users WHERE deployment_admin = 1 AND disabled_at_seconds IS NULL',
      )
      return row?.count ?? 0
    },

    rename: (userId: string, name: string) => update(userId, 'name = ?', [name]),
    setDeploymentAdmin: (userId: string, is: boolean) =>
      update(
        userId,
        `deployment_admin_since_seconds = CASE WHEN deployment_admin = ? THEN deployment_admin_since_seconds ELSE ? END,
         deployment_admin = ?`,
        [is ? 1 : 0, scope.nowSeconds(), is ? 1 : 0],
        true,
      ),
    setDisabled: (userId: string, disabled: boolean) =>
      update(userId, 'disabled_at_seconds = ?', [disabled ? scope.nowSeconds() : null], true),
    /** Makes the account the deployment's own, whichever organization made it. */
    adopt: (userId: string) => update(userId, 'made_by_organization_id = NULL', []),
    setPassword: (userId: string, passwordHash: string) => update(userId, 'password_hash = ?', [passwordHash]),

    /** Replaces the hash of the same password. Does nothing when the password was changed meanwhile. */
    exchangePassword: async (oldHash: string, newHash: string): Promise<void> => {
      await scope.write((transaction) =>
        transaction.execute('UPDATE users SET password_hash = ? WHERE password_hash = ?', [newHash, oldHash]),
      )
    },

    /** The sealed secrets of all accounts: to seal them by another key. The deployment's own administration. */
    listTotpSecrets: async (): Promise<readonly { readonly userId: string; readonly sealed: Uint8Array }[]> =>
      (
        await scope.statements.query<{ id: string; totp_secret: Uint8Array }>(
          'SELECT id, totp_secret FROM users WHERE totp_secret IS NOT NULL ORDER BY id',
        )
      ).map((row) => ({ userId: row.id, sealed: row.totp_secret })),

    /** Replaces the sealed form of the same secret. Does nothing when the secret was changed meanwhile. */
    exchangeTotpSecret: async (userId: string, from: Uint8Array, to: Uint8Array): Promise<void> => {
      await scope.write((transaction) =>
        transaction.execute('UPDATE users SET totp_secret = ? WHERE id = ? AND totp_secret = ?', [to, userId, from]),
      )
    },

    /** Stores a secret that does not count yet: `confirmTotp` follows when a code proves that the owner has it. */
    proposeTotp: (userId: string, sealedSecret: Uint8Array) =>
      update(userId, 'totp_secret = ?, totp_confirmed_at_seconds = NULL, totp_last_step = 0', [sealedSecret]),
    confirmTotp: (userId: string) => update(userId, 'totp_confirmed_at_seconds = ?', [scope.nowSeconds()]),
    removeTotp: (userId: string) =>
      update(userId, 'totp_secret = NULL, totp_confirmed_at_seconds = NULL, totp_last_step = 0', []),

    /** Marks a time step as used. False when it or a later one was used before, so that one code works once. */
    spendTotpStep: (userId: string, step: number): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('UPDATE users SET totp_last_step = ? WHERE id = ? AND totp_last_step < ?', [
            step,
            userId,
            step,
          ])) === 1,
      ),

    /** Replaces all recovery codes; an empty list deletes them. */
    setRecoveryCodes: (userId: string, hashes: readonly Uint8Array[]): Promise<void> =>
      scope.write(async (transaction) => {
        await transaction.execute('UPDATE users SET version = version WHERE id = ?', [userId])
        await transaction.execute('DELETE FROM user_recovery_codes WHERE user_id = ?', [userId])
        for (const hash of hashes) {
          await transaction.execute('INSERT INTO user_recovery_codes (user_id, hash) VALUES (?, ?)', [userId, hash])
        }
      }),

    countRecoveryCodes: async (userId: string): Promise<number> => {
      const [row] = await scope.statements.query<{ count: number }>(
        'SELECT COUNT(*) AS count FROM user_recovery_codes WHERE user_id = ?',
        [userId],
      )
      return row?.count ?? 0
    },

    /** True once for each code. */
    spendRecoveryCode: (userId: string, hash: Uint8Array): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('DELETE FROM user_recovery_codes WHERE user_id = ? AND hash = ?', [
            userId,
            hash,
          ])) === 1,
      ),
  }
}
