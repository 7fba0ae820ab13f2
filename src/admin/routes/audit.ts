// The audit log, and changes that wait for a second person.
import type { ApprovalState } from '../../store/approvals.ts'
import type { AuditEntry } from '../../store/audit.ts'
import {
  APPROVAL,
  type ApprovalAction,
  decideApproval,
  type Perform,
  showApproval,
  showApprovals,
} from '../approvals.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { performActivate } from '../policies/live.ts'
import {
  DEPLOYMENT,
  DEPLOYMENT_PERSON,
  declareRoutes,
  ORGANIZATION_ADMIN,
  ORGANIZATION_ADMIN_PERSON,
  VIEWER,
} from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time, timeText } from '../schema.ts'
import type { Services } from '../services.ts'
import { performAddAttester, performRetireAttester } from './attesters.ts'
import { endSecondPerson } from './organizations.ts'

const route = declareRoutes('Audit')
const approvals = declareRoutes('Approvals')

const ENTRY = named(
  'AuditEntry',
  closed({
    sequence: Type.Integer({ description: 'Rises by one with every entry of the deployment' }),
    at: time(),
    organization_id: nullable(Type.String()),
    actor: Type.String({ description: '`user:<id>`, `key:<id>`, `command-line`, `service` or `visitor`' }),
    actor_name: Type.String(),
    action: Type.String(),
    subject: Type.String(),
    detail: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What was given; where a value changed, before and after',
    }),
    request_id: Type.String(),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256 over the entry and the hash of the one before it' }),
  }),
)

const VERIFICATION = named(
  'AuditVerification',
  closed({
    ok: Type.Boolean(),
    entries: Type.Integer(),
    broken_at: Type.Union([Type.Integer(), Type.Null()], { description: 'The first entry that does not fit' }),
    head_hash: Type.String({ description: 'Noted elsewhere, it proves later that nothing up to here was changed' }),
  }),
)

const FILTERS = {
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'Its beginning: `key.` for all that was done with keys' }),
  ),
  actor: Type.Optional(Type.String({ maxLength: 100 })),
  subject: Type.Optional(Type.String({ maxLength: 200 })),
}

const showEntry = (entry: AuditEntry) => ({
  sequence: entry.sequence,
  at: timeText(entry.atSeconds),
  organization_id: entry.organizationId,
  actor: entry.actor,
  actor_name: entry.actorName,
  action: entry.action,
  subject: entry.subject,
  detail: { ...entry.detail },
  request_id: entry.requestId,
  previous_hash: entry.previousHash,
  hash: entry.hash,
})

const filterOf = (query: { action?: string; actor?: string; subject?: string }) => ({
  ...(query.action === undefined ? {} : { actionPrefix: query.action }),
  ...(query.actor === undefined ? {} : { actor: query.actor }),
  ...(query.subject === undefined ? {} : { subject: query.subject }),
})

const PERFORM: Readonly<Record<ApprovalAction, Perform>> = {
  'policy.activate': performActivate,
  'settings.second-person-off': endSecondPerson,
  'attester.add': performAddAttester,
  'attester.retire': performRetireAttester,
}

const STATE = oneOf(['pending', 'approved', 'rejected', 'expired'])
const DECISION = closed({ approve: Type.Boolean({ description: 'False rejects; who asked may only reject' }) })

const WAITING = closed({ waiting: Type.Integer({ description: 'Changes that someone may decide now' }) })

const approvalPage = async (
  { store }: Services,
  organizationId: string | null,
  query: { readonly state?: ApprovalState; readonly limit?: number; readonly cursor?: string },
) => {
  const filter = { organizationId, ...(query.state === undefined ? {} : { state: query.state }) }
  const { items, next } = await store.approvals.page(filter, pageRequest(query, ['number', 'string']))
  return pageAnswer({ items: await showApprovals(store.users, items), next }, (approval) => approval)
}

/** A key that was made for a request that nobody wants any more goes with it. */
const tidy = (
  services: Services,
  action: string,
  approve: boolean,
  detail: Readonly<Record<string, unknown>>,
): void => {
  if (action === 'attester.add' && !approve) services.discardKeystore(String(detail['keystoreFile']))
}

