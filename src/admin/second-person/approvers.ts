// Determines the possible approvers of another person's change. Two accounts count as one person if one created the
// other, directly or indirectly. The same applies if an account that received a link to one account created the other
// account or received a link to it.
import {
  type AccountRelations,
  type Administrator,
  COMMAND_LINE,
  type MakerKind,
} from '../../store/accounts/account-makers.ts'
import type { Approval } from '../../store/accounts/approvals.ts'
import type { Tables } from '../../store/store.ts'
import { accountOf, keyIdOf } from '../actor.ts'
import { ConflictError } from '../errors.ts'

/** Maximum length of a chain of keys, each issued with the next key. Each key costs a query. */
const KEY_CHAIN_MAX = 20

/**
 * Returns the recipient of an actor's links: an account, COMMAND_LINE, or a key without known recipient. @param actor
 * from `actorId` @throws ConflictError if the key comes from a long chain of keys
 */
export const holderOf = async (tables: Pick<Tables, 'apiKeys'>, actor: string, issuedBy = 0): Promise<string> => {
  const keyId = keyIdOf(actor)
  if (keyId === null) return accountOf(actor) ?? actor
  const recipient = await tables.apiKeys.findRecipient(keyId)
  if (recipient === null) return actor
  if (issuedBy >= KEY_CHAIN_MAX) {
    throw new ConflictError('the key was issued through too many other keys: use a key that a person has issued')
  }
  return holderOf(tables, recipient, issuedBy + 1)
}

/** Returns the account that counts as the creator of an actor's objects, if any. @param actor id from `actorId` */
export const makerOf = async (tables: Pick<Tables, 'apiKeys'>, actor: string): Promise<string | null> => {
  const holder = await holderOf(tables, actor)
  return holder === COMMAND_LINE || keyIdOf(holder) !== null ? null : holder
}

/** Records that an account created or recovered another. Idempotent. @param makerId null for no particular account */
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
 * Call for every link that gives control of an account.
 * @param holderId result of `holderOf` @param organizationId null for a link that sets the account's password
 */
export const recordHolder = async (
  { accountMakers }: Pick<Tables, 'accountMakers'>,
  holderId: string,
  userId: string,
  organizationId: string | null,
): Promise<void> => {
  if (holderId === userId) return
  await accountMakers.add({ userId, makerId: holderId, organizationId, kind: 'made', holdsLink: true })
}

/**
 * Call when an account becomes a deployment admin. Without approval, the account counts as its creator's account in
 * each organization whose rule is enabled, unless it already administers that organization.
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

const belongTogether = (left: AccountRelations, right: AccountRelations): boolean =>
  left.isEndless ||
  right.isEndless ||
  overlap(left.makers, right.controllers) ||
  overlap(left.controllers, right.makers)

/** @throws ConflictError with the reason that this account can't approve */
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
  const relationsOf = await tables.accountMakers.relations(organizationId, [requestedBy, approverId])
  if (belongTogether(relationsOf(requestedBy), relationsOf(approverId))) {
    throw new ConflictError(
      'you or the requester created, invited or recovered the other’s account, or one person received links to both: an independent administrator must approve this change',
    )
  }
}

/** Limits the time for which a check of approvers occupies the thread. */
const COMPARED_MAX = 50

/** Returns the accounts that have been administrators longest, because they are most likely to be independent. */
const oldestOf = (administrators: readonly Administrator[]): readonly string[] =>
  administrators
    .toSorted((one, other) => one.sinceSeconds - other.sinceSeconds)
    .slice(0, COMPARED_MAX)
    .map(({ userId }) => userId)

export const requireSomeApprover = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  requesterId: string,
): Promise<void> => {
  const administrators = await tables.accountMakers.administrators(organizationId)
  const others = oldestOf(administrators.filter(({ userId }) => userId !== requesterId))
  const relationsOf = await tables.accountMakers.relations(organizationId, [requesterId, ...others])
  const requester = relationsOf(requesterId)
  if (others.some((userId) => !belongTogether(requester, relationsOf(userId)))) return
  throw new ConflictError(
    'nobody could approve your request, because you and every other administrator created, invited or recovered each other’s accounts, or one person received links to both: ask another person to request the change',
  )
}

/** Returns whether two of the administrators can approve each other's requests. */
const haveApprovers = async (
  { accountMakers }: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  administrators: readonly Administrator[],
): Promise<boolean> => {
  const userIds = oldestOf(administrators)
  const relationsOf = await accountMakers.relations(organizationId, userIds)
  const related = userIds.map(relationsOf)
  return related.some((one, index) => related.slice(index + 1).some((other) => !belongTogether(one, other)))
}

/** Requires two people who can approve each other's changes. @param organizationId null for the deployment */
export const requireTwoApprovers = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
): Promise<void> => {
  const all = await tables.accountMakers.administrators(organizationId)
  if (await haveApprovers(tables, organizationId, all)) return
  const role =
    organizationId === null ? 'deployment admins' : 'administrators of the organization, or deployment admins'
  const names = listed(all.map(({ name }) => name))
  const found =
    all.length < 2
      ? `There ${all.length === 0 ? 'are none' : `is only ${names}`}. Invite two others`
      : `In each pair of ${names}, one created, invited or recovered the other’s account, or one person received links to both. Invite one more person`
  throw new ConflictError(
    `the second-person rule requires two ${role} who can approve each other’s changes. ` +
      `${found}: two people whom the same person invited can approve each other’s changes if both accept before the rule is enabled`,
  )
}

/** Call when the rule is enabled. Accepts the administrators as different people. @throws ConflictError */
export const beginRule = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
): Promise<void> => {
  await tables.accountMakers.acceptAdministrators(organizationId)
  await requireTwoApprovers(tables, organizationId)
}
