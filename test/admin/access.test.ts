// Who may call what: every route of the table by every kind of caller, in its own organization and in another's. The routes'
// own work is taken out, so that what is answered is the gate's decision alone.
import { afterAll, describe, expect, test } from 'bun:test'
import { type Access, Reply, type Route } from '../../src/admin/route.ts'
import { type ApiKeyKind, SCOPES_BY_KIND } from '../../src/domain/api-key.ts'
import { ORGANIZATION_ROLES, type OrganizationRole } from '../../src/store/accounts/role.ts'
import { allKeys } from '../support/all-rows.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

interface Caller {
  readonly name: string
  readonly cookie?: string
  readonly key?: string
  /** What it is answered before anything else of it counts. */
  readonly refused?: 401 | 403
  readonly person?: boolean
  readonly deployment?: boolean
  /** Slug → role. */
  readonly roles?: Readonly<Record<string, OrganizationRole>>
  readonly pending?: boolean
}

const STUBS: readonly Route[] = ADMIN_ROUTES.map((route) => ({
  ...route,
  query: null,
  body: null,
  needsFresh: () => false,
  handle: async () => new Reply(200, { admitted: true }),
}))

const pathOf = (route: Route, slug: string): string =>
  route.path.replace('{organization}', slug).replaceAll(/\{[^}]+\}/g, 'some-id')

/** What the declared access means for a caller. */
const expected = (access: Access, caller: Caller, slug: string): number => {
  if (access.kind === 'public') return 200
  if (access.kind === 'second-factor') return caller.pending === true ? 200 : 401
  if (caller.refused !== undefined) return caller.refused
  if (caller.pending === true) return 401
  switch (access.kind) {
    case 'caller':
      return 200
    case 'person':
      return caller.person === true ? 200 : 403
    case 'deployment':
      if (caller.deployment !== true) return 403
      return access.person && caller.person !== true ? 403 : 200
    case 'organization': {
      const role = caller.person === true && caller.deployment === true ? 'organization-admin' : caller.roles?.[slug]
      if (role === undefined) return 404
      if (ORGANIZATION_ROLES.indexOf(role) > ORGANIZATION_ROLES.indexOf(access.role)) return 403
      return access.person && caller.person !== true ? 403 : 200
    }
  }
}

const harness = await startHarness()
afterAll(() => harness.close())
const api = harness.apiOver(STUBS)
const { store, clock } = harness
const alpha = await harness.organization('alpha')
const beta = await harness.organization('beta')
const person = async (email: string, roles: Record<string, OrganizationRole>, deploymentAdmin = false) =>
  (await harness.person({ email, roles, deploymentAdmin })).cookie
/** Of kinds and scopes that no route gives, too: what is stored is not what decides, but what it says is. */
const keyOf = (kind: ApiKeyKind, scopes = SCOPES_BY_KIND[kind], changes: object = {}): Promise<string> =>
  harness.issueKey(alpha.id, kind, scopes, changes)
const IN_TESTS = { environment: 'test' }
const EXPIRED = { expiresAtSeconds: clock.unixSeconds() + 1 }
const revoked = await keyOf('admin')
await store.apiKeys.revoke(alpha.id, revoked.slice(9, 21))
const disabled = await harness.person({ email: 'disabled@example.com', deploymentAdmin: true })
await store.users.setDisabled(disabled.id, true)
const ended = await harness.person({ email: 'ended@example.com', deploymentAdmin: true })
await store.userSessions.endAll(ended.id)
const owing = await harness.person({ email: 'owing@example.com', deploymentAdmin: true })

