// How the API shows changes that wait for a second person: as the person who asked saw them, never the request itself, which
// may hold secrets. The rule is in second-person/.
import { revealHidden } from '../lib/hidden-characters.ts'
import { isoTime } from '../lib/time.ts'
import type { Approval } from '../store/accounts/approvals.ts'
import type { Tables } from '../store/store.ts'
import { closed, named, nullable, oneOf, Type, time, timeOrNull } from './schema.ts'
import { APPROVAL_ACTIONS, type ApprovalAction, type SeenChange } from './second-person/declaration.ts'

export const APPROVAL = named(
  'Approval',
  closed({
    id: Type.String(),
    action: oneOf(APPROVAL_ACTIONS),
    subject: Type.String({ description: 'Id of the thing to change' }),
    name: Type.String({ description: 'Its name at that time' }),
    changes: Type.Array(
      closed({ what: Type.String(), before: nullable(Type.String()), after: nullable(Type.String()) }),
      { description: 'What the requester saw; null: nothing' },
    ),
    differences: Type.Union([Type.Array(Type.Record(Type.String(), Type.Unknown())), Type.Null()], {
      description: 'Between the then active revision and the requested one, as `diffRevisions` answers',
    }),
    effects: Type.Array(Type.String(), { description: 'Results of shadow and replay at that time' }),
    comment: Type.String({ description: 'The requester’s comment' }),
    state: oneOf(['pending', 'approved', 'rejected', 'expired']),
    requested_by: Type.String({ description: 'Account' }),
    requested_by_name: Type.String({ description: 'The account’s present name' }),
    decided_by: nullable(Type.String()),
    decided_by_name: nullable(Type.String()),
    created_at: time(),
    expires_at: time(),
    decided_at: nullable(time()),
  }),
  ['id', 'action', 'name', 'state', 'requested_by_name', 'created_at', 'comment'],
)

interface ShownDetail {
  readonly name: string
  readonly changes: readonly SeenChange[]
  readonly differences: readonly Readonly<Record<string, unknown>>[] | null
  readonly effects: readonly string[]
  readonly comment: string
}

/** Requests that an earlier version stored have plain values instead of a list of changes. */
const detailOf = ({ detail, request, subject }: Approval): ShownDetail =>
  request === null
    ? {
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
    : (detail as unknown as ShownDetail)

/** A value whose texts have their hidden characters escaped, because an approver can't see them. */
const revealed = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    typeof member === 'string' ? revealHidden(member) : member,
  )

const shown = (approval: Approval, names: ReadonlyMap<string, string>) => {
  const { name, changes, differences, effects, comment } = revealed(detailOf(approval))
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
    requested_by_name: names.get(approval.requestedBy) ?? '',
    decided_by: approval.decidedBy,
    decided_by_name: approval.decidedBy === null ? null : (names.get(approval.decidedBy) ?? ''),
    created_at: isoTime(approval.createdAtSeconds),
    expires_at: isoTime(approval.expiresAtSeconds),
    decided_at: timeOrNull(approval.decidedAtSeconds),
  }
}

/** Adds the names of who asked and who decided, because an approver may not be able to read those accounts. */
export const showApprovals = async (users: Pick<Tables['users'], 'find'>, approvals: readonly Approval[]) => {
  const ids = new Set(approvals.flatMap(({ requestedBy, decidedBy }) => [requestedBy, decidedBy ?? requestedBy]))
  const names = new Map<string, string>()
  for (const id of ids) names.set(id, (await users.find(id))?.name ?? '')
  return approvals.map((approval) => shown(approval, names))
}

export const showApproval = async (users: Pick<Tables['users'], 'find'>, approval: Approval) => {
  const [only] = await showApprovals(users, [approval])
  if (only === undefined) throw new Error('an approval was lost')
  return only
}

/** A route's answer where the change waits for a second person. */
export const AWAITS_APPROVAL = {
  status: 202,
  description:
    'A second person has to approve it. With the header `X-Approval: refuse` it is refused instead, as `APPROVAL_REQUIRED`.',
  schema: APPROVAL,
} as const
