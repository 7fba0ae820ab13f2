// API form of changes that await approval. Omits the request itself, which may contain secrets.
import { revealHidden } from '../lib/hidden-characters.ts'
import { isoTime } from '../lib/time.ts'
import type { ListedApproval } from '../store/accounts/approvals.ts'
import type { User } from '../store/accounts/users.ts'
import type { Tables } from '../store/store.ts'
import { closed, named, nullable, oneOf, Type, time, timeOrNull } from './schema.ts'
import { APPROVAL_ACTIONS, type ApprovalAction, type SeenChange } from './second-person/declaration.ts'

export const APPROVAL = named(
  'Approval',
  closed({
    id: Type.String(),
    action: oneOf(APPROVAL_ACTIONS),
    subject: Type.String({ description: 'ID of the resource to change' }),
    name: Type.String({ description: 'Name of the resource when the approval was requested' }),
    changes: Type.Array(
      closed({ what: Type.String(), before: nullable(Type.String()), after: nullable(Type.String()) }),
      { description: 'Changes that were shown to the requester. `before` or `after` is null if there is no value' },
    ),
    differences: Type.Union([Type.Array(Type.Record(Type.String(), Type.Unknown())), Type.Null()], {
      description:
        'Differences between the revision that was active at the time of the request and the requested revision, in the format of `diffRevisions`',
    }),
    effects: Type.Array(Type.String(), { description: 'Shadow and replay results at the time of the request' }),
    comment: Type.String({ description: 'The requester’s comment' }),
    state: oneOf(['pending', 'approved', 'rejected', 'expired']),
    requested_by: Type.String({ description: 'ID of the requester’s account' }),
    requested_by_name: Type.String({
      description: 'Name of the account at the time of the request, chosen by its owner',
    }),
    requested_by_email: Type.String({ description: 'Email address of the account at the time of the request' }),
    decided_by: nullable(Type.String()),
    decided_by_name: nullable(Type.String()),
    decided_by_email: nullable(Type.String()),
    created_at: time(),
    expires_at: time(),
    decided_at: nullable(time()),
  }),
  ['id', 'action', 'name', 'state', 'requested_by_email', 'created_at', 'comment'],
)

type Person = Pick<User, 'name' | 'email'>

interface ShownDetail {
  readonly name: string
  readonly changes: readonly SeenChange[]
  readonly differences: readonly Readonly<Record<string, unknown>>[] | null
  readonly effects: readonly string[]
  readonly comment: string
  readonly requester?: Person
}

/** Requests stored by an earlier version have plain values instead of a list of changes. */
const detailOf = ({ detail, hasRequest, subject }: ListedApproval): ShownDetail =>
  hasRequest
    ? (detail as unknown as ShownDetail)
    : {
        name: subject,
        changes: Object.entries(detail).map(([what, value]) => ({
          what: what.replaceAll('_', ' '),
          before: null,
          after: typeof value === 'string' ? value : JSON.stringify(value),
        })),
        differences: null,
        effects: [],
        comment: '',
      }

/** Escapes hidden characters, which an approver couldn't see. */
const revealed = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    typeof member === 'string' ? revealHidden(member) : member,
  )

const UNKNOWN: Person = { name: '', email: '' }

const shown = (approval: ListedApproval, people: ReadonlyMap<string, Person>) => {
  const requesterNow = people.get(approval.requestedBy) ?? UNKNOWN
  const decider = approval.decidedBy === null ? null : (people.get(approval.decidedBy) ?? UNKNOWN)
  const detail = revealed({ requester: requesterNow, ...detailOf(approval) })
  const { name, changes, differences, effects, comment, requester } = detail
  return {
    id: approval.id,
    action: approval.action as ApprovalAction,
    subject: approval.subject,
    name,
    changes: changes.map(({ what, before, after }) => ({ what, before, after })),
    differences: differences === null ? null : differences.map((difference) => ({ ...difference })),
    effects: [...effects],
    comment,
    state: approval.state,
    requested_by: approval.requestedBy,
    requested_by_name: requester.name,
    requested_by_email: requester.email,
    decided_by: approval.decidedBy,
    decided_by_name: decider?.name ?? null,
    decided_by_email: decider?.email ?? null,
    created_at: isoTime(approval.createdAtSeconds),
    expires_at: isoTime(approval.expiresAtSeconds),
    decided_at: timeOrNull(approval.decidedAtSeconds),
  }
}

/** Adds names, because an approver may not have access to the requester's and decider's accounts. */
export const showApprovals = async (users: Pick<Tables['users'], 'find'>, approvals: readonly ListedApproval[]) => {
  const ids = new Set(approvals.flatMap(({ requestedBy, decidedBy }) => [requestedBy, decidedBy ?? requestedBy]))
  const people = new Map<string, Person>()
  for (const id of ids) people.set(id, (await users.find(id)) ?? UNKNOWN)
  return approvals.map((approval) => shown(approval, people))
}

export const showApproval = async (users: Pick<Tables['users'], 'find'>, approval: ListedApproval) => {
  const [only] = await showApprovals(users, [approval])
  if (only === undefined) throw new Error('an approval was lost')
  return only
}

export const AWAITS_APPROVAL = {
  status: 202,
  description:
    'A second person must approve the change. With the header `X-Approval: refuse`, the request fails with `APPROVAL_REQUIRED` instead.',
  schema: APPROVAL,
} as const
