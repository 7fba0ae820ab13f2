// Two organizations over every route with an id in its path: another's id is unknown (404), whoever asks, and what it names
// stays as it is.
import { afterAll, describe, expect, test } from 'bun:test'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import { LIMITED_ITEMS } from '../store/limited-items.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { decisionRecord, uuidOf } from './support/decisions.ts'
import { startHarness } from './support/harness.ts'
import { openHit } from './support/open-hit.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const { store } = harness

const SOURCE = 'name: Tenant\nrules: []\n'

const seed = async (slug: string, n: number) => {
  const { id, key } = await harness.organization(slug)
  const admin = await harness.person({ email: `admin@${slug}.example`, roles: { [id]: 'organization-admin' } })
  const policy = await store.policies.create({ organizationId: id, name: slug })
  const revision = await store.policies.saveRevision({
    organizationId: id,
    policyId: policy.id,
    source: SOURCE,
    quorum: 1,
  })
  const project = await store.projects.create({ organizationId: id, name: slug, policyId: policy.id })
  const items: Record<string, string> = {}
  for (const { parameter, create } of Object.values(LIMITED_ITEMS)) {
    const item = await create(store, { organizationId: id, policyId: policy.id, projectId: project.id }, slug)
    if (parameter !== undefined && item !== undefined) items[parameter] = item
  }
  const session = await harness.session(id, ['submitted'])
  const hit = await openHit(store, id, session)
  const [message] = (await store.webhookMessages.page(id, {}, { after: null, limit: 1 })).items
  const job = await store.tasks.create({ organizationId: id, kind: 'test', input: {}, actor: 'service' })
  const ids: Readonly<Record<string, string>> = {
    ...items,
    policy: policy.id,
    revision: revision?.id ?? '',
    address: `0x${String(n).repeat(40)}`,
    session,
    document: 'evidence_0000000000000000',
    job: job.id,
    uuid: uuidOf(n),
    message: message?.id ?? '',
    hit: hit.id,
  }
  return { id, key, cookie: admin.cookie, ids }
}

const alpha = await seed('alpha', 1)
const beta = await seed('beta', 2)
harness.decide(decisionRecord(1, { organization: alpha.id }), decisionRecord(2, { organization: beta.id }))

/** Bodies that would be right, so that nothing but the id is wrong. */
const BODIES: Readonly<Record<string, object>> = {
  changeMember: { role: 'viewer' },
  changeMemberOffer: { role: 'viewer' },
  changeProject: { name: 'taken' },
  labelAddress: { label: 'taken' },
  tryProject: { api_key: 'a key', request: {} },
  saveRevision: { source: SOURCE },
  activateRevision: { revision_id: 'revision_x' },
  shadowRevision: { revision_id: null },
  setListSource: { url: 'https://lists.example/a.csv', format: 'csv' },
  editList: { add: [{ address: '0x1111111111111111111111111111111111111111' }] },
  assignSession: { user_id: null, version: 0 },
  decideSession: { status: 'rejected', sequence: 2, private_comment: 'x' },
  revokeSession: { status: 'rejected', sequence: 2, private_comment: 'x' },
  decideListHit: { state: 'cleared', reason: 'somebody else' },
  decideApproval: { approve: false },
  changeWebhookEndpoint: { paused: true },
  setWebhookService: { service: 'veriff', secret: 'countersign-test-secret' },
}

const QUERIES: Readonly<Record<string, string>> = { diffRevisions: '?from=revision_x&to=revision_y' }

/** All rows of the organization, by table. */
const snapshot = async (id: string) => {
  const rows: Record<string, readonly unknown[]> = {}
  for (const { name, columns, key } of await readCatalog(store.database, store.kind)) {
    if (!columns.includes('organization_id')) continue
    const select = `SELECT * FROM ${name} WHERE organization_id = ? ORDER BY ${key.join(', ')}`
    rows[name] = await store.database.query(select, [id])
  }
  return rows
}