const callers: readonly Caller[] = [
  { name: 'nobody', refused: 401 },
  { name: 'a cookie of nobody’s', cookie: `countersign=${'a'.repeat(43)}`, refused: 401 },
  { name: 'a malformed key', key: 'csm_live_nonsense', refused: 401 },
  { name: 'a revoked admin key', key: revoked, refused: 401 },
  { name: 'an expired admin key', key: await keyOf('admin', undefined, EXPIRED), refused: 401 },
  { name: 'a disabled account', cookie: disabled.cookie, refused: 401 },
  { name: 'an ended session', cookie: ended.cookie, refused: 401 },
  { name: 'an attestation key', key: await keyOf('attestation'), refused: 403 },
  { name: 'an identity key', key: await keyOf('identity'), refused: 403 },
  { name: 'an attestation key for tests', key: await keyOf('attestation', undefined, IN_TESTS), refused: 403 },
  { name: 'an identity key for tests', key: await keyOf('identity', undefined, IN_TESTS), refused: 403 },
  {
    name: 'an attestation key that says `deployment`',
    key: await keyOf('attestation', ['attestation', 'deployment']),
    refused: 403,
  },
  {
    name: 'an identity key that says `deployment`',
    key: await keyOf('identity', ['identity', 'deployment']),
    refused: 403,
  },
  {
    name: 'an admin key that says `deployment` and not `admin`',
    key: await keyOf('admin', ['deployment']),
    refused: 403,
  },
  { name: 'an expired deployment key', key: await keyOf('admin', ['admin', 'deployment'], EXPIRED), refused: 401 },
  {
    name: 'alpha’s admin key for tests',
    key: await keyOf('admin', undefined, IN_TESTS),
    roles: { alpha: 'organization-admin' },
  },
  {
    name: 'a session that owes its second factor',
    cookie: await harness.signIn(owing.id, 'second-factor'),
    pending: true,
  },
  { name: 'alpha’s admin key', key: alpha.key, roles: { alpha: 'organization-admin' } },
  { name: 'beta’s admin key', key: beta.key, roles: { beta: 'organization-admin' } },
  {
    name: 'alpha’s deployment key',
    key: await keyOf('admin', ['admin', 'deployment']),
    deployment: true,
    roles: { alpha: 'organization-admin' },
  },
  { name: 'a deployment admin', cookie: await person('root@example.com', {}, true), person: true, deployment: true },
  ...(await Promise.all(
    ORGANIZATION_ROLES.map(
      async (role): Promise<Caller> => ({
        name: `alpha’s ${role}`,
        cookie: await person(`${role}@alpha.example`, { [alpha.id]: role }),
        person: true,
        roles: { alpha: role },
      }),
    ),
  )),
  {
    name: 'beta’s organization admin',
    cookie: await person('admin@beta.example', { [beta.id]: 'organization-admin' }),
    person: true,
    roles: { beta: 'organization-admin' },
  },
  {
    name: 'a viewer of alpha who administers beta',
    cookie: await person('both@example.com', { [alpha.id]: 'viewer', [beta.id]: 'organization-admin' }),
    person: true,
    roles: { alpha: 'viewer', beta: 'organization-admin' },
  },
  {
    name: 'an account without any membership',
    cookie: await person('lone@example.com', {}),
    person: true,
    roles: {},
  },
]
clock.advance(2)

const send = (route: Route, caller: Caller, slug: string): Promise<Response> =>
  api(
    toRequest(route.method, pathOf(route, slug), {
      ...(caller.cookie && { cookie: caller.cookie }),
      ...(caller.key && { key: caller.key }),
    }),
  )

