// Approves or rejects a request. Approval runs the request's route in the same transaction.
import type { Approval } from '../../store/accounts/approvals.ts'
import { storeWithin, type Tables } from '../../store/store.ts'
import type { PersonActor } from '../actor.ts'
import { ConflictError, requireFound } from '../errors.ts'
import { ListRewriteNeededError } from '../lists.ts'
import { requireRightsOverPath } from '../rights.ts'
import type { Note, Route } from '../route.ts'
import type { Services } from '../services.ts'
import { requireApprover, requireTwoApprovers } from './approvers.ts'
import { type AnyCall, basisOf, isRuleOn, type KeptRequest } from './guard.ts'

export type DecidingCall = Pick<
  AnyCall,
  'request' | 'requestId' | 'caller' | 'deadline' | 'organization' | 'origin' | 'stillAllowed' | 'services'
> & { readonly actor: PersonActor }

/** Services for a change in the transaction of its approval, which must not wait. */
const within = (services: Services, tables: Tables): Services => ({
  ...services,
  store: storeWithin(services.store, tables),
  // The holder of a slot may wait for this transaction.
  listUploads: {
    ...services.listUploads,
    edit: (_owner, work) => work(),
    rewrite: async (owner, listId) => {
      throw new ListRewriteNeededError(owner, listId)
    },
  },
  // Chains are inspected when the change is requested.
  inspectChains: async () => [],
})

const actorOf = async (tables: Tables, userId: string, { session }: PersonActor): Promise<PersonActor> => {
  const user = requireFound(await tables.users.find(userId), 'account')
  return { kind: 'person', user, session, roles: await tables.memberships.rolesOf(userId) }
}

const perform = async (
  route: Route,
  deciding: DecidingCall,
  tables: Tables,
  note: Note,
  { request, requestedBy }: { readonly request: KeptRequest; readonly requestedBy: string },
): Promise<void> => {
  const { secondPerson: rule } = route
  if (rule === null) throw new Error(`${route.operationId} does not wait for a second person`)
  const { params, query, body, kept, basis } = request
  const organizationId = deciding.organization?.id ?? null
  // The actor is the requester, with current rights.
  const actor = await actorOf(tables, requestedBy, deciding.actor)
  const call: AnyCall = {
    request: deciding.request,
    requestId: deciding.requestId,
    caller: deciding.caller,
    deadline: deciding.deadline,
    services: within(deciding.services, tables),
    actor,
    pending: null,
    organization: deciding.organization,
    params,
    query,
    body,
    kept,
    isApproved: true,
    origin: deciding.origin,
    stillAllowed: deciding.stillAllowed,
    write: async (work) => work(tables, note),
  }
  await requireRightsOverPath(tables, deciding.services.clock, {
    route,
    params,
    actor,
    organizationId: organizationId ?? '',
  })
  const seen = await rule.see(tables, call)
  if (JSON.stringify(basisOf(seen)) !== JSON.stringify(basis)) {
    throw new ConflictError(`${seen.name} has changed since the request: reject it and request the change again`)
  }
  await route.handle(call)
  if (rule.leavesApprovers && (await isRuleOn(tables, organizationId)))
    await requireTwoApprovers(tables, organizationId)
}

const requestOf = (approval: Approval): KeptRequest => {
  if (approval.request === null) {
    throw new ConflictError(
      'this request is from an earlier version of the service: reject it and request the change again',
    )
  }
  return approval.request as unknown as KeptRequest
}

/** Call before the transaction of an approval. Does nothing for an unknown or decided request. */
export const prepareApproval = async (
  { services, organization, deadline }: Pick<DecidingCall, 'services' | 'organization' | 'deadline'>,
  routes: readonly Route[],
  approvalId: string,
): Promise<void> => {
  const found = await services.store.approvals.find(organization?.id ?? null, approvalId)
  if (found?.state !== 'pending' || found.request === null) return
  const { operation, params, body } = requestOf(found)
  const route = routes.find(({ operationId }) => operationId === operation)
  await route?.secondPerson?.ahead?.({ services, organization, deadline, params, body })
}

/**
 * Approval makes the change in the same transaction. @throws SubjectUnknownError, ConflictError; errors of the change
 */
export const decideApproval = async (
  deciding: DecidingCall,
  routes: readonly Route[],
  tables: Tables,
  note: Note,
  { approvalId, approve }: { readonly approvalId: string; readonly approve: boolean },
): Promise<Approval> => {
  const organizationId = deciding.organization?.id ?? null
  const userId = deciding.actor.user.id
  const found = requireFound(await tables.approvals.find(organizationId, approvalId), 'approval')
  if (found.state !== 'pending') throw new ConflictError(`the request is already ${found.state}`)
  if (approve) await requireApprover(tables, organizationId, found, userId)
  // If two people decide at the same time, the second finds no pending request.
  const decided = await tables.approvals.decide(organizationId, approvalId, approve ? 'approved' : 'rejected', userId)
  if (decided === null) throw new ConflictError('the request was decided in the meantime')
  note({
    action: approve ? 'approval.approve' : 'approval.reject',
    subject: decided.id,
    organizationId,
    detail: { action: decided.action, subject: decided.subject, requested_by: decided.requestedBy },
  })
  if (approve) {
    const request = requestOf(decided)
    const route = routes.find(({ operationId }) => operationId === request.operation)
    if (route === undefined)
      throw new ConflictError(
        'this version of the service can’t make this change: reject it and request the change again',
      )
    await perform(route, deciding, tables, note, { request, requestedBy: decided.requestedBy })
  }
  return decided
}

export const discardKept = async (services: Services, routes: readonly Route[], approval: Approval): Promise<void> => {
  if (approval.state !== 'rejected' || approval.request === null) return
  const { operation, kept } = requestOf(approval)
  const route = routes.find(({ operationId }) => operationId === operation)
  if (kept !== null) await route?.secondPerson?.kept?.discard(services, kept)
}