describe('another organization’s id', () => {
  const routes = ADMIN_ROUTES.filter(
    ({ path }) =>
      path.startsWith('/organizations/{organization}/') &&
      /\{/.test(path.slice(30)) &&
      // A wallet belongs to no organization.
      !path.includes('/wallets/{wallet}/'),
  )

  test('is in every path that has one', () => {
    expect(routes.length).toBeGreaterThan(30)
    const names = new Set(
      routes.flatMap(({ path }) => [...path.slice(30).matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')),
    )
    for (const name of names) expect([name, alpha.ids[name] !== undefined]).toEqual([name, true])
  })

  for (const caller of ['key', 'person'] as const) {
    test(`is unknown to a ${caller} of one’s own, and untouched`, async () => {
      const before = await snapshot(beta.id)
      const wrong: string[] = []
      for (const route of routes) {
        // One's own organization in the path, the other's ids in the rest of it.
        const path = route.path
          .replace('{organization}', 'alpha')
          .replaceAll(/\{([^}]+)\}/g, (_, name: string) => beta.ids[name] ?? '')
        const file = { raw: `0x${'1'.repeat(40)}\n`, headers: { 'content-type': 'text/plain' } }
        const response = await harness.request(route.method, path + (QUERIES[route.operationId] ?? ''), {
          ...(caller === 'key' ? { key: alpha.key } : { cookie: alpha.cookie }),
          body: BODIES[route.operationId] ?? (route.body === null ? undefined : {}),
          ...(route.rawBody.length > 0 && file),
        })
        // A key is told first that a person is asked for; that there is nothing there it learns from neither.
        const personOnly = route.access.kind === 'organization' && route.access.person === true && caller === 'key'
        const wanted = personOnly ? 403 : 404
        if (response.status !== wanted) wrong.push(`${route.operationId}: ${response.status} ${await response.text()}`)
      }
      expect(wrong).toEqual([])
      expect(await snapshot(beta.id)).toEqual(before)
    })
  }

  test('can’t be linked to from one’s own rows', async () => {
    const call = (path: string, body: object, method = 'POST') =>
      harness.request(method, `/organizations/alpha${path}`, { key: alpha.key, body })
    const { policy, project, revision, user } = beta.ids
    const responses = [
      await call('/projects', { name: 'x', policy_id: policy }),
      await call(`/projects/${alpha.ids['project']}`, { policy_id: policy }, 'PATCH'),
      await call('/bindings', { project_id: project, chain: 'base', address: `0x${'3'.repeat(40)}` }),
      await call(`/policies/${alpha.ids['policy']}/activate`, { revision_id: revision }),
      await call(`/policies/${alpha.ids['policy']}/shadow`, { revision_id: revision }, 'PUT'),
      await call(`/sessions/${alpha.ids['session']}/assignment`, { user_id: user, version: 0 }, 'PUT'),
      await call('/policies/simulate', {
        revision_id: revision,
        request: { chain: 'base', from: `0x${'1'.repeat(40)}` },
      }),
      await call('/policies/simulate', { source: SOURCE, decision: beta.ids['uuid'] }),
    ]
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404))
  })

  test('is in no list of one’s own', async () => {
    const theirs = [...Object.values(beta.ids), beta.id].filter((id) => id !== beta.ids['document'])
    for (const { path, method, access, operationId } of ADMIN_ROUTES) {
      if (method !== 'GET' || access.kind !== 'organization' || /\{/.test(path.slice(30))) continue
      const query = operationId === 'exportDecisions' ? '?format=ndjson' : ''
      const text = await (
        await harness.request('GET', path.replace('{organization}', 'alpha') + query, { key: alpha.key })
      ).text()
      for (const id of theirs) expect([operationId, text.includes(id)]).toEqual([operationId, false])
    }
    const organizations = await (await harness.request('GET', '/organizations', { cookie: alpha.cookie })).text()
    expect(organizations).toContain(alpha.id)
    expect(organizations).not.toContain(beta.id)
  })
})

describe('searching decisions', () => {
  test('finds one’s own only, also by another’s wallet', async () => {
    for (const [slug, { key }, own] of [
      ['alpha', alpha, 1],
      ['beta', beta, 2],
    ] as const) {
      const search = async (query: string) =>
        (await harness.call('GET', `/organizations/${slug}/decisions${query}`, { key })).body['data']
      expect(await search('')).toMatchObject([{ uuid: uuidOf(own) }])
      expect(await search(`?wallet=${decisionRecord(3 - own).from}`)).toEqual([])
    }
  })
})
