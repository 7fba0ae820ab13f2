// Processes with only some roles of the service: their listeners, the secrets that they read, and their cooperation.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createCaller, walletOf } from '../conformance/identity-caller.ts'
import { newFolder } from '../support/folder.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { attestOnce, projectRequest } from './calls.ts'
import { freePort, type RunningService, type ServiceOptions, startService } from './start-service.ts'

const TIMEOUT_MS = 90_000
setDefaultTimeout(TIMEOUT_MS)
const because = POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`

interface Served {
  readonly service: RunningService
  readonly portal: string
  readonly dashboard: string
}

const startRoles = async (serve: string, options: ServiceOptions = {}): Promise<Served> => {
  const addresses = { portal: `127.0.0.1:${freePort()}`, dashboard: `127.0.0.1:${freePort()}` }
  const service = await startService({
    ...options,
    arguments: ['--serve', serve, ...(options.arguments ?? [])],
    environment: {
      COUNTERSIGN_API_LISTEN: `127.0.0.1:${freePort()}`,
      COUNTERSIGN_PORTAL_LISTEN: addresses.portal,
      COUNTERSIGN_DASHBOARD_LISTEN: addresses.dashboard,
      ...options.environment,
    },
  })
  return { service, portal: `http://${addresses.portal}`, dashboard: `http://${addresses.dashboard}` }
}

const statusOf = (url: string, method = 'GET'): Promise<number | 'closed'> =>
  fetch(url, { method }).then(
    ({ status }) => status,
    () => 'closed',
  )

/** Returns the status of each part without credentials; 404 or `closed` if the part is not served. */
const openParts = async ({ service, portal, dashboard }: Served) => ({
  attestation: await statusOf(`${service.url}/v2/attestation`, 'POST'),
  task: await statusOf(`${service.url}/v1/task`, 'POST'),
  identity: await statusOf(`${service.url}/api/v1/verify`, 'POST'),
  document: await statusOf(`${service.url}/openapi.json`),
  portal: await statusOf(`${portal}/robots.txt`),
  dashboard: await statusOf(`${dashboard}/admin/v1/organizations`),
})
const CLOSED = {
  attestation: 404,
  task: 404,
  identity: 404,
  document: 404,
  portal: 'closed',
  dashboard: 'closed',
} as const

