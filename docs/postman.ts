// Generates the Postman collection of the API (docs/openapi/postman.json) from its OpenAPI document: a folder per tag,
// a request per operation, keys and addresses as variables. One-line scripts store values of answers that later
// requests need. Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html.

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: unknown
}

interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Values for the user to fill in; data/quickstart.env contains all of them for a trial. */
const VARIABLES: Readonly<Record<string, string>> = {
  baseUrl: 'http://127.0.0.1:8080',
  attestationKey: '',
  identityKey: '',
  verificationHash: '',
  contract: '',
  wallet: '0x1111111111111111111111111111111111111111',
  // Set by scripts.
  uuid: '',
  sessionId: '',
}

const ATTESTED = { from: '{{wallet}}', chain: 'base', verification_hash: '{{verificationHash}}' }
/** Bodies by operation. A test compares them with the document's schemas, and runs each against the service. */
const BODIES: Readonly<Record<string, unknown>> = {
  attest: ATTESTED,
  attestMany: { requests: [ATTESTED, { ...ATTESTED, chain: 'ethereum' }] },
  evaluateTask: { from: '{{wallet}}', to: '{{contract}}', data: '0x', msg_value: '0', chain_id: 8453 },
  registerIndividual: {},
  registerBusiness: {},
  verifyWallet: { address: '{{wallet}}' },
}
/** Values of answers that later requests need. */
const KEPT: Readonly<Record<string, { readonly variable: string; readonly path: string }>> = {
  attest: { variable: 'uuid', path: 'attestation.uuid' },
  registerIndividual: { variable: 'sessionId', path: 'sessionId' },
}
const IN_PATH: Readonly<Record<string, string>> = { uuid: '{{uuid}}', sessionId: '{{sessionId}}', type: 'individual' }

const AUTHORIZATION = {
  attestationKey: {
    type: 'apikey',
    apikey: [
      { key: 'key', value: 'x-api-key', type: 'string' },
      { key: 'value', value: '{{attestationKey}}', type: 'string' },
      { key: 'in', value: 'header', type: 'string' },
    ],
  },
  identityKey: { type: 'bearer', bearer: [{ key: 'token', value: '{{identityKey}}', type: 'string' }] },
} as const

const authorizationOf = ({ security }: Operation) => {
  const [scheme] = Object.keys(security[0] ?? {})
  return scheme === undefined ? { type: 'noauth' } : AUTHORIZATION[scheme as keyof typeof AUTHORIZATION]
}

const requestOf = (method: string, path: string, operation: Operation) => {
  const segments = path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => IN_PATH[name] ?? '')
  const { operationId, summary, description = '' } = operation
  const body = BODIES[operationId]
  if ((operation.requestBody !== undefined) !== (body !== undefined)) throw new Error(`${operationId} has no body here`)
  const kept = KEPT[operationId]
  return {
    name: summary,
    ...(kept === undefined
      ? {}
      : {
          event: [
            {
              listen: 'test',
              script: {
                type: 'text/javascript',
                exec: [`pm.collectionVariables.set("${kept.variable}", pm.response.json().${kept.path})`],
              },
            },
          ],
        }),
    request: {
      method: method.toUpperCase(),
      description,
      auth: authorizationOf(operation),
      header: body === undefined ? [] : [{ key: 'content-type', value: 'application/json' }],
      ...(body === undefined
        ? {}
        : { body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } } }),
      url: { raw: `{{baseUrl}}/${segments}`, host: ['{{baseUrl}}'], path: segments.split('/') },
    },
  }
}

export const POSTMAN_SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** @param document OpenAPI document of the API, as JSON @throws Error for an operation without a body above */
export const postmanCollection = (document: string): string => {
  const { info, tags, paths } = JSON.parse(document) as ApiDocument
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const collection = {
    info: { name: info.title, version: info.version, description: info.description, schema: POSTMAN_SCHEMA },
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    item: tags.map(({ name, description = '' }) => ({
      name,
      description,
      item: operations
        .filter(({ operation }) => operation.tags[0] === name)
        .map(({ method, path, operation }) => requestOf(method, path, operation)),
    })),
  }
  return `${JSON.stringify(collection, null, 2)}\n`
}
