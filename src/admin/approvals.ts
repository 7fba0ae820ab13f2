// The second person: where an organization (or, for attester keys, the deployment) asks for it, a change is kept as it was
// asked for and done when someone else approves. Ending the rule is itself such a change.
import type { Approval } from '../store/approvals.ts'
import type { Tables } from '../store/store.ts'
import type { Actor } from './actor.ts'
import { ConflictError, RoleInsufficientError, SubjectUnknownError } from './errors.ts'
import type { Note } from './route.ts'
import { closed, named, nullable, oneOf, Type, time, timeOrNull, timeText } from './schema.ts'
import type { Services } from './services.ts'

const LIFE_SECONDS = 604_800

export const APPROVAL_ACTIONS = [
  'policy.activate',
  'settings.second-person-off',
  'attester.add',
  'attester.retire',
] as const
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number]

export const APPROVAL = named(
  'Approval',
  closed({
    id: Type.String(),
    action: oneOf(APPROVAL_ACTIONS),
    subject: Type.String({ description: 'Id of what is to be changed' }),
    detail: Type.Record(Type.String(), Type.Unknown(), { description: 'What is to be done' }),
    state: oneOf(['pending', 'approved', 'rejected', 'expired']),
    requested_by: Type.String({ description: 'Account' }),
    requested_by_name: Type.String({ description: 'As that account is called now' }),
    decided_by: nullable(Type.String()),
    decided_by_name: nullable(Type.String()),
    created_at: time(),
    expires_at: time(),
    decided_at: nullable(time()),
  }),
)

const shown = (approval: Approval, names: ReadonlyMap<string, string>) => ({
  id: approval.id,
  action: approval.action as ApprovalAction,
  subject: approval.subject,
  detail: { ...approval.detail },
  state: approval.state,
  requested_by: approval.requestedBy,
  requested_by_name: names.get(approval.requestedBy) ?? '',
  decided_by: approval.decidedBy,
  decided_by_name: approval.decidedBy === null ? null : (names.get(approval.decidedBy) ?? ''),
  created_at: timeText(approval.createdAtSeconds),
  expires_at: timeText(approval.expiresAtSeconds),
  decided_at: timeOrNull(approval.decidedAtSeconds),
})

/** With the names of who asked and who decided: an approver is seldom a member of everything that they approve. */
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

/** What a route answers with instead, where a second person is needed. */
export const AWAITS_APPROVAL = {
  status: 202,
  description: 'A second person has to approve it.',
  schema: APPROVAL,
} as const

export interface ChangeRequest {
  readonly organizationId: string | null
  readonly action: ApprovalAction
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** Does a change that was approved, or that needs no approval. */
export type Perform = (tables: Tables, note: Note, services: Services, change: ChangeRequest) => Promise<void>

/** @throws RoleInsufficientError for a key: whoever holds one can't be told from who asks with it */
export const requestApproval = async (
  tables: Tables,
  note: Note,
  actor: Actor,
  change: ChangeRequest,
): Promise<Approval> => {
  if (actor.kind !== 'person') throw new RoleInsufficientError('person')
  const approval = await tables.approvals.request({ ...change, requestedBy: actor.user.id, lifeSeconds: LIFE_SECONDS })
  note({
    action: 'approval.request',
    subject: approval.id,
    organizationId: change.organizationId,
    detail: { action: change.action, subject: change.subject },
  })
  return approval
}

/** Decides and, if approved, does it, in one transaction. */
export const decideApproval = async (
  tables: Tables,
  note: Note,
  services: Services,
  perform: Readonly<Record<ApprovalAction, Perform>>,
  input: {
    readonly organizationId: string | null
    readonly approvalId: string
    readonly approve: boolean
    readonly userId: string
  },
): Promise<Approval> => {
  const { organizationId, approvalId, approve, userId } = input
  const found = await tables.approvals.find(organizationId, approvalId)
  if (found === null) throw new SubjectUnknownError('approval')
  if (found.state !== 'pending') throw new ConflictError(`it is ${found.state} already`)
  // The one who asked may take it back, never let it pass.
  if (approve && found.requestedBy === userId) throw new ConflictError('someone other than who asked has to approve it')
  const decided = await tables.approvals.decide(organizationId, approvalId, approve ? 'approved' : 'rejected', userId)
  if (decided === null) throw new ConflictError('it was decided meanwhile')
  note({
    action: approve ? 'approval.approve' : 'approval.reject',
    subject: decided.id,
    organizationId,
    detail: { action: decided.action, subject: decided.subject, requested_by: decided.requestedBy },
  })
  if (approve) {
    const { action, subject, detail } = decided
    await perform[action as ApprovalAction](tables, note, services, {
      organizationId,
      action: action as ApprovalAction,
      subject,
      detail,
    })
  }
  return decided
}
