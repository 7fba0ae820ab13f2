// Every route with every kind of caller, in the caller's organization and in another. The handlers are replaced, so that
// responses show only the gate's decision.
import { describe, expect, test } from 'bun:test'
import type { Access, Route } from '../../src/admin/route.ts'
import { type ApiKeyKind, SCOPES_BY_KIND } from '../../src/domain/api-key.ts'
import { ORGANIZATION_ROLES, type OrganizationRole } from '../../src/store/accounts/role.ts'
import { allKeys } from '../support/all-rows.ts'
import { ADMIN_ROUTES, GATE_ROUTES, pathIn, routeOf } from './support/all-routes.ts'
import { harnessOfFile } from './support/harness.ts'
import { DASHBOARD, problemOf, toRequest } from './support/request.ts'

interface Caller {
  readonly name: string
  readonly cookie?: string
  readonly key?: string
  /** Status of every response, regardless of the route. */
  readonly refused?: 401 | 403
  readonly isPerson?: boolean
  readonly isDeploymentAdmin?: boolean
  /** Roles by slug. */
  readonly roles?: Readonly<Record<string, OrganizationRole>>
  readonly owesSecondFactor?: boolean
}

/** The status that the declared access means for a caller. */
const expected = (access: Access, caller: Caller, slug: string): number => {
  if (access.kind === 'public') return 200
  if (access.kind === 'second-factor') return caller.owesSecondFactor === true ? 200 : 401
  if (caller.refused !== undefined) return caller.refused
  if (caller.owesSecondFactor === true) return 401
  switch (access.kind) {
    case 'caller':
      return 200
    case 'person':
      return caller.isPerson === true ? 200 : 403
    case 'deployment':
      if (caller.isDeploymentAdmin !== true) return 403
      return access.person && caller.isPerson !== true ? 403 : 200
    case 'organization': {
      const isAdmin = caller.isPerson === true && caller.isDeploymentAdmin === true
      const role = isAdmin ? 'organization-admin' : caller.roles?.[slug]
      if (role === undefined) return 404
      if (ORGANIZATION_ROLES.indexOf(role) > ORGANIZATION_ROLES.indexOf(access.role)) return 403
      return access.person && caller.isPerson !== true ? 403 : 200
    }
  }
}

const harness = await harnessOfFile()
const api = harness.apiOver(GATE_ROUTES)
const { store, clock } = harness
const alpha = await harness.organization('alpha')
const beta = await harness.organization('beta')
const person = async (email: string, roles: Record<string, OrganizationRole>, deploymentAdmin = false) => ({
  cookie: (await harness.person({ email, roles, deploymentAdmin })).cookie,
  isPerson: true,
})
/** Includes scopes that no route grants to the kind of caller. */
const keyOf = async (kind: ApiKeyKind, scopes = SCOPES_BY_KIND[kind], changes: object = {}) => ({
  key: await harness.issueKey(alpha.id, kind, scopes, changes),
})
const IN_TESTS = { environment: 'test' }
const EXPIRED = { expiresAtSeconds: clock.unixSeconds() + 1 }
const revoked = await keyOf('admin')
await store.apiKeys.revoke(alpha.id, revoked.key.slice(9, 21))
const root = (name: string) => harness.person({ email: `${name}@example.com`, deploymentAdmin: true })
const disabled = await root('disabled')
await store.users.setDisabled(disabled.id, true)
const ended = await root('ended')
await store.userSessions.endAll(ended.id)
const owing = await harness.signIn((await root('owing')).id, 'second-factor')
const [IN_ALPHA, IN_BETA] = [{ alpha: 'organization-admin' }, { beta: 'organization-admin' }] as const

