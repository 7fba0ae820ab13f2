// Determines who may approve another person's change. Two accounts count as one person if one created the other,
// directly or indirectly. The same applies if an account that recovered one of them created or recovered the other.
import type { Administrator, MakerKind } from '../../store/accounts/account-makers.ts'
import type { Approval } from '../../store/accounts/approvals.ts'
import type { Tables } from '../../store/store.ts'
import { accountOf, keyIdOf } from '../actor.ts'
import { ConflictError } from '../errors.ts'

/**
 * Returns the account that counts as the creator of an actor's objects; for a key, the account that received the key.
 * Null for the command line, and for a key without a recipient.
 * @param actor id from `actorId`
 */
export const makerOf = async (tables: Pick<Tables, 'apiKeys'>, actor: string): Promise<string | null> => {
  const keyId = keyIdOf(actor)
  if (keyId === null) return accountOf(actor)
  // A key can issue a key. The chain ends, because each key is older than the keys that it issued.
  const recipient = await tables.apiKeys.findRecipient(keyId)
  return recipient === null ? null : makerOf(tables, recipient)
}

/**
 * Records the account that created or recovered an account. Idempotent. @param makerId null if there is no particular
 * account
 */
export const recordCreator = async (
  { accountMakers }: Pick<Tables, 'accountMakers'>,
  makerId: string | null,
  userId: string,
  organizationId: string | null,
  kind: MakerKind = 'made',
): Promise<void> => {
  if (makerId !== null && makerId !== userId) await accountMakers.add({ userId, makerId, organizationId, kind })
}

/**
 * Must be called when somebody makes an account a deployment admin. Without a required approval, the account counts as
 * its creator's in each organization whose rule is on. Both together then can't end that rule. Accounts that already
 * administer the organization stay independent, because the organization approved them.
 */
export const recordUnapprovedAdmin = async (
  tables: Pick<Tables, 'accountMakers' | 'memberships' | 'organizationSettings'>,
  makerId: string | null,
  userId: string,
): Promise<void> => {
  const { memberships, organizationSettings } = tables
  if (await organizationSettings.readDeploymentSecondPerson()) return
  for (const organizationId of await organizationSettings.listSecondPerson()) {
    const member = await memberships.find(organizationId, userId)
    if (member?.role === 'organization-admin') continue
    await recordCreator(tables, makerId, userId, organizationId, 'recovered')
  }
}

const listed = (names: readonly string[]): string => names.join(', ')

const overlap = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  [...left].some((id) => right.has(id))

/** Returns whether the same person could hold both accounts. */
const belongTogether = async (
  { accountMakers }: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  left: string,
  right: string,
): Promise<boolean> => {
  const makersOf = async (userId: string) =>
    new Set([userId, ...(await accountMakers.makersOf(userId, organizationId))])
  const recoveredBy = async (userId: string) =>
    new Set([userId, ...(await accountMakers.makersOf(userId, organizationId, 'recovered'))])
  return (
    overlap(await makersOf(left), await recoveredBy(right)) || overlap(await recoveredBy(left), await makersOf(right))
  )
}

/**
 * @param organizationId organization of the request; null for the deployment
 * @throws ConflictError with the reason that this account can't approve the request
 */
export const requireApprover = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  request: Pick<Approval, 'requestedBy' | 'createdAtSeconds'>,
  approverId: string,
): Promise<void> => {
  const { requestedBy, createdAtSeconds } = request
  if (requestedBy === approverId) throw new ConflictError('someone other than the requester must approve this change')
  const administrators = await tables.accountMakers.administrators(organizationId)
  const approver = administrators.find(({ userId }) => userId === approverId)
  // Within the same second, the order is unknown.
  if (approver === undefined || approver.sinceSeconds >= createdAtSeconds) {
    throw new ConflictError(
      'you were not an administrator when this was requested: another administrator must approve it',
    )
  }
  if (!administrators.some(({ userId }) => userId === requestedBy)) {
    throw new ConflictError(
      'the requester is no longer an administrator: reject the request, and make the change yourself if it is correct',
    )
  }
  if (await belongTogether(tables, organizationId, requestedBy, approverId)) {
    throw new ConflictError(
      'you or the requester created, invited or recovered the other’s account: an independent administrator must approve this change',
    )
  }
}

/**
 * Refuses a request that nobody could approve.
 * @throws ConflictError with the reason
 */
export const requireSomeApprover = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  requesterId: string,
): Promise<void> => {
  for (const { userId } of await tables.accountMakers.administrators(organizationId)) {
    if (userId === requesterId) continue
    if (!(await belongTogether(tables, organizationId, requesterId, userId))) return
  }
  throw new ConflictError(
    'no one could approve your request: you and every other administrator created, invited or recovered each other’s accounts. Ask someone else to request the change',
  )
}

/** Returns the administrators, and those who can approve a request of at least one other administrator. */
const approversAmong = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
): Promise<{ readonly all: readonly Administrator[]; readonly approvers: readonly Administrator[] }> => {
  const all = await tables.accountMakers.administrators(organizationId)
  const approvers: Administrator[] = []
  for (const candidate of all) {
    for (const other of all) {
      if (other.userId === candidate.userId) continue
      if (await belongTogether(tables, organizationId, candidate.userId, other.userId)) continue
      approvers.push(candidate)
      break
    }
  }
  return { all, approvers }
}

/**
 * Requires two people who can approve each other's changes; otherwise nobody could end the rule.
 * @param organizationId organization of the rule; null for the deployment
 * @throws ConflictError that names the missing approver
 */
export const requireTwoApprovers = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
): Promise<void> => {
  const { all, approvers } = await approversAmong(tables, organizationId)
  if (approvers.length >= 2) return
  const role =
    organizationId === null ? 'deployment admins' : 'administrators of the organization, or deployment admins'
  const names = listed(all.map(({ name }) => name))
  const found =
    all.length < 2
      ? `There ${all.length === 0 ? 'are none' : `is only ${names}`}. Invite two others`
      : `In each pair of ${names}, one created, invited or recovered the other’s account. Invite one more person`
  throw new ConflictError(
    `the change is refused because the second-person rule requires two ${role} who can approve each other’s changes. ` +
      `${found}: two people whom the same person invited can approve each other’s changes`,
  )
}
