// Lists every route of every listener, from the tables that define the service: the declarations of the admin API, the
// documents of the attestation and identity APIs, and the routes of the verification page.
import { attestationDocument } from '../../src/admin/openapi/attestation.ts'
import { identityDocument } from '../../src/admin/openapi/identity.ts'
import type { Access } from '../../src/admin/route.ts'
import { createEntry } from '../../src/portal/entry.ts'
import { portalApi } from '../../src/portal/portal.ts'
import { ADMIN_ROUTES } from '../admin/support/all-routes.ts'

export type Listener = 'api' | 'portal' | 'dashboard'

/** The part of JSON Schema that the tables use. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly $ref?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly minLength?: number
  readonly minItems?: number
  readonly minProperties?: number
}

export interface AttackedRoute {
  readonly listener: Listener
  readonly name: string
  readonly method: string
  /** `{name}` is a placeholder for one segment. */
  readonly path: string
  readonly query: Readonly<Record<string, Schema>>
  readonly body: Schema | null
  /** Media types of a body that is not JSON. */
  readonly rawTypes: readonly string[]
  /** Required key or cookie; null if none is required. */
  readonly access: Access | 'attestation' | 'identity' | 'visitor' | null
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}
interface DocumentedOperation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const documented = (text: string, access: 'attestation' | 'identity'): AttackedRoute[] => {
  const document = JSON.parse(text) as Document
  const schemas = document.components?.schemas ?? {}
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {})
  const deep = (schema: Schema): Schema => {
    const found = resolve(schema)
    return {
      ...found,
      ...(found.items === undefined ? {} : { items: deep(found.items) }),
      ...(found.allOf === undefined ? {} : { allOf: found.allOf.map(deep) }),
      ...(found.anyOf === undefined ? {} : { anyOf: found.anyOf.map(deep) }),
    }
  }
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId, parameters = [], requestBody }]): AttackedRoute => {
      const body = requestBody?.content['application/json']?.schema
      const query = parameters.filter(({ in: where }) => where === 'query')
      return {
        listener: 'api',
        name: operationId,
        method: method.toUpperCase(),
        path,
        rawTypes: [],
        access,
        query: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
        body: body === undefined ? null : deep(body),
      }
    }),
  )
}

const PORTAL_BODIES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries({
    '/api/enter': ['token'],
    '/api/continue/challenge': ['token', 'address', 'chainId'],
    '/api/continue': ['token', 'nonce', 'signature'],
    '/api/sessions/{session}/fields': ['fullName', 'birthDate', 'country'],
    '/api/sessions/{session}/agreement': ['version', 'language', 'shares', 'usesDetails'],
    '/api/sessions/{session}/wallets/challenge': ['address', 'chainId'],
    '/api/sessions/{session}/wallets': ['nonce', 'signature'],
  }).map(([path, names]) => [
    path,
    {
      type: 'object',
      required: names,
      properties: Object.fromEntries(
        names.map((name) => [
          name,
          { type: name === 'chainId' ? 'integer' : ['shares', 'usesDetails'].includes(name) ? 'boolean' : 'string' },
        ]),
      ),
    },
  ]),
)

/** Declaring the page's routes only destructures their dependencies, so a stub can replace all of them. */
const anyPart: unknown = new Proxy(() => undefined, {
  get: (_, name) => (name === Symbol.iterator ? [][Symbol.iterator] : name === Symbol.toPrimitive ? () => '' : anyPart),
  apply: () => anyPart,
})

const portalRoutes = (): AttackedRoute[] => {
  const parts = new Proxy({} as never, {
    get: (_, name) => (name === 'portalUrl' ? 'http://localhost' : name === 'chains' ? { chains: [] } : anyPart),
  })
  const limits = anyPart as never
  const { routes } = portalApi(() => async () => new Response(), parts, createEntry(parts, limits), limits)
  return routes.map(({ method, path: declared }): AttackedRoute => {
    const path = declared.replaceAll(/:(\w+)/g, '{$1}')
    const isUpload = path.endsWith('/documents/{kind}')
    return {
      listener: 'portal',
      name: `portal ${method} ${path}`,
      method,
      query: {},
      access: 'visitor',
      path,
      body: path.includes('/documents/') || method === 'GET' ? null : (PORTAL_BODIES[path] ?? { type: 'object' }),
      rawTypes: isUpload ? ['image/png', 'image/jpeg', 'application/pdf'] : [],
    }
  })
}

const adminRoutes = (): AttackedRoute[] =>
  ADMIN_ROUTES.map((route) => ({
    listener: 'dashboard',
    name: route.operationId,
    method: route.method,
    access: route.access,
    path: `/admin/v1${route.path}`,
    query: (route.query?.properties ?? {}) as Readonly<Record<string, Schema>>,
    body: route.body as Schema | null,
    rawTypes: route.rawBody,
  }))

/** Pages and files, which no table declares. */
const PAGES: ReadonlyArray<readonly [Listener, string]> = [
  ['portal', '/'],
  ['portal', '/s/{session}'],
  ['portal', '/v/{token}'],
  ['portal', '/robots.txt'],
  ['portal', '/assets/{file}'],
  ['dashboard', '/'],
  ['dashboard', '/welcome'],
  ['dashboard', '/docs'],
  ['dashboard', '/docs/{document}'],
  ['dashboard', '/organizations/{organization}'],
  ['dashboard', '/assets/{file}'],
]

export const attackedRoutes = (): readonly AttackedRoute[] => [
  ...documented(attestationDocument('0', ''), 'attestation'),
  ...documented(identityDocument('0', ''), 'identity'),
  ...portalRoutes(),
  ...adminRoutes(),
  ...PAGES.map(
    ([listener, path]): AttackedRoute => ({
      listener,
      name: `page ${listener} ${path}`,
      method: 'GET',
      path,
      query: {},
      body: null,
      rawTypes: [],
      access: null,
    }),
  ),
]
