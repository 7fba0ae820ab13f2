// OpenAPI 3.1 documents of all APIs, public like the source code.
import { SubjectUnknownError } from '../errors.ts'
import { declareRoutes, PUBLIC } from '../route.ts'
import { Type } from '../schema.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Reference')

export interface ApiDocuments {
  readonly admin: string
  readonly attestation: string
  readonly identity: string
}

const documentResponse = (text: string, requestId: string): Response =>
  new Response(text, {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache', 'x-request-id': requestId },
  })

const served = ({ documents }: Services): ApiDocuments => {
  if (documents === null) throw new SubjectUnknownError('document')
  return documents
}

const DOCUMENT = Type.Record(Type.String(), Type.Unknown(), { description: 'An OpenAPI 3.1 document' })

export const REFERENCE_ROUTES = [
  route('readAdminDocument', 'GET', '/openapi.json', {
    access: PUBLIC,
    summary: 'Get the OpenAPI document of this API',
    answer: DOCUMENT,
    errors: [404],
    handle: async ({ services, requestId }) => documentResponse(served(services).admin, requestId),
  }),
  route('readDocument', 'GET', '/openapi/{document}', {
    access: PUBLIC,
    summary: 'Get the OpenAPI document of another API: `attestation.json` or `identity.json`',
    answer: DOCUMENT,
    handle: async ({ services, params, requestId }) => {
      const name = params.document
      if (name !== 'attestation.json' && name !== 'identity.json') throw new SubjectUnknownError('document')
      const documents = served(services)
      const text = name === 'attestation.json' ? documents.attestation : documents.identity
      return documentResponse(text, requestId)
    },
  }),
]