describe('the table of routes', () => {
  test('has every kind of access, and organizations in the path exactly where the access says so', () => {
    const kinds = new Set(ADMIN_ROUTES.map(({ access }) => access.kind))
    expect([...kinds].sort()).toEqual(['caller', 'deployment', 'organization', 'person', 'public', 'second-factor'])
    for (const { path, access, operationId } of ADMIN_ROUTES) {
      expect([operationId, path.includes('{organization}')]).toEqual([operationId, access.kind === 'organization'])
    }
  })

  const operations = (wanted: (route: Route) => boolean): readonly string[] =>
    ADMIN_ROUTES.filter(wanted)
      .map(({ operationId }) => operationId)
      .sort()
  const changing = (role: OrganizationRole) =>
    operations(({ access, method }) => method !== 'GET' && access.kind === 'organization' && access.role === role)

  test('opens nothing to everyone but what signs people in, and the documents', () => {
    expect(operations(({ access }) => access.kind === 'public')).toEqual([
      'describeLink',
      'passkeySignIn',
      'passkeySignInOptions',
      'readAdminDocument',
      'readDocument',
      'readSignIn',
      'signIn',
      'useLink',
    ])
  })

  test('lets reviewers change what is decided of people, and nothing else', () => {
    // Evidence is read by a POST, since each reading is put on record.
    expect(changing('reviewer')).toEqual([
      'assignSession',
      'decideListHit',
      'decideSession',
      'readDocumentZone',
      'readEvidenceFields',
      'readPolicyDecisionFacts',
      'searchSessions',
      'simulateSessionPolicy',
      'tryThresholds',
    ])
  })

  test('lets whoever is anybody read who they are, and change nothing', () => {
    const open = operations(({ access }) => access.kind === 'caller')
    expect(open.join(' ')).toBe(
      'describePolicyLanguage listAttesters listOrganizations listPolicyTemplates readAccount readDeployment readPolicySchema',
    )
  })

  test('keeps evidence from viewers, and the audit log and addresses of other systems from reviewers', () => {
    const reading = (role: OrganizationRole) =>
      operations(({ access, method }) => method === 'GET' && access.kind === 'organization' && access.role === role)
    expect([reading('reviewer').join(' '), reading('organization-admin').join(' ')]).toEqual([
      'listEvidence listPolicyDecisions listSessions openDocument readDocumentChecks readListChecks readSession',
      'exportAudit listAudit listWebhookEndpoints listWebhookMessages readListSource readWebhookMessage',
    ])
  })

  test('lets viewers change nothing', () => {
    // These are questions with a body: nothing is stored.
    expect(changing('viewer')).toEqual(['checkPolicy', 'simulatePolicy', 'testPolicy'])
  })
})

describe('every route, every caller, every organization', () => {
  for (const slug of ['alpha', 'beta', 'nowhere']) {
    test(`at ${slug}`, async () => {
      const wrong: string[] = []
      let seen = 0
      for (const route of STUBS) {
        if (slug !== 'alpha' && route.access.kind !== 'organization') continue
        for (const caller of callers) {
          const wanted =
            slug === 'nowhere' && caller.refused === undefined && caller.pending !== true
              ? 404
              : expected(route.access, caller, slug)
          const response = await send(route, caller, slug)
          seen += 1
          if (response.status !== wanted) {
            wrong.push(`${route.method} ${pathOf(route, slug)} by ${caller.name}: ${response.status}, not ${wanted}`)
          }
          // A refusal says nothing of whether there is such an organization.
          if (wanted === 404) {
            const body = (await response.json()) as { detail: string }
            if (body.detail !== 'organization not found') wrong.push(`${route.operationId}: ${body.detail}`)
          }
        }
      }
      expect(wrong).toEqual([])
      expect(seen).toBeGreaterThan(500)
    })
  }

  test('a 403 comes with a code that says which kind it is', async () => {
    const route = STUBS.find(({ operationId }) => operationId === 'issueKey') as Route
    const code = async (name: string): Promise<unknown> => {
      const caller = callers.find((candidate) => candidate.name === name) as Caller
      return ((await (await send(route, caller, 'alpha')).json()) as { code: string }).code
    }
    expect(await code('alpha’s viewer')).toBe('FORBIDDEN_ROLE')
    expect(await code('an identity key')).toBe('FORBIDDEN_SCOPE')
    expect(await code('a session that owes its second factor')).toBe('SECOND_FACTOR_REQUIRED')
    expect(await code('nobody')).toBe('UNAUTHENTICATED')
  })

  test('a role that is taken away is gone with the next request', async () => {
    const route = STUBS.find(({ operationId }) => operationId === 'listKeys') as Route
    const { id, cookie } = await harness.person({ email: 'brief@example.com', roles: { [alpha.id]: 'viewer' } })
    expect((await send(route, { name: '', cookie }, 'alpha')).status).toBe(200)
    await store.memberships.remove(alpha.id, id)
    expect((await send(route, { name: '', cookie }, 'alpha')).status).toBe(404)
  })
})