const callers: readonly Caller[] = [
  { name: 'nobody', refused: 401 },
  { name: 'an unknown cookie', cookie: `countersign=${'a'.repeat(43)}`, refused: 401 },
  { name: 'a malformed key', key: 'csm_live_nonsense', refused: 401 },
  { name: 'a revoked admin key', ...revoked, refused: 401 },
  { name: 'an expired admin key', ...(await keyOf('admin', undefined, EXPIRED)), refused: 401 },
  { name: 'a disabled account', cookie: disabled.cookie, refused: 401 },
  { name: 'an ended session', cookie: ended.cookie, refused: 401 },
  { name: 'an attestation key', ...(await keyOf('attestation')), refused: 403 },
  { name: 'an identity key', ...(await keyOf('identity')), refused: 403 },
  { name: 'a test attestation key', ...(await keyOf('attestation', undefined, IN_TESTS)), refused: 403 },
  { name: 'a test identity key', ...(await keyOf('identity', undefined, IN_TESTS)), refused: 403 },
  {
    name: 'an attestation key for the deployment',
    ...(await keyOf('attestation', ['attestation', 'deployment'])),
    refused: 403,
  },
  {
    name: 'an identity key for the deployment',
    ...(await keyOf('identity', ['identity', 'deployment'])),
    refused: 403,
  },
  { name: 'a deployment key without `admin`', ...(await keyOf('admin', ['deployment'])), refused: 403 },
  { name: 'an expired deployment key', ...(await keyOf('admin', ['admin', 'deployment'], EXPIRED)), refused: 401 },
  { name: 'alpha’s test admin key', ...(await keyOf('admin', undefined, IN_TESTS)), roles: IN_ALPHA },
  { name: 'a session without its second factor', cookie: owing, owesSecondFactor: true },
  { name: 'alpha’s admin key', key: alpha.key, roles: IN_ALPHA },
  { name: 'beta’s admin key', key: beta.key, roles: IN_BETA },
  {
    name: 'alpha’s deployment key',
    ...(await keyOf('admin', ['admin', 'deployment'])),
    isDeploymentAdmin: true,
    roles: IN_ALPHA,
  },
  { name: 'a deployment admin', ...(await person('root@example.com', {}, true)), isDeploymentAdmin: true },
  ...(await Promise.all(
    ORGANIZATION_ROLES.map(async (role) => ({
      name: `alpha’s ${role}`,
      ...(await person(`${role}@alpha.example`, { [alpha.id]: role })),
      roles: { alpha: role },
    })),
  )),
  {
    name: 'beta’s organization admin',
    ...(await person('admin@beta.example', { [beta.id]: 'organization-admin' })),
    roles: IN_BETA,
  },
  {
    name: 'a viewer of alpha who is an admin of beta',
    ...(await person('both@example.com', { [alpha.id]: 'viewer', [beta.id]: 'organization-admin' })),
    roles: { alpha: 'viewer', ...IN_BETA },
  },
  { name: 'an account without a membership', ...(await person('lone@example.com', {})), roles: {} },
]
clock.advance(2)

const callerOf = (name: string): Caller => {
  const caller = callers.find((each) => each.name === name)
  if (caller === undefined) throw new Error(name)
  return caller
}
const credentialsOf = ({ cookie, key }: Pick<Caller, 'cookie' | 'key'>) => ({
  ...(cookie && { cookie }),
  ...(key && { key }),
})
const send = (route: Route, caller: Pick<Caller, 'cookie' | 'key'>, slug: string): Promise<Response> =>
  api(toRequest(route.method, pathIn(slug, route), credentialsOf(caller)))

describe('the table of routes', () => {
  test('contains every kind of access, and an organization in each path whose access requires one', () => {
    const kinds = new Set(ADMIN_ROUTES.map(({ access }) => access.kind))
    expect([...kinds].sort()).toEqual(['caller', 'deployment', 'organization', 'person', 'public', 'second-factor'])
    for (const { path, access, operationId } of ADMIN_ROUTES) {
      expect([operationId, path.includes('{organization}')]).toEqual([operationId, access.kind === 'organization'])
    }
  })

  const ofKind = (kind: Access['kind']) => (route: Route) => route.access.kind === kind
  const ofRole = (role: OrganizationRole, isReading: boolean) => (route: Route) =>
    route.access.kind === 'organization' && route.access.role === role && (route.method === 'GET') === isReading

  test.each<[string, (route: Route) => boolean, string]>([
    [
      'only signing in and documents are public',
      ofKind('public'),
      'describeLink passkeySignIn passkeySignInOptions readAdminDocument readDocument readSignIn signIn useLink',
    ],
    [
      // Evidence is read with a POST, because each read is recorded.
      'reviewers only decide about people',
      ofRole('reviewer', false),
      'assignSession decideListHit decideSession readDocumentZone readEvidenceFields readPolicyDecisionFacts searchSessions ' +
        'simulateSessionPolicy tryThresholds',
    ],
    [
      'any caller reads its account and the language of policies',
      ofKind('caller'),
      'describePolicyLanguage listAttesters listOrganizations listPolicyTemplates readAccount readDeployment readPolicySchema',
    ],
    [
      'viewers cannot read evidence',
      ofRole('reviewer', true),
      'listEvidence listPolicyDecisions listSessions openDocument readDocumentChecks readListChecks readSession',
    ],
    [
      'reviewers cannot read the audit log or the addresses of other systems',
      ofRole('organization-admin', true),
      'exportAudit listAudit listWebhookEndpoints listWebhookMessages readListSource readWebhookMessage',
    ],
    // These operations store nothing.
    ['viewers change nothing', ofRole('viewer', false), 'checkPolicy simulatePolicy testPolicy'],
  ])('%s', (_, wanted, operations) => {
    const found = ADMIN_ROUTES.filter(wanted).map(({ operationId }) => operationId)
    expect(found.sort().join(' ')).toBe(operations)
  })
})

