// What the API listener answers at /openapi.json: interfaces A and B in one document.
import { ATTESTATION_INTERFACE as A } from './attestation.ts'
import { openApiDocument } from './document.ts'
import { IDENTITY_INTERFACE as B } from './identity.ts'

/** @param server where the API is reached */
export const apiDocument = (version: string, server: string): string =>
  openApiDocument({
    title: 'Countersign API',
    description: `${A.description}\n\n${B.description}`,
    version,
    server,
    tags: [...A.tags, ...B.tags],
    securitySchemes: { ...A.securitySchemes, ...B.securitySchemes },
    operations: [...A.operations, ...B.operations],
  })
