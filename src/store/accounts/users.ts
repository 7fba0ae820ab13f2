// Accounts of administrators and reviewers, with credentials. An account can belong to several organizations.
import { newIdentifier } from '../../domain/identifier.ts'
import { bytes, computed, flag, hidden, integer, nullable, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import type { Page, PageRequest } from '../paging.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

const COLUMNS = {
  id: text,
  email: text,
  name: text,
  deploymentAdmin: flag,
  /** False until an invitation is accepted. */
  hasPassword: computed(flag, '(CASE WHEN users.password_hash IS NULL THEN 0 ELSE 1 END)'),
  hasTotp: computed(flag, '(CASE WHEN users.totp_confirmed_at_seconds IS NULL THEN 0 ELSE 1 END)'),
  /** Organization that created the account by adding a member; null for accounts of the deployment. */
  madeByOrganizationId: nullable(text),
  version: integer,
  createdAtSeconds: integer,
  disabledAtSeconds: nullable(integer),
}

const USERS = defineTable('users', {
  ...COLUMNS,
  passwordHash: hidden(nullable(text)),
  totpSecret: hidden(nullable(bytes)),
  totpConfirmedAtSeconds: hidden(nullable(integer)),
  totpLastStep: hidden(integer),
  deploymentAdminSinceSeconds: hidden(nullable(integer)),
})

export interface User extends ItemOf<typeof USERS> {}

/** Credentials, which are never listed, logged or returned. */
interface UserCredential {
  readonly user: User
  /** Argon2id hash in PHC format. */
  readonly passwordHash: string | null
  /** Sealed. In use only if `user.hasTotp`. */
  readonly totpSecret: Uint8Array | null
  /** Last used time step: each code is accepted once (RFC 6238, section 5.2). */
  readonly totpLastStep: number
}

const CREDENTIALS = defineTable(
  'users',
  { ...COLUMNS, passwordHash: nullable(text), totpSecret: nullable(bytes), totpLastStep: integer },
  ({ passwordHash, totpSecret, totpLastStep, ...user }): UserCredential => ({
    user,
    passwordHash,
    totpSecret,
    totpLastStep,
  }),
)

const RECOVERY_CODES = defineTable('user_recovery_codes', { userId: text, hash: bytes })

const NO_TOTP = { totpSecret: null, totpConfirmedAtSeconds: null, totpLastStep: 0 }

export const createUserTable = (scope: TableScope) => {
  const change = (
    which: Parameters<typeof USERS.update>[1],
    values: Parameters<typeof USERS.update>[2],
  ): Promise<User | null> => USERS.update(scope, which, { ...values, version: sql`version + 1` })

  /** Serializes changes, so that a count of admins in the same transaction stays accurate. */
  const changeInTurn = (id: string, values: Parameters<typeof USERS.update>[2]): Promise<User | null> =>
    scope.write(async (own) => {
      await lockDeployment(own)
      return USERS.update(own, { id }, { ...values, version: sql`version + 1` })
    })

  return {
    /** @throws ConstraintViolatedError if the email address is in use; OrganizationLimitError */
    create: (input: {
      readonly email: string
      readonly name: string
      readonly deploymentAdmin: boolean
      readonly passwordHash: string | null
      readonly madeByOrganizationId?: string
    }): Promise<User> =>
      scope.write(async (own) => {
        if (input.madeByOrganizationId !== undefined)
          await requireRoom(own, input.madeByOrganizationId, 'created accounts')
        return USERS.insert(own, {
          ...input,
          email: input.email.toLowerCase(),
          id: newIdentifier('user'),
          totpLastStep: 0,
          version: 1,
          createdAtSeconds: scope.nowSeconds(),
        })
      }),

    find: (id: string): Promise<User | null> => USERS.find(scope, { id }),

    lock: (id: string): Promise<User | null> => USERS.lock(scope, { id }, 'version'),

    findByEmail: (email: string): Promise<User | null> => USERS.find(scope, { email: email.toLowerCase() }),

    findCredential: (by: { readonly email: string } | { readonly userId: string }): Promise<UserCredential | null> =>
      CREDENTIALS.find(scope, 'email' in by ? { email: by.email.toLowerCase() } : { id: by.userId }),

    page: (page: PageRequest): Promise<Page<User>> => USERS.page(scope, {}, ['createdAtSeconds', 'id'], page),

    countDeploymentAdmins: (): Promise<number> =>
      USERS.count(scope, { deploymentAdmin: true, disabledAtSeconds: null }),

    rename: (id: string, name: string) => change({ id }, { name }),
    setDeploymentAdmin: (id: string, is: boolean) =>
      changeInTurn(id, {
        deploymentAdminSinceSeconds: sql`CASE WHEN deployment_admin = ${is ? 1 : 0}
          THEN deployment_admin_since_seconds ELSE ${scope.nowSeconds()} END`,
        deploymentAdmin: is,
      }),
    setDisabled: (id: string, disabled: boolean) =>
      changeInTurn(id, { disabledAtSeconds: disabled ? scope.nowSeconds() : null }),
    /** Transfers the account from its organization to the deployment. */
    adopt: (id: string) => change({ id }, { madeByOrganizationId: null }),
    setPassword: (id: string, passwordHash: string) => change({ id }, { passwordHash }),

    /** Stores a new hash of the same password, unless the password has changed. */
    exchangePassword: async (oldHash: string, newHash: string): Promise<void> => {
      await USERS.updateAll(scope, { passwordHash: oldHash }, { passwordHash: newHash })
    },

    listTotpSecrets: async (): Promise<readonly { readonly userId: string; readonly sealed: Uint8Array }[]> =>
      (await CREDENTIALS.list(scope, { totpSecret: sql`IS NOT NULL` }, ['id'])).flatMap(({ user, totpSecret }) =>
        totpSecret === null ? [] : [{ userId: user.id, sealed: totpSecret }],
      ),

    /** Stores the same secret sealed with another key, unless the secret has changed. */
    exchangeTotpSecret: async (id: string, from: Uint8Array, to: Uint8Array): Promise<void> => {
      await USERS.updateAll(scope, { id, totpSecret: from }, { totpSecret: to })
    },

    /** Returns null if one-time codes are in use. Keeps the version, so that a sign-in in progress is not rejected. */
    proposeTotp: (id: string, totpSecret: Uint8Array) =>
      USERS.update(scope, { id, totpConfirmedAtSeconds: null }, { ...NO_TOTP, totpSecret }),
    /** Returns null if one-time codes are in use, or if another secret was proposed. */
    confirmTotp: (id: string, totpSecret: Uint8Array) =>
      change({ id, totpSecret, totpConfirmedAtSeconds: null }, { totpConfirmedAtSeconds: scope.nowSeconds() }),
    removeTotp: (id: string) => change({ id }, NO_TOTP),

    spendTotpStep: async (id: string, step: number): Promise<boolean> =>
      (await USERS.updateAll(scope, { id, totpLastStep: sql`< ${step}` }, { totpLastStep: step })) === 1,

    setRecoveryCodes: (userId: string, hashes: readonly Uint8Array[]): Promise<void> =>
      scope.write(async (own) => {
        await USERS.lock(own, { id: userId }, 'version')
        await RECOVERY_CODES.removeAll(own, { userId })
        for (const hash of hashes) await RECOVERY_CODES.insert(own, { userId, hash })
      }),

    countRecoveryCodes: (userId: string): Promise<number> => RECOVERY_CODES.count(scope, { userId }),

    spendRecoveryCode: async (userId: string, hash: Uint8Array): Promise<boolean> =>
      (await RECOVERY_CODES.removeAll(scope, { userId, hash })) === 1,
  }
}
