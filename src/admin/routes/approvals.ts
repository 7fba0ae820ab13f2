import type { ApprovalState } from '../../store/accounts/approvals.ts'
import { APPROVAL, showApproval, showApprovals } from '../approvals.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ListRewriteNeededError, rewriteForEdits } from '../lists.ts'
import {
  DEPLOYMENT,
  DEPLOYMENT_PERSON,
  declareRoutes,
  ORGANIZATION_ADMIN_PERSON,
  type Route,
  VIEWER,
} from '../route.ts'
import { closed, oneOf, PAGE_QUERY, pageOf, type Static, Type } from '../schema.ts'
import { type DecidingCall, decideApproval, discardKept, prepareApproval } from '../second-person/decide.ts'
import type { AnyCall } from '../second-person/guard.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Approvals')

const STATE = oneOf(['pending', 'approved', 'rejected', 'expired'])
const DECISION = closed({ approve: Type.Boolean({ description: 'False to reject. The requester can only reject' }) })
const DECIDING = {
  description:
    'Approving makes the change immediately; it fails if the affected resources have changed since the request. The approver must have been an administrator before the request. Neither person may have created, invited or recovered the other’s account, and no single person may have received links to both.',
  body: DECISION,
  // A stolen cookie must not be enough for an approval.
  fresh: ({ approve }: Static<typeof DECISION>) => approve,
  answer: APPROVAL,
  errors: [409],
} as const

const approvalPage = async (
  { store }: Services,
  organizationId: string | null,
  query: { readonly state?: ApprovalState; readonly limit?: number; readonly cursor?: string },
) => {
  const filter = { organizationId, ...(query.state === undefined ? {} : { state: query.state }) }
  const { items, next } = await store.approvals.page(filter, pageRequest(query, ['number', 'string']))
  return pageAnswer({ items: await showApprovals(store.users, items), next }, (approval) => approval)
}

export const approvalRoutes = (routes: readonly Route[]) => {
  const decide = async (call: DecidingCall & Pick<AnyCall, 'write'>, approvalId: string, approve: boolean) => {
    const attempt = () =>
      call.write((tables, note) => decideApproval(call, routes, tables, note, { approvalId, approve }))
    const { store, listUploads } = call.services
    if (approve) await prepareApproval(call, routes, approvalId)
    const decided = await attempt().catch(async (error: unknown) => {
      if (!(error instanceof ListRewriteNeededError)) throw error
      await rewriteForEdits(store, listUploads, error.owner, error.listId)
      return attempt()
    })
    await discardKept(call.services, routes, decided)
    return showApproval(call.services.store.users, decided)
  }
  return [
    route('listApprovals', 'GET', '/organizations/{organization}/approvals', {
      access: VIEWER,
      summary: 'List approval requests, newest first',
      query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(STATE) }),
      answer: pageOf(APPROVAL),
      handle: ({ services, organization, query }) => approvalPage(services, organization.id, query),
    }),
    route('decideApproval', 'POST', '/organizations/{organization}/approvals/{approval}/decide', {
      access: ORGANIZATION_ADMIN_PERSON,
      alone: 'decides-approvals',
      summary: 'Approve or reject a change',
      ...DECIDING,
      handle: (call) => decide(call, call.params.approval, call.body.approve),
    }),
    route('listDeploymentApprovals', 'GET', '/approvals', {
      access: DEPLOYMENT,
      summary: 'List the deployment’s approval requests, newest first',
      query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(STATE) }),
      answer: pageOf(APPROVAL),
      handle: ({ services, query }) => approvalPage(services, null, query),
    }),
    route('countDeploymentApprovals', 'GET', '/approvals/waiting', {
      access: DEPLOYMENT,
      command: false,
      summary: 'Count the deployment’s pending approval requests',
      answer: closed({ waiting: Type.Integer({ description: 'Number of requested changes that can be decided now' }) }),
      handle: async ({ services }) => ({ waiting: await services.store.approvals.countPending(null) }),
    }),
    route('decideDeploymentApproval', 'POST', '/approvals/{approval}/decide', {
      access: DEPLOYMENT_PERSON,
      alone: 'decides-approvals',
      summary: 'Approve or reject a change to the deployment',
      ...DECIDING,
      handle: (call) => decide(call, call.params.approval, call.body.approve),
    }),
  ]
}