export const AUDIT_ROUTES = [
  route('listAudit', 'GET', '/organizations/{organization}/audit', {
    access: ORGANIZATION_ADMIN,
    summary: 'Every change in an organization, newest first',
    query: Type.Object({ ...PAGE_QUERY, ...FILTERS }),
    answer: pageOf(ENTRY),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.audit.page(
          { organizationId: organization.id, ...filterOf(query) },
          pageRequest(query, ['number']),
        ),
        showEntry,
      ),
  }),
  route('listDeploymentAudit', 'GET', '/audit', {
    access: DEPLOYMENT,
    summary: 'Every change in the deployment, newest first',
    query: Type.Object({ ...PAGE_QUERY, ...FILTERS }),
    answer: pageOf(ENTRY),
    handle: async ({ services, query }) =>
      pageAnswer(await services.store.audit.page(filterOf(query), pageRequest(query, ['number'])), showEntry),
  }),
  route('verifyAudit', 'GET', '/audit/verify', {
    access: DEPLOYMENT,
    summary: 'Check the audit log’s chain from its first entry to its last',
    answer: VERIFICATION,
    handle: async ({ services }) => {
      const { ok, entries, brokenAt, headHash } = await services.store.audit.verify()
      return { ok, entries, broken_at: brokenAt, head_hash: headHash }
    },
  }),

  approvals('listApprovals', 'GET', '/organizations/{organization}/approvals', {
    access: VIEWER,
    summary: 'Changes that wait, or waited, for a second person, newest first',
    query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(STATE) }),
    answer: pageOf(APPROVAL),
    handle: ({ services, organization, query }) => approvalPage(services, organization.id, query),
  }),
  approvals('countApprovals', 'GET', '/organizations/{organization}/approvals/waiting', {
    access: VIEWER,
    summary: 'How many changes wait for a second person',
    answer: WAITING,
    handle: async ({ services, organization }) => ({
      waiting: await services.store.approvals.countPending(organization.id),
    }),
  }),
  approvals('decideApproval', 'POST', '/organizations/{organization}/approvals/{approval}/decide', {
    access: ORGANIZATION_ADMIN_PERSON,
    summary: 'Approve or reject a change',
    description: 'Approving does it at once.',
    body: DECISION,
    answer: APPROVAL,
    errors: [409],
    handle: ({ services, organization, actor, params, body, write }) =>
      write(async (tables, note) =>
        showApproval(
          tables.users,
          await decideApproval(tables, note, services, PERFORM, {
            organizationId: organization.id,
            approvalId: params.approval,
            approve: body.approve,
            userId: actor.user.id,
          }),
        ),
      ),
  }),
  approvals('listDeploymentApprovals', 'GET', '/approvals', {
    access: DEPLOYMENT,
    summary: 'The same for what belongs to the deployment',
    query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(STATE) }),
    answer: pageOf(APPROVAL),
    handle: ({ services, query }) => approvalPage(services, null, query),
  }),
  approvals('countDeploymentApprovals', 'GET', '/approvals/waiting', {
    access: DEPLOYMENT,
    summary: 'How many changes of what belongs to the deployment wait for a second person',
    answer: WAITING,
    handle: async ({ services }) => ({ waiting: await services.store.approvals.countPending(null) }),
  }),
  approvals('decideDeploymentApproval', 'POST', '/approvals/{approval}/decide', {
    access: DEPLOYMENT_PERSON,
    summary: 'Approve or reject a change of what belongs to the deployment',
    body: DECISION,
    answer: APPROVAL,
    errors: [409],
    handle: async ({ services, actor, params, body, write }) => {
      const decided = await write((tables, note) =>
        decideApproval(tables, note, services, PERFORM, {
          organizationId: null,
          approvalId: params.approval,
          approve: body.approve,
          userId: actor.user.id,
        }),
      )
      tidy(services, decided.action, body.approve, decided.detail)
      return showApproval(services.store.users, decided)
    },
  }),
]
