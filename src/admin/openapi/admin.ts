import { type Access, isUnsafe, type Route, takesIdempotencyKey } from '../route.ts'
import { type TSchema, Type } from '../schema.ts'
import { openApiDocument } from './document.ts'
import type { DescribedOperation } from './operation.ts'
import { ADMIN_PROBLEM } from './problem.ts'

const PARAMETERS: Readonly<Record<string, { readonly description: string }>> = {
  organization: { description: 'ID or slug' },
}

const needs = (access: Access): string => {
  switch (access.kind) {
    case 'public':
      return 'No authentication required.'
    case 'second-factor':
      return 'Requires a sign-in that awaits its second factor.'
    case 'person':
      return 'Requires a signed-in person.'
    case 'caller':
      return 'Requires a signed-in person or an admin key.'
    case 'deployment':
      return access.person
        ? 'Requires a signed-in deployment admin.'
        : 'Requires a deployment admin or an admin key with the scope `deployment`.'
    case 'organization': {
      const person = access.person ? ' Keys are not accepted.' : ''
      return `Requires at least the role \`${access.role}\` in the organization.${person}`
    }
  }
}

/** Applies to people only, because keys have no password or passkey. */
const FRESHNESS: Readonly<Record<Route['freshness'], string>> = {
  never: '',
  sometimes:
    'If the change grants admin rights, a person must have recently confirmed the session with a password or passkey: see `POST /me/confirm`.',
  always: 'A person must have recently confirmed the session with a password or passkey: see `POST /me/confirm`.',
}

const securityOf = (access: Access): string[] => {
  if (access.kind === 'public') return []
  const personOnly =
    access.kind === 'person' || access.kind === 'second-factor' || ('person' in access && access.person !== undefined)
  return personOnly ? ['cookie'] : ['cookie', 'adminKey']
}

const problemsOf = (route: Route): number[] => {
  const { access, body, query, path, rawBody, method, streams, errors } = route
  const statuses = [...errors, 429, 500, 503]
  if (!streams) statuses.push(408)
  if (body !== null || query !== null) statuses.push(400)
  if (access.kind !== 'public') statuses.push(401)
  if (access.kind !== 'public' || isUnsafe(method)) statuses.push(403)
  if (path.includes('{')) statuses.push(404)
  if (body !== null || rawBody.length > 0) statuses.push(413, 415)
  if (takesIdempotencyKey(route)) statuses.push(409, 422)
  return statuses
}

const isOptional = (body: TSchema): boolean => {
  const required = body['required'] as readonly string[] | undefined
  return (required ?? []).length === 0 && body['minProperties'] === undefined
}

const describe = (route: Route): DescribedOperation => ({
  operationId: route.operationId,
  method: route.method,
  path: route.path,
  tag: route.tag,
  summary: route.summary,
  description: [route.description, needs(route.access), FRESHNESS[route.freshness]]
    .filter((part) => part !== '')
    .join('\n\n'),
  parameters: PARAMETERS,
  query: route.query,
  headers: takesIdempotencyKey(route)
    ? [
        {
          name: 'Idempotency-Key',
          description: 'Retries with the same key return the first response for one day.',
          schema: Type.String({ minLength: 1, maxLength: 255 }),
        },
      ]
    : [],
  bodies:
    route.body !== null
      ? {
          'application/json': {
            schema: route.body,
            required: !isOptional(route.body),
            ...(route.example === undefined ? {} : { examples: { example: route.example } }),
          },
        }
      : Object.fromEntries(route.rawBody.map((type) => [type, { schema: Type.String(), required: true }])),
  answers: route.answers,
  problems: problemsOf(route),
  security: securityOf(route.access),
})

const DESCRIPTION = `The dashboard uses only this API.

**Authentication.** People sign in and receive a cookie; programs send an admin key of their organization as
\`Authorization: Bearer csm_…\`. A key has the rights of an organization admin in its own organization. With the scope
\`deployment\`, it can also manage the deployment. Resources of other organizations return 404.

**Pagination.** Lists return \`data\` and \`next_cursor\`; send the cursor to get the next page. Concurrent writes cause no
duplicate or missing items.

**Changes** accept an \`Idempotency-Key\`, and are recorded in the audit log before the response is sent. Changes that use a cookie must
come from the dashboard's own pages.

**Errors** are problem details (RFC 9457) with a stable \`code\` and the request ID. If a single field is invalid, \`field\` names it
and \`rule\` states the requirement.`

const TAGS: ReadonlyArray<{ readonly name: string; readonly description: string }> = [
  { name: 'Account', description: 'Sign-in, sign-out, and the caller’s own account.' },
  { name: 'Organizations', description: 'The tenants of the deployment.' },
  { name: 'Members', description: 'The members of an organization and their roles.' },
  { name: 'Accounts', description: 'The accounts of the deployment.' },
  { name: 'Keys', description: 'API keys.' },
  { name: 'Projects', description: 'Products or contracts for which an organization attests.' },
  { name: 'Bindings', description: 'The contracts and programs of each project.' },
  { name: 'Policies', description: 'Policy documents, their revisions, and the active one.' },
  { name: 'Policy trials', description: 'Checking, testing and simulating policies without side effects.' },
  { name: 'Lists', description: 'Addresses that policies look up.' },
  { name: 'Shared lists', description: 'Lists of the deployment, which the policies of all organizations can read.' },
  { name: 'Sessions', description: 'Review of people and businesses.' },
  { name: 'Screening', description: 'Sanctions lists, and hits in sessions.' },
  { name: 'Decisions', description: 'Decisions, and the log that proves them.' },
  { name: 'Jobs', description: 'Long-running tasks.' },
  { name: 'Approvals', description: 'Changes that await approval by a second person.' },
  { name: 'Webhooks', description: 'Endpoints that receive session events, and the state of each message.' },
  { name: 'Audit', description: 'The audit log.' },
  { name: 'Attesters', description: 'Signing keys.' },
  { name: 'Workers', description: 'The signing workers and their queue.' },
  { name: 'Live', description: 'Live metrics of the service.' },
  { name: 'Deployment', description: 'The deployment and its settings.' },
  { name: 'Reference', description: 'The OpenAPI documents.' },
]

export const adminDocument = (routes: readonly Route[], version: string, secure: boolean): string =>
  openApiDocument({
    title: 'Countersign admin API',
    description: DESCRIPTION,
    version,
    server: '/admin/v1',
    tags: TAGS,
    securitySchemes: {
      cookie: { type: 'apiKey', in: 'cookie', name: secure ? '__Host-countersign' : 'countersign' },
      adminKey: { type: 'http', scheme: 'bearer', description: 'An admin key: csm_live_…' },
    },
    operations: routes.map(describe),
    problem: ADMIN_PROBLEM,
  })