describe('issuing a key: nobody gives what they have not got', () => {
  const issueKey = ADMIN_ROUTES.find(({ operationId }) => operationId === 'issueKey') as Route

  const wanted = (caller: Caller, kind: ApiKeyKind, deployment: boolean): number => {
    const atGate = expected(issueKey.access, caller, 'alpha')
    if (atGate !== 200) return atGate
    if (deployment && kind !== 'admin') return 400
    return deployment && caller.deployment !== true ? 403 : 201
  }

  for (const kind of ['attestation', 'identity', 'admin'] as const) {
    for (const deployment of [false, true]) {
      test(`of kind ${kind}${deployment ? ' with the scope `deployment`' : ''}, by every caller`, async () => {
        const outcomes = new Map<string, readonly [status: number, keys: number]>()
        const hoped = new Map<string, readonly [status: number, keys: number]>()
        for (const caller of callers) {
          const before = (await allKeys(store, alpha.id)).length
          const response = await harness.request('POST', '/organizations/alpha/keys', {
            ...(caller.key && { key: caller.key }),
            ...(caller.cookie && { cookie: caller.cookie }),
            body: { name: 'x', kind, deployment },
          })
          const keys = await allKeys(store, alpha.id)
          outcomes.set(caller.name, [response.status, keys.length - before])
          const status = wanted(caller, kind, deployment)
          hoped.set(caller.name, [status, status === 201 ? 1 : 0])
          if (response.status !== 201) continue
          const { record } = (await response.json()) as { record: { scopes: string[] } }
          expect(record.scopes).toEqual(deployment ? ['admin', 'deployment'] : [kind])
        }
        expect(outcomes).toEqual(hoped)
      })
    }
  }
})

describe('requests that a cookie authenticates (threats row 23)', () => {
  const unsafe = STUBS.filter(({ method }) => method !== 'GET')
  const cookieOf = (route: Route): string | undefined => {
    const name = route.access.kind === 'second-factor' ? 'a session that owes its second factor' : 'a deployment admin'
    return callers.find((caller) => caller.name === name)?.cookie
  }
  const forged: ReadonlyArray<{ readonly what: string; readonly headers: Readonly<Record<string, string>> }> = [
    { what: 'without an origin', headers: {} },
    { what: 'from another site', headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } },
    { what: 'from another port', headers: { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' } },
    { what: 'with an opaque origin', headers: { origin: 'null' } },
    {
      what: 'by its own origin but across sites',
      headers: { origin: 'http://localhost:8082', 'sec-fetch-site': 'cross-site' },
    },
    { what: 'by an origin that only begins alike', headers: { origin: 'http://localhost:8082.evil.example' } },
  ]
  for (const { what, headers } of forged) {
    test(`are refused ${what}, on every route that changes something`, async () => {
      const wrong: string[] = []
      for (const route of unsafe) {
        const cookie = cookieOf(route) ?? ''
        const request = new Request(`http://localhost:8082/admin/v1${pathOf(route, 'alpha')}`, {
          method: route.method,
          headers: { cookie, ...headers },
        })
        const response = await api(request)
        const { code } = (await response.json()) as { code?: string }
        if (response.status !== 403 || code !== 'FORBIDDEN_ORIGIN')
          wrong.push(`${route.operationId}: ${response.status} ${code}`)
      }
      expect(wrong).toEqual([])
    })
  }

  test('are taken from the dashboard by each of its names', async () => {
    const route = STUBS.find(({ operationId }) => operationId === 'resizePool') as Route
    for (const origin of ['http://localhost:8082', 'http://127.0.0.1:8082', 'http://[::1]:8082']) {
      const request = new Request('http://localhost:8082/admin/v1/pool', {
        method: 'PATCH',
        headers: { cookie: cookieOf(route) ?? '', origin },
      })
      expect([origin, (await api(request)).status]).toEqual([origin, 200])
    }
  })

  test('a key needs no origin: no browser sends one by itself', async () => {
    const route = STUBS.find(({ operationId }) => operationId === 'issueKey') as Route
    const key = callers.find(({ name }) => name === 'alpha’s admin key')?.key ?? ''
    const request = new Request(`http://localhost:8082/admin/v1${pathOf(route, 'alpha')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    expect((await api(request)).status).toBe(200)
  })
})
