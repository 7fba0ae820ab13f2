// Enforces second-factor rules. An account without a required factor can only add one.
import type { OrganizationRole } from '../../store/accounts/role.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError, SecondFactorMissingError } from '../errors.ts'

interface ClosedUntilFactor {
  readonly deployment: boolean
  readonly organizationIds: readonly string[]
}

interface Person {
  readonly user: User
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

export const hasSecondFactor = async (tables: Pick<Tables, 'passkeys'>, user: User): Promise<boolean> =>
  user.hasTotp || (await tables.passkeys.listOf(user.id)).length > 0

/** Areas whose rules require a second factor, regardless of the person's factors. */
const closedWithout = async (
  { organizationSettings }: Pick<Tables, 'organizationSettings'>,
  { user, roles }: Person,
): Promise<ClosedUntilFactor> => {
  const { deployment, organizationIds } = await organizationSettings.readSecondFactorRules()
  return { deployment, organizationIds: organizationIds.filter((id) => user.deploymentAdmin || roles.has(id)) }
}

/** @param organizationId null for the deployment's rule @throws ConflictError if the requester has no second factor */
export const setSecondFactorRule = async (
  tables: Pick<Tables, 'passkeys' | 'users' | 'organizationSettings'>,
  {
    organizationId,
    required,
    user,
  }: { readonly organizationId: string | null; readonly required: boolean; readonly user: User | null },
): Promise<{ readonly before: boolean }> => {
  if (required && user !== null) {
    const now = (await tables.users.lock(user.id)) ?? user
    if (!(await hasSecondFactor(tables, now))) {
      throw new ConflictError('your own account has no second factor: add one-time codes or a passkey first')
    }
  }
  return { before: await tables.organizationSettings.requireSecondFactor(organizationId, required) }
}

const NOTHING: ClosedUntilFactor = { deployment: false, organizationIds: [] }

export const closedUntilFactor = async (
  tables: Pick<Tables, 'passkeys' | 'organizationSettings'>,
  person: Person,
): Promise<ClosedUntilFactor> =>
  (await hasSecondFactor(tables, person.user)) ? NOTHING : closedWithout(tables, person)

export const requireFactorFor = async (
  tables: Pick<Tables, 'passkeys' | 'organizationSettings'>,
  person: Person,
  organizationId: string | null,
): Promise<void> => {
  const closed = await closedUntilFactor(tables, person)
  if (closed.deployment) throw new SecondFactorMissingError('deployment')
  if (organizationId !== null && closed.organizationIds.includes(organizationId)) {
    throw new SecondFactorMissingError('organization')
  }
}

/** Call after removing a factor, in its transaction, with the account locked. @throws ConflictError */
export const requireFactorLeft = async (
  tables: Pick<Tables, 'users' | 'passkeys' | 'organizationSettings'>,
  { user, roles }: Person,
): Promise<void> => {
  const now = (await tables.users.find(user.id)) ?? user
  const closed = await closedUntilFactor(tables, { user: now, roles })
  if (!closed.deployment && closed.organizationIds.length === 0) return
  throw new ConflictError(
    `this is your last second factor, and ${closed.deployment ? 'this deployment' : 'one of your organizations'} requires one: ` +
      'add another factor first',
  )
}
