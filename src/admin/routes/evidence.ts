// Evidence of a session. Each access is recorded in the audit log.
import { partOf } from '../../domain/requirements.ts'
import type { Session } from '../../domain/session.ts'
import type { EvidenceFields, EvidenceSession } from '../../identity/evidence-types.ts'
import { SECURITY_HEADERS } from '../../server/security-headers.ts'
import { requireFound } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN, REVIEWER } from '../route.ts'
import { closed, named, nullable, Type, time } from '../schema.ts'
import { BASE, operator, requireSession } from '../sessions.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Sessions')

const DOCUMENT = named(
  'EvidenceDocument',
  closed({
    id: Type.String(),
    kind: Type.String(),
    media_type: Type.String(),
    bytes: Type.Integer(),
    file_name: Type.String(),
    created_at: time(),
  }),
)

const FIELDS = closed({
  full_name: nullable(Type.String()),
  birth_date: nullable(Type.String()),
  country: nullable(Type.String()),
  registered_name: nullable(Type.String()),
  registration_number: nullable(Type.String()),
  owners: Type.Array(closed({ name: Type.String(), share_percent: Type.Integer() })),
})

const showFields = (fields: EvidenceFields) => ({
  full_name: fields.fullName ?? null,
  birth_date: fields.birthDate ?? null,
  country: fields.country ?? null,
  registered_name: fields.registeredName ?? null,
  registration_number: fields.registrationNumber ?? null,
  owners: (fields.owners ?? []).map(({ name, sharePercent }) => ({ name, share_percent: sharePercent })),
})

const evidenceOf = ({ organizationId, id, checkType, level }: Session): EvidenceSession => ({
  organizationId,
  id,
  checkType,
  level,
})

export const EVIDENCE_ROUTES = [
  route('listEvidence', 'GET', `${BASE}/{session}/evidence`, {
    access: REVIEWER,
    command: false,
    summary: 'Show a session’s evidence and its missing parts',
    answer: closed({
      fields: Type.Array(Type.String(), { description: 'Names of the fields that have a value' }),
      documents: Type.Array(DOCUMENT),
      missing: Type.Array(Type.String(), { description: 'Evidence that the session’s level still requires' }),
    }),
    handle: async ({ services, organization, params }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const { evidence } = services.identity
      const { fields, documents } = await evidence.listEvidence(evidenceOf(session))
      const missing = await evidence.missing(evidenceOf(session))
      return {
        fields: [...fields],
        documents: documents.map((document) => shown(DOCUMENT, document, { bytes: document.byteLength })),
        missing: missing.map(partOf),
      }
    },
  }),
  route('readEvidenceFields', 'POST', `${BASE}/{session}/evidence/fields`, {
    access: REVIEWER,
    command: false,
    alone: 'reads',
    summary: 'Read the entered fields',
    description: 'Each access is recorded.',
    body: closed({}),
    answer: FIELDS,
    handle: async ({ services, organization, actor, params, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      await write(async (_tables, note) =>
        note({ action: 'session.evidence-read', subject: session.id, detail: { part: 'fields' } }),
      )
      return showFields(await services.identity.evidence.readFields(evidenceOf(session), operator(actor)))
    },
  }),
  route('openDocument', 'GET', `${BASE}/{session}/evidence/documents/{document}`, {
    access: REVIEWER,
    summary: 'Download a document as stored',
    description: 'Each access is recorded. The response headers prevent browsers from running active content.',
    streams: true,
    media: ['application/octet-stream'],
    handle: async ({ services, organization, actor, params, requestId, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const opened = requireFound(
        await services.identity.evidence.openDocument(evidenceOf(session), params.document, operator(actor)),
        'document',
      )
      const { id, mediaType } = opened.receipt
      await write(async (_tables, note) =>
        note({ action: 'session.evidence-read', subject: session.id, detail: { part: id } }),
      )
      return new Response(opened.stream, {
        headers: {
          'content-type': mediaType,
          'content-disposition': `attachment; filename="${id}.${mediaType.split('/')[1]}"`,
          ...SECURITY_HEADERS,
          'cache-control': 'no-store',
          'x-request-id': requestId,
        },
      })
    },
  }),
  route('eraseEvidence', 'POST', `${BASE}/{session}/evidence/erase`, {
    access: ORGANIZATION_ADMIN,
    command: { name: 'evidence erase', author: 'by', irreversible: true },
    secondPerson: {
      action: 'session.evidence-erase',
      // Same rule as for a shorter retention period. Undecided sessions have verified nobody, and can't be completed
      // without evidence.
      needs: async (tables, { organization, params }) => {
        const { session } = await requireSession(tables, organization.id, params.session)
        const events = await tables.sessions.listEvents(organization.id, session.id)
        const wasDecided = events.some(
          ({ kind, status }) => kind === 'status' && (status === 'completed' || status === 'rejected'),
        )
        return wasDecided ? 'second-person' : 'nothing'
      },
      see: async (tables, { organization, params }) => {
        const { session } = await requireSession(tables, organization.id, params.session)
        return {
          subject: session.id,
          name: session.id,
          changes: [{ what: 'evidence', before: `of a ${session.status} session`, after: 'erased permanently' }],
          basis: session.sequence,
        }
      },
    },
    summary: 'Erase a session’s evidence permanently',
    description: 'Destroys the encryption keys, then deletes the files. The decision and the history remain.',
    body: closed({}),
    answer: closed({ erased: Type.Integer({ description: 'Number of documents; all fields together count as one' }) }),
    handle: async ({ services, organization, actor, params, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const erased = await services.identity.evidence.eraseSession(evidenceOf(session), operator(actor), (erase) =>
        write(async (tables, note) => {
          const change = await erase(tables.evidence)
          const detail = { erased: change?.obsoleteFiles.length ?? 0 }
          note({ action: 'session.evidence-erase', subject: session.id, detail })
          return change
        }),
      )
      return { erased }
    },
  }),
]
