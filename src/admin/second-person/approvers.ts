// Who may approve another person's change. Two accounts count as two people only if neither made the other, directly or through
// accounts in between, and no account that recovered one of them made or recovered the other.
import type { Administrator, MakerKind } from '../../store/accounts/account-makers.ts'
import type { Approval } from '../../store/accounts/approvals.ts'
import type { Tables } from '../../store/store.ts'
import { accountOf, keyIdOf } from '../actor.ts'
import { ConflictError } from '../errors.ts'

/**
 * The account that counts as the maker of what an actor makes: for a key, the account that was handed the key. Null for the
 * command line, and for a key that no account was handed.
 * @param actor as `actorId` names it
 */
export const makerOf = async (tables: Pick<Tables, 'apiKeys'>, actor: string): Promise<string | null> => {
  const keyId = keyIdOf(actor)
  if (keyId === null) return accountOf(actor)
  // A key can issue a key. The chain ends, because each key is older than the key that it issued.
  const recipient = await tables.apiKeys.findRecipient(keyId)
  return recipient === null ? null : makerOf(tables, recipient)
}

/** Stores who made or recovered an account. Idempotent. @param makerId null: nobody in particular */
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
 * Call it when somebody makes an account a deployment admin. If the deployment's rule asked nobody for approval, the account
 * counts as its maker's in each organization whose rule is on, so that two of them can't end that rule. An account that
 * administers the organization anyway stays independent, because the organization has approved it.
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
 * @param organizationId the request's organization; null: the deployment
 * @throws ConflictError with the reason why this account can't approve this request
 */
export const requireApprover = async (
  tables: Pick<Tables, 'accountMakers'>,
  organizationId: string | null,
  request: Pick<Approval, 'requestedBy' | 'createdAtSeconds'>,
  approverId: string,
): Promise<void> => {
  const { requestedBy, createdAtSeconds } = request
  if (requestedBy === approverId) throw new ConflictError('someone other than who asked has to approve it')
  const administrators = await tables.accountMakers.administrators(organizationId)
  const approver = administrators.find(({ userId }) => userId === approverId)
  // Within one second, nobody knows which came first.
  if (approver === undefined || approver.sinceSeconds >= createdAtSeconds) {
    throw new ConflictError(
      'you were not an administrator before this was asked for: someone who was one has to approve it',
    )
  }
  if (!administrators.some(({ userId }) => userId === requestedBy)) {
    throw new ConflictError('who asked is no administrator any more: reject it, and ask for it yourself if it is right')
  }
  if (await belongTogether(tables, organizationId, requestedBy, approverId)) {
    throw new ConflictError(
      'one of you two made, invited or recovered the other’s account: someone independent of who asked has to approve it',
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
    'nobody could approve what you ask for: every other administrator’s account was made, invited or recovered by you, or ' +
      'they did so with yours. Let someone else ask for it',
  )
}

/** The administrators who can approve a request of at least one other administrator. */
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
 * Requires two people who can approve each other's changes; otherwise nobody could even end the rule.
 * @param organizationId the rule's organization; null: the deployment
 * @throws ConflictError that says who is missing
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
      : `In each pair of ${names}, one made, invited or recovered the other’s account. Invite one more person`
  throw new ConflictError(
    `the change is refused, because the rule of the second person needs two ${role} who can approve each other’s changes. ` +
      `${found}: two people whom the same person invited can approve each other’s changes`,
  )
}
