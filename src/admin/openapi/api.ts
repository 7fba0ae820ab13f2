// OpenAPI document at /openapi.json of the API listener: the APIs that the process serves.
import type { ProcessRole } from '../../domain/process-role.ts'
import { ATTESTATION_INTERFACE } from './attestation.ts'
import { openApiDocument } from './document.ts'
import { IDENTITY_INTERFACE } from './identity.ts'

export const apiDocument = (version: string, server: string, roles: ReadonlySet<ProcessRole>): string => {
  const interfaces = [
    ...(roles.has('attestation') ? [ATTESTATION_INTERFACE] : []),
    ...(roles.has('identity') ? [IDENTITY_INTERFACE] : []),
  ]
  return openApiDocument({
    title: 'Countersign API',
    description: interfaces.map(({ description }) => description).join('\n\n'),
    version,
    server,
    tags: interfaces.flatMap(({ tags }) => tags),
    securitySchemes: Object.assign({}, ...interfaces.map(({ securitySchemes }) => securitySchemes)),
    operations: interfaces.flatMap(({ operations }) => operations),
  })
}
