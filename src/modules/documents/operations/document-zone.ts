import { SubjectUnknownError } from '../../../admin/errors.ts'
import { declareRoutes, REVIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, oneOf, Type } from '../../../admin/schema.ts'
import { BASE, operator, requireSession } from '../../../admin/sessions.ts'

const route = declareRoutes('Sessions')

const ZONE = named(
  'DocumentZone',
  closed({
    document_id: nullable(Type.String()),
    format: oneOf(['TD1', 'TD2', 'TD3']),
    type: Type.String(),
    issuer: Type.String({ description: 'Country code of three characters, as in the zone' }),
    nationality: Type.String(),
    number: Type.String(),
    surname: Type.String(),
    given_names: Type.String(),
    birth_date: nullable(Type.String()),
    expiry_date: Type.String(),
    sex: nullable(oneOf(['M', 'F'])),
  }),
)

export const DOCUMENT_ZONE_ROUTES = [
  route('readDocumentZone', 'POST', `${BASE}/{session}/evidence/zone`, {
    access: REVIEWER,
    command: { name: 'evidence show-zone', author: 'by' },
    alone: 'reads',
    summary: 'Read the machine-readable zone of the identity document',
    description: 'Each access is recorded. The response is 404 if no zone was read.',
    body: closed({}),
    answer: ZONE,
    handle: async ({ services, organization, actor, params, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      await write(async (_tables, note) =>
        note({ action: 'session.evidence-read', subject: session.id, detail: { part: 'zone' } }),
      )
      const reading = await services.identity.readings.read(session, operator(actor))
      if (reading === null || reading.zone === null) throw new SubjectUnknownError('zone')
      const { zone, documentId } = reading
      return {
        document_id: documentId,
        format: zone.format,
        type: zone.type,
        issuer: zone.issuer.replaceAll('<', ''),
        nationality: zone.nationality.replaceAll('<', ''),
        number: zone.number,
        surname: zone.surname,
        given_names: zone.givenNames,
        birth_date: zone.birthDate,
        expiry_date: zone.expiryDate,
        sex: zone.sex,
      }
    },
  }),
]
