// Every route with an id in its path, in two organizations: an id of the other organization is unknown (404), and its item does
// not change.
import { describe, expect, test } from 'bun:test'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import { LIMITED_ITEMS } from '../store/limited-items.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { decisionRecord, uuidOf } from './support/decisions.ts'
import { harnessOfFile } from './support/harness.ts'
import { openHit } from './support/open-hit.ts'
import { textFile } from './support/request.ts'

const harness = await harnessOfFile()
const { store } = harness

const SOURCE = 'name: Tenant\nrules: []\n'

const seed = async (slug: string, n: number) => {
  const { id, key } = await harness.organization(slug)
  const { cookie } = await harness.member({ id }, `admin-of-${slug}`)
  const organizationId = id
  const { id: policyId } = await store.policies.create({ organizationId, name: slug })
  const revision = await store.policies.saveRevision({ organizationId, policyId, source: SOURCE, quorum: 1 })
  const { id: projectId } = await store.projects.create({ organizationId, name: slug, policyId })
  const items: Record<string, string> = {}
  for (const { parameter, create } of Object.values(LIMITED_ITEMS)) {
    const item = await create(store, { organizationId, policyId, projectId }, slug)
    if (parameter !== undefined && item !== undefined) items[parameter] = item
  }
  const session = await harness.session(id, ['submitted'])
  const hit = await openHit(store, id, session)
  const [message] = (await store.webhookMessages.page(id, {}, { after: null, limit: 1 })).items
  const job = await store.tasks.create({ organizationId, kind: 'test', input: {}, actor: 'service' })
  const ids: Readonly<Record<string, string>> = {
    ...items,
    policy: policyId,
    revision: revision?.id ?? '',
    address: `0x${String(n).repeat(40)}`,
    session,
    document: 'evidence_0000000000000000',
    job: job.id,
    uuid: uuidOf(n),
    message: message?.id ?? '',
    hit: hit.id,
  }
  return { id, key, cookie, ids }
}

const alpha = await seed('alpha', 1)
const beta = await seed('beta', 2)
harness.decide(decisionRecord(1, { organization: alpha.id }), decisionRecord(2, { organization: beta.id }))

/** A valid body for each operation. */
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
  decideListHit: { state: 'cleared', reason: 'another person' },
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

  test('is defined in this test for each parameter', () => {
    expect(routes.length).toBeGreaterThan(30)
    const names = new Set(
      routes.flatMap(({ path }) => [...path.slice(30).matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')),
    )
    for (const name of names) expect([name, alpha.ids[name] !== undefined]).toEqual([name, true])
  })

  for (const caller of ['key', 'person'] as const) {
    test(`is unknown to a ${caller}, and its item does not change`, async () => {
      const before = await snapshot(beta.id)
      const wrong: string[] = []
      for (const route of routes) {
        const path = route.path
          .replace('{organization}', 'alpha')
          .replaceAll(/\{([^}]+)\}/g, (_, name: string) => beta.ids[name] ?? '')
        const response = await harness.request(route.method, path + (QUERIES[route.operationId] ?? ''), {
          ...(caller === 'key' ? { key: alpha.key } : { cookie: alpha.cookie }),
          body: BODIES[route.operationId] ?? (route.body === null ? undefined : {}),
          ...(route.rawBody.length > 0 && textFile(`0x${'1'.repeat(40)}\n`)),
        })
        // A route for people refuses a key before it searches for the id.
        const isForPeople = route.access.kind === 'organization' && route.access.person === true
        const wanted = isForPeople && caller === 'key' ? 403 : 404
        if (response.status !== wanted) wrong.push(`${route.operationId}: ${response.status} ${await response.text()}`)
      }
      expect(wrong).toEqual([])
      expect(await snapshot(beta.id)).toEqual(before)
    })
  }

  test('cannot be used in an item of the organization', async () => {
    const { policy: policy_id, project: project_id, revision: revision_id, user: user_id, uuid } = beta.ids
    const { policy, project, session } = alpha.ids
    const request = { chain: 'base', from: `0x${'1'.repeat(40)}` }
    for (const [method, path, body] of [
      ['POST', '/projects', { name: 'x', policy_id }],
      ['PATCH', `/projects/${project}`, { policy_id }],
      ['POST', '/bindings', { project_id, chain: 'base', address: `0x${'3'.repeat(40)}` }],
      ['POST', `/policies/${policy}/activate`, { revision_id }],
      ['PUT', `/policies/${policy}/shadow`, { revision_id }],
      ['PUT', `/sessions/${session}/assignment`, { user_id, version: 0 }],
      ['POST', '/policies/simulate', { revision_id, request }],
      ['POST', '/policies/simulate', { source: SOURCE, decision: uuid }],
    ] as const) {
      const status = await harness.status(method, `/organizations/alpha${path}`, { key: alpha.key, body })
      expect([method, path, status]).toEqual([method, path, 404])
    }
  })

  test('is in no list of the organization', async () => {
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

test.each([
  ['alpha', alpha, 1],
  ['beta', beta, 2],
] as const)(
  'a search finds only decisions of %s, even by a wallet of the other organization',
  async (slug, { key }, own) => {
    const search = async (query: string) =>
      (await harness.call('GET', `/organizations/${slug}/decisions${query}`, { key })).body['data']
    expect(await search('')).toMatchObject([{ uuid: uuidOf(own) }])
    expect(await search(`?wallet=${decisionRecord(3 - own).from}`)).toEqual([])
  },
)
