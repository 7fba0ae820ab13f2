import { csvLine } from '../../lib/csv.ts'
import { isoTime } from '../../lib/time.ts'
import type { AuditEntry, AuditFilter, AuditTable } from '../../store/audit.ts'
import type { Page, PagePosition } from '../../store/paging.ts'
import { createSubjectNames } from '../audit-names.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import type { DownloadCall } from '../downloads.ts'
import { type Call, DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, type Static, Type, time } from '../schema.ts'
import { AUDIT_HEAD_PROBLEMS, type Services } from '../services.ts'
import { shown } from '../shown.ts'
import { timeOf } from '../time.ts'

const route = declareRoutes('Audit')

const ENTRY = named(
  'AuditEntry',
  closed({
    sequence: Type.Integer({ description: 'Increases by one with every entry of the deployment' }),
    at: time(),
    organization_id: nullable(Type.String()),
    actor: Type.String({ description: '`user:<id>`, `key:<id>`, `command-line`, `service` or `visitor`' }),
    actor_name: Type.String(),
    action: Type.String(),
    subject: Type.String(),
    subject_name: nullable(
      Type.String({ description: 'Current name of the subject; null if it has no name or was deleted' }),
    ),
    detail: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values of the change; changed values as `[before, after]`',
    }),
    request_id: Type.String(),
    address: Type.String({ description: 'IP address of the client; empty for the command line' }),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256 of the entry and the previous entry’s hash' }),
  }),
  ['sequence', 'at', 'actor_name', 'actor', 'address', 'action', 'subject', 'detail'],
)

const VERIFICATION = named(
  'AuditVerification',
  closed({
    ok: Type.Boolean(),
    entries: Type.Integer(),
    broken_at: Type.Union([Type.Integer(), Type.Null()], { description: 'First entry that breaks the chain' }),
    head_hash: Type.String({
      description: 'Hash of the newest entry. Store it elsewhere to prove later that no earlier entry was changed.',
    }),
    problems: Type.Array(Type.String(), {
      description: 'Differences between the log and its signed heads, which are stored with the decision log’s tree',
    }),
  }),
)

const FILTERS = {
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'Prefix of the action: `key.` finds all key changes' }),
  ),
  actor: Type.Optional(
    Type.String({ maxLength: 254, description: 'ID of the actor, or the actor’s name at the time' }),
  ),
  subject: Type.Optional(Type.String({ maxLength: 200 })),
  sequence: Type.Optional(Type.Integer({ minimum: 1, description: 'Return only this entry' })),
  since: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, inclusive' })),
  until: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive' })),
  overridden: Type.Optional(
    Type.Boolean({
      description: 'True to return only changes that overrode the second-person rule on the command line',
    }),
  ),
}

const showEntry = (entry: AuditEntry, subject_name: string | null) =>
  shown(ENTRY, entry, { at: isoTime(entry.atSeconds), detail: { ...entry.detail }, subject_name })

const showEntries = async ({ store }: Services, { items, next }: Page<AuditEntry>) => {
  const nameOf = createSubjectNames(store)
  const entries = []
  for (const entry of items) entries.push(showEntry(entry, await nameOf(entry)))
  return pageAnswer({ items: entries, next }, (entry) => entry)
}

const FILTER_QUERY = Type.Object(FILTERS)

const filterOf = ({
  action,
  actor,
  subject,
  sequence,
  since,
  until,
  overridden,
}: Static<typeof FILTER_QUERY>): AuditFilter => ({
  ...(action === undefined ? {} : { actionPrefix: action }),
  ...(actor === undefined ? {} : { actor }),
  ...(subject === undefined ? {} : { subject }),
  ...(sequence === undefined ? {} : { sequence }),
  ...(since === undefined ? {} : { sinceSeconds: Math.ceil(timeOf('since', since) / 1000) }),
  ...(until === undefined ? {} : { untilSeconds: Math.ceil(timeOf('until', until) / 1000) }),
  ...(overridden === undefined ? {} : { overridden }),
})

const EXPORT_QUERY = Type.Object({ ...FILTERS, format: oneOf(['csv', 'ndjson']) })
const EXPORT_ROWS = 500
/** Maximum entries per file; larger exports require several files by date. */
const EXPORT_MAX = 100_000
const EXPORT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8; header=present' } as const
const EXPORT_ANSWER = {
  description: `Streams up to ${EXPORT_MAX.toLocaleString('en')} entries, newest first. The export is recorded in the audit log.`,
  query: EXPORT_QUERY,
  streams: true,
  media: ['application/x-ndjson', 'text/csv'],
} as const

