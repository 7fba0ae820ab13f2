// Tries a change in a transaction that is rolled back, to refuse an impossible change immediately; then stores the
// request.
import { NamedError } from '../../lib/named-error.ts'
import type { Tables } from '../../store/store.ts'
import type { Actor, CommandActor } from '../actor.ts'
import { showApproval } from '../approvals.ts'
import { ApprovalRequiredError, RoleInsufficientError, SecondPersonNeededError } from '../errors.ts'
import { type Access, type Call, type Note, Reply, type Route } from '../route.ts'
import { requireSomeApprover, requireTwoApprovers } from './approvers.ts'
import { requireVisibleChange, type Seen } from './declaration.ts'

const LIFE_SECONDS = 604_800
/** `refuse`: the request is refused instead of stored. The dashboard then prompts for a comment. */
const HEADER = 'x-approval'

export type AnyCall = Call<Access, Record<string, string>, unknown, unknown>
/** The call without `write`, so that a declaration can't make changes. */
export type SeenCall = Omit<AnyCall, 'write'>
type Write = AnyCall['write']

export interface KeptRequest {
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly kept: unknown
  readonly basis: unknown
}

/** Ends the route's handler: the request is stored and the response is 202. */
export class AwaitsApproval extends NamedError {
  readonly reply: Reply
  constructor(reply: Reply) {
    super('a second person must approve this change')
    this.reply = reply
  }
}

class TrialRolledBack extends NamedError {
  readonly seen: Seen
  constructor(seen: Seen) {
    super('rolled back')
    this.seen = seen
  }
}

export const isRuleOn = async (
  { organizationSettings }: Pick<Tables, 'organizationSettings'>,
  organizationId: string | null,
): Promise<boolean> =>
  organizationId === null
    ? organizationSettings.readDeploymentSecondPerson()
    : (await organizationSettings.read(organizationId)).secondPerson

/** Returns the state that must be unchanged when the request is approved. */
export const basisOf = ({ changes, basis }: Seen): unknown => [
  changes.map(({ what, before }) => [what, before]),
  basis ?? null,
]

const requirePerson = (actor: Actor | null) => {
  // The holder of a key is unknown, and might be the approver.
  if (actor?.kind !== 'person') throw new RoleInsufficientError('person')
  return actor.user
}

/** A command may override the rule; its audit entries then contain the reason. */
const overriding = ({ override }: CommandActor, note: Note): Note => {
  if (override === null) throw new SecondPersonNeededError()
  return (entry) => note({ ...entry, detail: { ...entry.detail, override: true, reason: override.reason } })
}

export const guardedWrite = (route: Route, call: SeenCall, write: Write): Write => {
  const { secondPerson: rule } = route
  if (rule === null) return write
  const organizationId = call.organization?.id ?? null

  const ask = async (seen: Seen, kept: unknown): Promise<never> => {
    const { params, query, body, actor } = call
    const user = requirePerson(actor)
    const { comment = '', ...asked } = query as { comment?: string }
    const { subject, name, changes, differences = null } = seen
    const effects = (await rule.effects?.(call)) ?? []
    const request: KeptRequest = {
      operation: route.operationId,
      params,
      query: asked,
      body: rule.withoutSecrets?.(body as never) ?? body,
      kept,
      basis: basisOf(seen),
    }
    const reply = await write(async (tables, note) => {
      const made = await tables.approvals.request({
        organizationId,
        action: rule.action,
        subject,
        // Includes the requester's name, so that changing it later can't mislead the approver.
        detail: { name, changes, differences, effects, comment, requester: { name: user.name, email: user.email } },
        request: { ...request },
        requestedBy: user.id,
        lifeSeconds: LIFE_SECONDS,
      })
      await rule.kept?.hold?.(tables, kept, made.expiresAtSeconds)
      note({
        action: 'approval.request',
        subject: made.id,
        organizationId,
        detail: { name, action: rule.action, subject, comment },
      })
      return new Reply(202, await showApproval(tables.users, made))
    })
    throw new AwaitsApproval(reply)
  }

  return async <Result>(work: (tables: Tables, note: Note) => Promise<Result>, kept: unknown = null) => {
    try {
      await rule.ahead?.(call)
      return await write(async (tables, note) => {
        if (!(await isRuleOn(tables, organizationId))) return work(tables, note)
        const needs = (await rule.needs?.(tables, call)) ?? 'second-person'
        if (needs !== 'nothing' && call.actor?.kind === 'command-line')
          return work(tables, overriding(call.actor, note))
        if (needs !== 'nothing') requirePerson(call.actor)
        if (needs === 'second-person') await requireSomeApprover(tables, organizationId, requirePerson(call.actor).id)
        const seen = needs === 'second-person' ? await rule.see(tables, { ...call, kept }) : null
        if (seen !== null) requireVisibleChange(seen)
        const result = await work(tables, note)
        if (rule.leavesApprovers && needs === 'second-person') await requireTwoApprovers(tables, organizationId)
        if (seen !== null) throw new TrialRolledBack(seen)
        return result
      })
    } catch (error) {
      if (!(error instanceof TrialRolledBack)) throw error
      if (call.request.headers.get(HEADER) === 'refuse') throw new ApprovalRequiredError()
      return ask(error.seen, kept)
    }
  }
}
