// The audit log.
import type { AuditEntry } from '../../store/audit.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN } from '../route.ts'
import { closed, named, nullable, PAGE_QUERY, pageOf, Type, time, timeText } from '../schema.ts'

const route = declareRoutes('Audit')

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
    address: Type.String({ description: 'Where the request came from; empty for what came over no network' }),
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
  overridden: Type.Optional(
    Type.Boolean({ description: 'True: only where the second person’s rule was overridden, at the command line' }),
  ),
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
  address: entry.address,
  previous_hash: entry.previousHash,
  hash: entry.hash,
})

const filterOf = (query: { action?: string; actor?: string; subject?: string; overridden?: boolean }) => ({
  ...(query.action === undefined ? {} : { actionPrefix: query.action }),
  ...(query.actor === undefined ? {} : { actor: query.actor }),
  ...(query.subject === undefined ? {} : { subject: query.subject }),
  ...(query.overridden === undefined ? {} : { overridden: query.overridden }),
})

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
]
