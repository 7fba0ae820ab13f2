// Routes for fields and documents. The evidence service validates them before storing.
import { Elysia } from 'elysia'
import { FieldInvalidError } from '../domain/errors.ts'
import { type DocumentKind, type FieldName, partOf, requirementsOf } from '../domain/requirements.ts'
import { DocumentTooLargeError } from '../identity/evidence/errors.ts'
import {
  DOCUMENT_BYTES_MAX,
  type EvidenceFields,
  type EvidenceSession,
  parseDocumentKind,
} from '../identity/evidence-types.ts'
import { jsonResponse } from '../server/response.ts'
import { DocumentBodyMissingError } from './errors.ts'
import type { PortalGate } from './gate.ts'
import { readObject } from './json.ts'
import type { SessionTools } from './session-routes.ts'
import type { PortalParts } from './types.ts'

const FILE_NAME_HEADER = 'x-file-name'
const FILE_NAME_HEADER_MAX = 1_000

/** Percent-encoded in the header, because header values are bytes. */
const readFileName = (headers: Headers): string => {
  const text = headers.get(FILE_NAME_HEADER) ?? ''
  if (text.length > FILE_NAME_HEADER_MAX) return ''
  try {
    return decodeURIComponent(text)
  } catch {
    // The name is only a label, so a malformed name doesn't justify refusing the document.
    return ''
  }
}

/** Checks the length before the body is read. */
const openBody = (request: Request): ReadableStream<Uint8Array> => {
  const length = request.headers.get('content-length')
  if (length !== null && !(Number(length) <= DOCUMENT_BYTES_MAX)) throw new DocumentTooLargeError()
  if (request.body === null || length === '0') throw new DocumentBodyMissingError()
  return request.body
}

export const evidenceRoutes = (gate: PortalGate, parts: PortalParts, tools: SessionTools) => {
  const { evidence, progress } = parts
  const { openForChange, openAgreed, answer } = tools

  const requireKind = (session: EvidenceSession, text: string): DocumentKind => {
    const kind = parseDocumentKind(text)
    const asked = requirementsOf(session.checkType, session.level).some((requirement) => partOf(requirement) === kind)
    if (!asked) throw new FieldInvalidError('kind', 'is not requested')
    return kind
  }

  /** Deletes documents of a returned kind when the first replacement arrives. */
  const makeWay = async (session: EvidenceSession, kind: DocumentKind): Promise<void> => {
    const corrections = await progress.findCorrections(session.organizationId, session.id)
    if (corrections === null || !corrections.parts.includes(kind) || corrections.done.includes(kind)) return
    const { documents } = await evidence.listEvidence(session)
    for (const document of documents) {
      if (document.kind === kind) await evidence.removeDocument(session, document.id)
    }
  }

  // Shows the fields only while they can be changed, because cookies are long-lived and browsers may be shared.
  const showFields = gate(async (call) => {
    const { session } = await openForChange(call)
    return jsonResponse(JSON.stringify(await evidence.readFields(session, 'person')), call.requestId)
  })

  const changeFields = gate(async (call) => {
    const { state, session } = await openAgreed(call)
    const body = await readObject(call.request)
    const asked = requirementsOf(session.checkType, session.level).flatMap((requirement) =>
      requirement.part === 'field' ? [requirement.name] : [],
    )
    const given = asked.filter((name) => body[name] !== undefined)
    // Contains only fields that the session requires; the evidence service validates their values.
    const fields = Object.fromEntries(given.map((name: FieldName) => [name, body[name]])) as EvidenceFields
    await evidence.putFields(session, fields)
    return answer(state, call.requestId)
  })

  const addDocument = gate(
    async (call) => {
      const { state, session } = await openAgreed(call)
      const kind = requireKind(session, call.params['kind'] ?? '')
      const stream = openBody(call.request)
      await makeWay(session, kind)
      await evidence.addDocument(session, {
        kind,
        stream,
        address: call.address,
        fileName: readFileName(call.request.headers),
        declaredType: call.request.headers.get('content-type') ?? '',
      })
      return answer(state, call.requestId)
    },
    { slow: true },
  )

  const removeDocument = gate(async (call) => {
    const { state, session } = await openAgreed(call)
    await evidence.removeDocument(session, call.params['document'] ?? '')
    return answer(state, call.requestId)
  })

  return new Elysia({ name: 'portal evidence', prefix: '/api/sessions/:session' })
    .get('/fields', showFields)
    .put('/fields', changeFields)
    .post('/documents/:kind', addDocument)
    .delete('/documents/:document', removeDocument)
}
