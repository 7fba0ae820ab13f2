// Determines who may approve a person's change. Two accounts count as one person if one created the other, directly or
// indirectly, or if an account that recovered one of them created or recovered the other.
import type { Administrator, MakerKind } from '../../store/accounts/account-makers.ts'
import type { Approval } from '../../store/accounts/approvals.ts'
import type { Tables } from '../../store/store.ts'
import { accountOf, keyIdOf } from '../actor.ts'
import { ConflictError } from '../errors.ts'

/**
 * Account that counts as the creator of an actor's objects; for a key, its recipient. Null for the command line, and
 * for a key without a recipient. @param actor Id from `actorId`
 */
export const makerOf = async (tables: Pick<Tables, 'apiKeys'>, actor: string): Promise<string | null> => {
  const keyId = keyIdOf(actor)
  if (keyId === null) return accountOf(actor)
  // A key can issue keys. The chain ends, because each key is older than those that it issued.
  const recipient = await tables.apiKeys.findRecipient(keyId)
  return recipient === null ? null : makerOf(tables, recipient)
}

/** Records that an account created or recovered another. Idempotent. @param makerId Null for no particular account */
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
 * Call when an account becomes a deployment admin. Without a required approval, the account counts as its creator's in
 * each organization whose rule is on, so that both together can't end that rule. Accounts that already administer the
 * organization stay independent.
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

/** Whether the same person could hold both accounts. */
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
 * @param organizationId Null for the deployment @throws ConflictError with the reason that this account can't approve
 * the request
 */
export const requireApprover = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  request: Pick<Approval, 'requestedBy' | 'createdAtSeconds'>,
  approverId: string,
): Promise<void> => {
  const { requestedBy, createdAtSeconds } = request
  if (requestedBy === approverId) throw new ConflictError('a person other than the requester must approve this change')
  const administrators = await tables.accountMakers.administrators(organizationId)
  const approver = administrators.find(({ userId }) => userId === approverId)
  // Within a second, the order is unknown.
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

/** @throws ConflictError if nobody could approve the request */
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
    'nobody could approve your request, because you and every other administrator created, invited or recovered each other’s accounts: ask another person to request the change',
  )
}

/** Administrators, and those who can approve a request of at least one other. */
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
 * Requires two people who can approve each other's changes; otherwise nobody could end the rule. @param organizationId
 * Null for the deployment @throws ConflictError
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
    `the second-person rule requires two ${role} who can approve each other’s changes. ` +
      `${found}: two people whom the same person invited can approve each other’s changes`,
  )
}
