// OpenAPI document of the admin API, from its route table.
import { type Access, isUnsafe, type Route } from '../route.ts'
import { type TSchema, Type } from '../schema.ts'
import { openApiDocument } from './document.ts'
import type { DescribedOperation } from './operation.ts'
import { ADMIN_PROBLEM } from './problem.ts'

const PARAMETERS: Readonly<Record<string, { readonly description: string }>> = {
  organization: { description: 'Id or short name' },
}

const needs = (access: Access): string => {
  switch (access.kind) {
    case 'public':
      return 'Open to anyone.'
    case 'second-factor':
      return 'For a browser whose second factor is still owed.'
    case 'person':
      return 'Needs a person who is signed in.'
    case 'caller':
      return 'Needs a person who is signed in, or an admin key.'
    case 'deployment':
      return access.person
        ? 'Needs a person who is a deployment admin.'
        : 'Needs a deployment admin, or an admin key with the scope `deployment`.'
    case 'organization': {
      const person = access.person ? ' A key will not do.' : ''
      return `Needs the role \`${access.role}\` in the organization, or one above it.${person}`
    }
  }
}

/** For people only, because a key has no password or passkey. */
const FRESHNESS: Readonly<Record<Route['freshness'], string>> = {
  never: '',
  sometimes:
    'Where it gives the rights of an admin, a person’s password or passkey has to be fresh: see `POST /me/confirm`.',
  always: 'A person’s password or passkey has to be fresh: see `POST /me/confirm`.',
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

const takesIdempotencyKey = ({ method, access, streams }: Route): boolean =>
  isUnsafe(method) && access.kind !== 'public' && access.kind !== 'second-factor' && !streams

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
          description: 'A repeated request with the same key gets the first answer, for a day.',
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

const DESCRIPTION = `Everything that the dashboard can do: it uses nothing else.

**Who may call.** People sign in and get a cookie; programs send an admin key of their organization as
\`Authorization: Bearer csm_…\`. A key may do what an organization admin may do in its own organization, and with the scope
\`deployment\` what belongs to the deployment as well. What is another organization's does not exist for the caller (404).

**Pages.** Lists answer \`data\` and \`next_cursor\`; send the cursor for the next page. Nothing is shown twice or left out
because of what is written meanwhile.

**Changes** take an \`Idempotency-Key\`, and each is in the audit log by the time it is answered. A cookie's change has to
come from the dashboard's own pages.

**Errors** are problems (RFC 9457) with a stable \`code\` and the id of the request. Where one field is at fault, \`field\`
names it and \`rule\` says what is expected.`

const TAGS: ReadonlyArray<{ readonly name: string; readonly description: string }> = [
  { name: 'Account', description: 'Sign-in, sign-out, and the caller’s own account.' },
  { name: 'Organizations', description: 'The tenants of the deployment.' },
  { name: 'Members', description: 'The members of an organization and their roles.' },
  { name: 'Accounts', description: 'The accounts of the deployment.' },
  { name: 'Keys', description: 'API keys.' },
  { name: 'Projects', description: 'What an organization attests for.' },
  { name: 'Bindings', description: 'The contracts and programs of each project.' },
  { name: 'Policies', description: 'Policy documents, their revisions, and the active one.' },
  { name: 'Policy trials', description: 'Checking, testing and simulating, without any effect.' },
  { name: 'Lists', description: 'Addresses that policies look up.' },
  { name: 'Shared lists', description: 'The deployment’s lists, which every organization’s policies may read.' },
  { name: 'Sessions', description: 'Reviewing people and businesses.' },
  { name: 'Screening', description: 'Lists of sanctioned people and companies, and the hits of sessions.' },
  { name: 'Decisions', description: 'Decisions, and the log that proves them.' },
  { name: 'Jobs', description: 'Tasks that take longer than a request.' },
  { name: 'Approvals', description: 'Changes that wait for a second person.' },
  { name: 'Webhooks', description: 'Endpoints that receive session events, and the state of each message.' },
  { name: 'Audit', description: 'The audit log.' },
  { name: 'Attesters', description: 'The keys that sign.' },
  { name: 'Workers', description: 'The signing workers and their queue.' },
  { name: 'Live', description: 'The service’s figures by the second.' },
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
      adminKey: { type: 'http', scheme: 'bearer', description: 'An admin key: csm_live_… or csm_test_…' },
    },
    operations: routes.map(describe),
    problem: ADMIN_PROBLEM,
  })