const readiness = async ({ url }: RunningService): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/readyz`)).json()) as Record<string, unknown>

const metricsOf = async ({ url }: RunningService): Promise<string> => (await fetch(`${url}/metrics`)).text()

const identityCaller = (service: RunningService) =>
  createCaller(
    { ...service, quickstart: { ...service.quickstart, IDENTITY_URL: service.url } },
    service.quickstart['IDENTITY_TEST_API_KEY'] ?? '',
  )

const verifies = async (service: RunningService, name: string): Promise<void> => {
  const walletAddress = walletOf(name)
  const caller = identityCaller(service)
  await caller.registered({ body: { walletAddress }, headers: { 'countersign-sandbox-outcome': 'completed' } })
  expect(await caller.verified({ address: walletAddress })).toMatchObject({ verified: true })
}

const administer = async ({ service, dashboard }: Served, method: string, path: string, body?: unknown) => {
  const authorization = `Bearer ${service.quickstart['ADMIN_API_KEY']}`
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await fetch(`${dashboard}/admin/v1${path}`, {
    method,
    headers: { authorization, ...type },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: (await answer.json()) as Record<string, unknown> & { data: readonly { id: string }[] },
  }
}

/** Checks that operations with attester keys are refused with the name of the role. */
const refusesKeys = async (served: Served): Promise<void> => {
  const refusal = {
    status: 409,
    type: 'application/problem+json',
    body: { code: 'CONFLICT', detail: expect.stringContaining('requires a process that serves attestation') },
  }
  expect(await administer(served, 'POST', '/attesters', { kind: 'ed25519' })).toMatchObject(refusal)
  const inToken = { kind: 'ed25519', token_key: 'label' }
  expect(await administer(served, 'POST', '/attesters', inToken)).toMatchObject(refusal)
  const [organization] = (await administer(served, 'GET', '/organizations')).body.data
  const projects = `/organizations/${organization?.id}/projects`
  const [project] = (await administer(served, 'GET', projects)).body.data
  const { verification_hash: _, ...request } = projectRequest(served.service)
  const tried = { api_key: served.service.quickstart['ATTESTATION_API_KEY'], request }
  expect(await administer(served, 'POST', `${projects}/${project?.id}/try`, tried)).toMatchObject(refusal)
}

test('a process without attestation cannot create a deployment', async () => {
  const starting = startRoles('identity,portal,dashboard')
  await expect(starting).rejects.toThrow('first start a process that serves attestation')
})

describe('on one machine', () => {
  let dataDirectory: string
  beforeAll(() => {
    dataDirectory = newFolder()
  })

  const withRoles = async (serve: string, check: (served: Served) => Promise<void>, words: string[] = []) => {
    const served = await startRoles(serve, { dataDirectory, arguments: words })
    try {
      await check(served)
    } finally {
      expect(await served.service.stop()).toBe(0)
    }
  }

  test('a process with only the attestation role serves only the attestation API', () =>
    withRoles('attestation', async (served) => {
      const { service } = served
      expect(await openParts(served)).toEqual({ ...CLOSED, attestation: 401, task: 401, document: 200 })
      expect(await attestOnce(service)).toMatchObject({ is_compliant: true })
      const ready = { ready: true, serves: 'attestation', leader: 'here', workers: 1 }
      expect(await readiness(service)).toMatchObject(ready)
      const document = await (await fetch(`${service.url}/openapi.json`)).text()
      expect(document).toContain('/v2/attestation')
      expect(document).not.toContain('/api/v1/verify')
      const metrics = await metricsOf(service)
      expect(metrics).toContain('countersign_leader{role="attestation"} 1')
      expect(metrics).not.toMatch(/^countersign_(leader\{role="identity"|evidence|webhook)/m)
    }))

  test('a process without attestation does not read keystores or passphrases, and does not sign', async () => {
    // Reading a named pipe blocks, so a process that reads one of them never becomes ready.
    const keystores = join(dataDirectory, 'keystores')
    const keys = readdirSync(keystores).map((name) => join(keystores, name))
    const secrets = [...keys, join(dataDirectory, 'secrets/passphrase')]
    expect(secrets.length).toBeGreaterThan(2)
    for (const path of secrets) {
      rmSync(path)
      expect(Bun.spawnSync(['mkfifo', '-m', '600', path]).exitCode).toBe(0)
    }
    await withRoles('identity,portal,dashboard', async (served) => {
      const { service } = served
      expect(await openParts(served)).toEqual({
        ...CLOSED,
        identity: 401,
        document: 200,
        portal: 200,
        dashboard: 401,
      })
      await verifies(service, 'on one machine')
      await refusesKeys(served)
      const ready = await readiness(service)
      expect(ready).toMatchObject({ ready: true, serves: 'identity,portal,dashboard', leader: 'here' })
      expect(ready).not.toContainAnyKeys(['workers', 'signer', 'attesters'])
      expect(ready['checks']).toEqual({ store: 'ok', changes: 'ok', accepting: 'ok' })
      const metrics = await metricsOf(service)
      expect(metrics).toContain('countersign_leader{role="identity"} 1')
      expect(metrics).not.toMatch(/^countersign_(leader\{role="attestation"|workers|pool|attesters)/m)
      expect(service.output().stdout).not.toContain('signing backend')
    })
  })

  test('several processes serve identity without the keys', async () => {
    rmSync(join(dataDirectory, 'keystores'), { recursive: true })
    rmSync(join(dataDirectory, 'secrets/passphrase'))
    await withRoles(
      'identity',
      async (served) => {
        await served.service.logLine(({ message }) => message === 'all processes are ready')
        expect(await openParts(served)).toEqual({ ...CLOSED, identity: 401, document: 200 })
        await verifies(served.service, 'in several processes')
      },
      ['--processes', '2'],
    )
  })
})

describe.skipIf(POSTGRES_MISSING !== null)(`as nodes over one database${because}`, () => {
  let database: TemporaryDatabase
  let folder: string
  const nodes: Served[] = []
  const start = async (
    serve: string,
    shared: readonly string[] = [],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Served> => {
    const dataDirectory = join(folder, serve)
    for (const path of shared) {
      mkdirSync(join(dataDirectory, 'secrets'), { recursive: true, mode: 0o700 })
      cpSync(join(folder, 'attestation', path), join(dataDirectory, path))
    }
    const environment = {
      COUNTERSIGN_STORE: database.address,
      // The dashboard reads the decisions of other nodes there.
      COUNTERSIGN_DECISIONS_SHIP: `dir:${join(folder, 'shipped')}`,
      COUNTERSIGN_DECISIONS_SHIP_INTERVAL_SECONDS: '1',
      ...settings,
    }
    const node = await startRoles(serve, { dataDirectory, environment })
    nodes.push(node)
    return node
  }
  let attestation: Served
  let identity: Served
  let portal: Served
  let dashboard: Served
  beforeAll(async () => {
    folder = newFolder()
    database = await createTemporaryDatabase('nothing')
    for (const name of ['attestation', 'shipped']) mkdirSync(join(folder, name))
    attestation = await start('attestation')
    // Of the secrets, the other nodes get only the evidence key.
    const shared = ['quickstart.env', 'secrets/evidence-key']
    portal = await start('portal', shared)
    identity = await start('identity', shared, { COUNTERSIGN_PORTAL_URL: portal.portal })
    dashboard = await start('dashboard', shared)
  }, TIMEOUT_MS)
  afterAll(async () => {
    await Promise.all(nodes.map(({ service }) => service.stop()))
    await database?.remove()
  }, TIMEOUT_MS)

  test('each node serves only the API of its role', async () => {
    expect(await Promise.all(nodes.map(openParts))).toEqual([
      { ...CLOSED, attestation: 401, task: 401, document: 200 },
      { ...CLOSED, portal: 200 },
      { ...CLOSED, identity: 401, document: 200 },
      { ...CLOSED, dashboard: 401 },
    ])
  })

  test('each node is ready, and leads the tasks of its role', async () => {
    const states = await Promise.all(nodes.map(({ service }) => readiness(service)))
    expect(states.map(({ ready, serves, leader }) => [ready, serves, leader])).toEqual([
      [true, 'attestation', 'here'],
      [true, 'portal', undefined],
      [true, 'identity', 'here'],
      [true, 'dashboard', undefined],
    ])
    const leads = await Promise.all(
      nodes.map(async ({ service }) => (await metricsOf(service)).match(/^countersign_leader\{.*/gm)),
    )
    expect(leads).toEqual([
      ['countersign_leader{role="attestation"} 1'],
      null,
      ['countersign_leader{role="identity"} 1'],
      null,
    ])
  })

  test('nodes without attestation have no decision log, keystore or passphrase', () => {
    const inFolder = (role: string, name: string): string[] => readdirSync(join(folder, role, name))
    expect(inFolder('attestation', 'decisions').length).toBeGreaterThan(1)
    for (const role of ['identity', 'portal', 'dashboard']) {
      expect([role, inFolder(role, 'decisions'), inFolder(role, 'keystores')]).toEqual([role, ['node-name'], []])
      expect(inFolder(role, 'secrets')).not.toContain('passphrase')
    }
  })

  test('the dashboard shows and proves a decision of another node', async () => {
    const { uuid } = (await attestOnce(attestation.service)).attestation
    const [organization] = (await administer(dashboard, 'GET', '/organizations')).body.data
    const decision = `/organizations/${organization?.id}/decisions/${uuid}`
    await until(async () => (await administer(dashboard, 'GET', decision)).status === 200)
    await until(async () => (await administer(dashboard, 'GET', `${decision}/proof`)).status === 200)
  })

  test('other nodes accept a key that the dashboard creates, and a session verifies its wallet', async () => {
    await verifies(identity.service, 'over one database')
    const [organization] = (await administer(dashboard, 'GET', '/organizations')).body.data
    const key = { kind: 'attestation', name: 'created elsewhere' }
    const { status, body } = await administer(dashboard, 'POST', `/organizations/${organization?.id}/keys`, key)
    expect(status).toBe(201)
    const headers = { 'x-api-key': String(body['key']) }
    const request = projectRequest(attestation.service)
    await until(async () => (await attestation.service.attest(request, headers)).status === 200)
  })

  test('the link of the identity node leads to the page of the portal node', async () => {
    const { redirectUrl } = await identityCaller(identity.service).registered()
    expect(redirectUrl).toStartWith(portal.portal)
    const entered = await fetch(`${portal.portal}/api/enter`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: portal.portal },
      body: JSON.stringify({ token: redirectUrl.slice(redirectUrl.lastIndexOf('/') + 1) }),
    })
    expect(entered.status).toBe(200)
    expect(entered.headers.get('set-cookie')).not.toBeNull()
  })

  test('the dashboard refuses operations with attester keys', () => refusesKeys(dashboard))
})