type ExportedEntry = Omit<ReturnType<typeof showEntry>, 'subject_name'>
const CSV_COLUMNS = [
  'sequence',
  'at',
  'organization_id',
  'actor',
  'actor_name',
  'action',
  'subject',
  'detail',
  'request_id',
  'address',
  'previous_hash',
  'hash',
] as const satisfies readonly (keyof ExportedEntry)[]

const lineOf = (entry: AuditEntry, format: keyof typeof EXPORT_TYPES): string => {
  const { subject_name: _currentName, ...line } = showEntry(entry, null)
  return format === 'ndjson'
    ? `${JSON.stringify(line)}\n`
    : csvLine(CSV_COLUMNS.map((column) => (column === 'detail' ? JSON.stringify(line.detail) : line[column])))
}

async function* exported(
  audit: Pick<AuditTable, 'page'>,
  filter: AuditFilter,
  format: keyof typeof EXPORT_TYPES,
): AsyncGenerator<string, void> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  let after: PagePosition | null = null
  for (let rows = 0; rows < EXPORT_MAX; rows += EXPORT_ROWS) {
    const page: Page<AuditEntry> = await audit.page(filter, { after, limit: EXPORT_ROWS })
    yield page.items.map((entry) => lineOf(entry, format)).join('')
    after = page.next
    if (after === null) return
  }
}

interface ExportCall extends DownloadCall, Pick<Call<never, never, never, never>, 'services'> {
  readonly query: Static<typeof EXPORT_QUERY>
}

const exportReply = (call: ExportCall, filter: AuditFilter, name: string): Response => {
  const { format } = call.query
  return call.services.downloads.respond(call, {
    filename: `audit-${name}.${format}`,
    contentType: EXPORT_TYPES[format],
    parts: exported(call.services.store.audit, filter, format),
  })
}

export const AUDIT_ROUTES = [
  route('listAudit', 'GET', '/organizations/{organization}/audit', {
    access: ORGANIZATION_ADMIN,
    command: { wholeDeployment: true, limit: 20 },
    summary: 'List every change in an organization, newest first',
    query: Type.Object({ ...PAGE_QUERY, ...FILTERS }),
    answer: pageOf(ENTRY),
    handle: async ({ services, organization, query }) =>
      showEntries(
        services,
        await services.store.audit.page(
          { organizationId: organization.id, ...filterOf(query) },
          pageRequest(query, ['number']),
        ),
      ),
  }),
  route('listDeploymentAudit', 'GET', '/audit', {
    access: DEPLOYMENT,
    summary: 'List every change in the deployment, newest first',
    query: Type.Object({ ...PAGE_QUERY, ...FILTERS }),
    answer: pageOf(ENTRY),
    handle: async ({ services, query }) =>
      showEntries(services, await services.store.audit.page(filterOf(query), pageRequest(query, ['number']))),
  }),
  route('exportAudit', 'GET', '/organizations/{organization}/audit/export', {
    ...EXPORT_ANSWER,
    access: ORGANIZATION_ADMIN,
    summary: 'Export an organization’s audit log',
    handle: async (call) => {
      const { organization, query, write } = call
      const { format, ...filters } = query
      const filter = { organizationId: organization.id, ...filterOf(filters) }
      // Create the reply first, because a refused export must not be recorded.
      const reply = exportReply(call, filter, organization.slug)
      await write(async (_tables, note) =>
        note({ action: 'audit.export', subject: organization.id, detail: { format, ...filters } }),
      )
      return reply
    },
  }),
  route('exportDeploymentAudit', 'GET', '/audit/export', {
    ...EXPORT_ANSWER,
    access: DEPLOYMENT,
    summary: 'Export the deployment’s audit log',
    handle: async (call) => {
      const { query, write } = call
      const { format, ...filters } = query
      const filter = filterOf(filters)
      const reply = exportReply(call, filter, 'deployment')
      await write(async (_tables, note) =>
        note({ action: 'audit.export', subject: 'deployment', detail: { format, ...filters } }),
      )
      return reply
    },
  }),
  route('verifyAudit', 'GET', '/audit/verify', {
    access: DEPLOYMENT,
    command: false,
    summary: 'Verify the audit log’s hash chain and signed heads',
    answer: VERIFICATION,
    handle: async ({ services }) => {
      const { ok, entries, brokenAt, headHash } = await services.store.audit.verify()
      const problems = [...((await services.findService(AUDIT_HEAD_PROBLEMS)?.()) ?? [])]
      return { ok: ok && problems.length === 0, entries, broken_at: brokenAt, head_hash: headHash, problems }
    },
  }),
]