describe('every route with every caller', () => {
  test.each(['alpha', 'beta', 'nowhere'])('in the organization %s', async (slug) => {
    const wrong: string[] = []
    let requests = 0
    for (const route of GATE_ROUTES) {
      if (slug !== 'alpha' && route.access.kind !== 'organization') continue
      for (const caller of callers) {
        const isUnknown = slug === 'nowhere' && caller.refused === undefined && caller.owesSecondFactor !== true
        const wanted = isUnknown ? 404 : expected(route.access, caller, slug)
        const response = await send(route, caller, slug)
        requests += 1
        if (response.status !== wanted) {
          wrong.push(`${route.method} ${pathIn(slug, route)} by ${caller.name}: ${response.status}, not ${wanted}`)
        }
        // A refusal does not reveal whether the organization exists.
        if (wanted === 404) {
          const { detail } = await problemOf(response)
          if (detail !== 'organization not found') wrong.push(`${route.operationId}: ${detail}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(requests).toBeGreaterThan(500)
  })

  test.each([
    ['alpha’s viewer', 'FORBIDDEN_ROLE'],
    ['an identity key', 'FORBIDDEN_SCOPE'],
    ['a session without its second factor', 'SECOND_FACTOR_REQUIRED'],
    ['nobody', 'UNAUTHENTICATED'],
  ])('a refusal to %s has the code %s', async (name, code) => {
    const response = await send(routeOf('issueKey', GATE_ROUTES), callerOf(name), 'alpha')
    expect((await problemOf(response)).code).toBe(code)
  })

  test('the removal of a role takes effect with the next request', async () => {
    const route = routeOf('listKeys', GATE_ROUTES)
    const brief = await harness.member(alpha, 'brief', 'viewer')
    expect((await send(route, brief, 'alpha')).status).toBe(200)
    await store.memberships.remove(alpha.id, brief.id)
    expect((await send(route, brief, 'alpha')).status).toBe(404)
  })
})

describe('a caller cannot issue a key with more permissions than its own', () => {
  const { access } = routeOf('issueKey')
  const wanted = (caller: Caller, kind: ApiKeyKind, deployment: boolean): number => {
    const atGate = expected(access, caller, 'alpha')
    if (atGate !== 200) return atGate
    if (deployment && kind !== 'admin') return 400
    return deployment && caller.isDeploymentAdmin !== true ? 403 : 201
  }

  test.each(
    (['attestation', 'identity', 'admin'] as const).flatMap((kind) =>
      [false, true].map((deployment) => [kind, deployment] as const),
    ),
  )('of the kind %s (for the deployment: %p)', async (kind, deployment) => {
    for (const caller of callers) {
      const before = (await allKeys(store, alpha.id)).length
      const body = { name: 'x', kind, deployment }
      const { status, body: issued } = await harness.call<{ record: { scopes: string[] } }>(
        'POST',
        '/organizations/alpha/keys',
        { ...credentialsOf(caller), body },
      )
      const keys = (await allKeys(store, alpha.id)).length - before
      const expectedStatus = wanted(caller, kind, deployment)
      expect([caller.name, status, keys]).toEqual([caller.name, expectedStatus, expectedStatus === 201 ? 1 : 0])
      if (status === 201) expect(issued.record.scopes).toEqual(deployment ? ['admin', 'deployment'] : [kind])
    }
  })
})

describe('a request with a cookie', () => {
  const cookieFor = (route: Route): string =>
    callerOf(route.access.kind === 'second-factor' ? 'a session without its second factor' : 'a deployment admin')
      .cookie ?? ''
  const sendWith = (route: Route, headers: Readonly<Record<string, string>>): Promise<Response> =>
    api(new Request(`${DASHBOARD}/admin/v1${pathIn('alpha', route)}`, { method: route.method, headers }))

  test.each<[string, Readonly<Record<string, string>>]>([
    ['without an origin', {}],
    ['from another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['from another port', { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' }],
    ['with an opaque origin', { origin: 'null' }],
    ['from the dashboard, but across sites', { origin: DASHBOARD, 'sec-fetch-site': 'cross-site' }],
    ['from an origin that starts with the dashboard’s', { origin: `${DASHBOARD}.evil.example` }],
  ])('%s is refused by every route that makes a change', async (_, headers) => {
    const wrong: string[] = []
    for (const route of GATE_ROUTES.filter(({ method }) => method !== 'GET')) {
      const response = await sendWith(route, { cookie: cookieFor(route), ...headers })
      const { code } = await problemOf(response)
      if (response.status !== 403 || code !== 'FORBIDDEN_ORIGIN') {
        wrong.push(`${route.operationId}: ${response.status} ${code}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test.each([DASHBOARD, 'http://127.0.0.1:8082', 'http://[::1]:8082'])('from %s is accepted', async (origin) => {
    const route = routeOf('resizePool', GATE_ROUTES)
    expect((await sendWith(route, { cookie: cookieFor(route), origin })).status).toBe(200)
  })

  test('requires an Origin header; a request with a key does not, because browsers do not send keys', async () => {
    const headers = { authorization: `Bearer ${alpha.key}` }
    expect((await sendWith(routeOf('issueKey', GATE_ROUTES), headers)).status).toBe(200)
  })
})
