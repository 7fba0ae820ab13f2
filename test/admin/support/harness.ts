// The admin API on a store in a temporary folder, without a listener. Its workers, index and tasks run in the thread of the
// test or are fakes.
import { afterAll, afterEach, beforeEach } from 'bun:test'
import { dirname, join } from 'node:path'
import { createChallenges } from '../../../src/admin/accounts/challenges.ts'
import { createCookies } from '../../../src/admin/accounts/cookie.ts'
import { createKnownDevices } from '../../../src/admin/accounts/known-device.ts'
import { createDashboardOrigins } from '../../../src/admin/accounts/origin.ts'
import { createPasskeys } from '../../../src/admin/accounts/passkeys.ts'
import { createPasswords } from '../../../src/admin/accounts/password.ts'
import { createSecretBox } from '../../../src/admin/accounts/secret-box.ts'
import { createSessions } from '../../../src/admin/accounts/sessions.ts'
import { createSignIn, type SignInAttempt } from '../../../src/admin/accounts/sign-in.ts'
import { createThrottle } from '../../../src/admin/accounts/throttle.ts'
import { adminPlugin } from '../../../src/admin/admin-api.ts'
import { createDecisionSearch } from '../../../src/admin/decisions/search.ts'
import { createDownloads } from '../../../src/admin/downloads.ts'
import { createAdminGate } from '../../../src/admin/gate.ts'
import { createAdminIdempotency } from '../../../src/admin/idempotency.ts'
import { createListUploads } from '../../../src/admin/list-uploads.ts'
import { createLiveStreams } from '../../../src/admin/live/streams.ts'
import { createLiveWatch } from '../../../src/admin/live/watch.ts'
import { adminDocument } from '../../../src/admin/openapi/admin.ts'
import type { Route } from '../../../src/admin/route.ts'
import type { Services } from '../../../src/admin/services.ts'
import { createTaskRunner } from '../../../src/admin/task-runner.ts'
import { PROVE_DECISION } from '../../../src/attestation/proof-endpoint.ts'
import { openSegment } from '../../../src/decision-log/segment.ts'
import type { LogRecord } from '../../../src/decision-log/types.ts'
import type { ApiKeyKind, ApiKeyScope } from '../../../src/domain/api-key.ts'
import { createChainTable } from '../../../src/domain/chain.ts'
import { FieldInvalidError } from '../../../src/domain/errors.ts'
import { newSessionId } from '../../../src/domain/identifier.ts'
import type { NearNames } from '../../../src/domain/screening-hit.ts'
import type { SessionStatus } from '../../../src/domain/session.ts'
import { targetOf } from '../../../src/identity/evidence/vault.ts'
import { createCountedSlots } from '../../../src/lib/counted-slots.ts'
import { findServiceAmong, provide } from '../../../src/lib/service-key.ts'
import { lastingTimers, systemClock } from '../../../src/lib/time.ts'
import { createFairWork } from '../../../src/policy/fair-work.ts'
import type { FactNeed } from '../../../src/policy/types/needs.ts'
import { createAuthenticator } from '../../../src/server/authenticate.ts'
import { createDeadlines } from '../../../src/server/deadline.ts'
import { createRefusalPacer } from '../../../src/server/event-loop-turns.ts'
import { toProblem } from '../../../src/server/problem.ts'
import { createRateLimiter } from '../../../src/server/rate-limit.ts'
import { createRequestIds } from '../../../src/server/request-id.ts'
import { ASK_TOKEN } from '../../../src/signing/token-service.ts'
import type { OrganizationRole } from '../../../src/store/accounts/role.ts'
import type { AuditEntry, AuditFilter } from '../../../src/store/audit.ts'
import type { NewApiKey } from '../../../src/store/organizations/api-keys.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createDecisionIndex } from '../../../workers/index/decision-index.ts'
import { openTemporaryStore, temporaryFolder } from '../../store/temporary-store.ts'
import { ADMIN_ROUTES } from './all-routes.ts'
import { checkConformance } from './conformance.ts'
import { FIRST_MS } from './decisions.ts'
import { answerIndex, createFakePool, createFakeProcesses } from './fakes.ts'
import { moduleServices } from './module-services.ts'
import { ADDRESS, ADDRESS_HEADER, bodyOf, type CallOptions, DASHBOARD, toRequest } from './request.ts'

export const PASSWORD = 'correct horse battery staple'

const ADMIN_DOCUMENT = adminDocument(ADMIN_ROUTES, '0.0.0', false)

const CALLER = { userAgent: 'test', address: '127.0.0.1', sessionToken: null, deviceToken: null }

export interface Organization {
  readonly id: string
  readonly slug: string
  readonly key: string
}

export interface Person {
  readonly id: string
  readonly cookie: string
}

export const startHarness = async (open = openTemporaryStore) => {
  const temporary = await open()
  const { store, clock } = temporary
  // Next to the SQLite file, if the store is SQLite.
  const files = temporary.path === '' ? temporaryFolder() : null
  const folder = files?.path ?? dirname(temporary.path)
  const reported: unknown[] = []
  const pool = createFakePool()
  const metrics = createMetrics({
    chains: ['base'],
    build: { version: '0', runtime: '0', signer: 'noble', store: 'sqlite' },
  })
  const deadlines = createDeadlines({ clock, durationMs: 25_000 })
  const origins = createDashboardOrigins(DASHBOARD)
  /** Keys of challenges, device cookies and counters, newest first. Tests may change them. */
  const accountKeys: [Uint8Array, ...Uint8Array[]] = [new Uint8Array(32).fill(7)]
  const readKeys = () => accountKeys
  const box = createSecretBox(accountKeys[0])
  const passwords = createPasswords({ memoryCost: 64, timeCost: 1 })
  const passkeys = createPasskeys(store.passkeys, createChallenges(readKeys, clock))
  const sessions = createSessions({ store, clock, cookies: createCookies(false) })
  const throttle = createThrottle({ counters: store.signInCounters, clock, accountKeys: readKeys })
  const devices = createKnownDevices(readKeys, clock)
  const decisionsFolder = join(folder, 'decisions')
  await Bun.$`mkdir -p ${decisionsFolder}`.quiet()
  const index = createDecisionIndex({
    directory: decisionsFolder,
    path: join(folder, 'decision-index.db'),
    monotonicMs: clock.monotonicMs,
    generationRows: 50,
  })
  const search = createDecisionSearch({
    after: () => () => undefined,
    spawn: (_role, { onReply }) => ({
      send: ({ id, request }) => queueMicrotask(() => onReply({ ...answerIndex(index, request), id })),
      kill: () => undefined,
    }),
  })
  /** Keystore files that were created and then discarded. */
  const discardedKeystores: string[] = []
  /** Similar names by organization id. */
  const near = new Map<string, NearNames>()
  /** Reported sign-in attempts. */
  const attempts: SignInAttempt[] = []
  /** Facts that simulations collected, other than those of the request and lists. */
  const collectedNeeds: FactNeed[] = []
  const tasks = createTaskRunner({
    tasks: store.tasks,
    spawn: (_task, listener) => ({ kill: () => listener.onExit() }),
    monotonicMs: clock.monotonicMs,
    onError: (error) => reported.push(error),
  })
  const processes = createFakeProcesses(pool, () => ({
    atMs: clock.unixSeconds() * 1000,
    monotonicMs: clock.monotonicMs(),
    totals: metrics.totals(),
    latency: metrics.durations([]),
    pool: pool.stats(),
    cpuSeconds: 0,
    eventLoop: null,
    memoryBytes: 1,
    activeRequests: 0,
    streams: 0,
  }))
  const live = createLiveWatch({
    control: processes,
    monotonicMs: clock.monotonicMs,
    unixMs: () => clock.unixSeconds() * 1000,
    onError: (error) => reported.push(error),
  })
  const services: Services = {
    store,
    clock,
    origins,
    passwords,
    passkeys,
    sessions,
    box,
    tasks,
    live,
    processes,
    notifyChanges: async () => undefined,
    attest: async (request) =>
      Response.json({ key: request.headers.get('x-api-key'), body: await request.json() }, { status: 200 }),
    version: '0.0.0',
    signer: 'noble',
    apiUrl: 'http://localhost:8080',
    chains: createChainTable(),
    signIn: createSignIn({
      store,
      clock,
      passwords,
      passkeys,
      sessions,
      box,
      throttle,
      devices,
      attempted: (attempt) => attempts.push(attempt),
    }),
    createAttesterKey: async (kind) => ({
      kind,
      address: kind === 'secp256k1' ? `0x${crypto.randomUUID().replaceAll('-', '')}00000000` : crypto.randomUUID(),
      keystoreFile: `${crypto.randomUUID()}.json`,
    }),
    findService: findServiceAmong([
      ...moduleServices(near),
      provide(PROVE_DECISION, async (organizationId, uuid) =>
        (await search.ask({ operation: 'find', organizationId, uuid })) === null
          ? null
          : { proof: `proof of ${uuid}`, logKey: 'log key' },
      ),
      provide(ASK_TOKEN, async (keys) =>
        keys.map(({ key }) =>
          key.endsWith('=missing')
            ? { ok: false, name: 'TokenUnusableError', detail: 'there is no such key' }
            : { ok: true, address: `0x${Buffer.from(key).toHex().slice(0, 40)}`, isExtractable: false },
        ),
      ),
    ]),
    discardKeystore: (file) => discardedKeystores.push(file),
    policyFacts: {
      collect: (needs) => {
        collectedNeeds.push(...needs)
        return {}
      },
      screeners: new Set(['paid']),
      chains: new Set(['base', 'ethereum']),
      describeMissing: async () => [],
    },
    policyWork: createFairWork({ clock: systemClock, after: lastingTimers.after, pauseFactor: 4, waitingMax: 4 }),
    listUploads: createListUploads(),
    downloads: createDownloads(),
    identity: {
      evidence: {
        listEvidence: async () => ({ fields: ['fullName'], documents: [] }),
        missing: async () => [],
        readFields: async () => ({ fullName: 'Ada Example' }),
        findByFields: async (sessions, matches) =>
          new Set(matches({ fullName: 'Ada Example' }) ? sessions.map(({ id }) => id) : []),
        openDocument: async () => null,
        eraseSession: async (session, actor, write = (erase) => erase(store.evidence)) =>
          (await write((own) => own.eraseAll(targetOf(session), actor)))?.obsoleteFiles.length ?? 0,
      },
      sessions: {
        make: async () => ({ created: true, sessionId: newSessionId(), link: 'https://verify.example/v/secret' }),
        link: async () => 'https://verify.example/v/another',
      },
      decisionFacts: { read: async () => ({ 2: { 'person.age': 34 } }) },
      knowledge: {
        factsOf: async () => ({ 'person.age': 34, 'checks.document.matches': null }),
        decidedByPeople: async () => [],
      },
      readings: {
        read: async () => ({
          documentId: 'evidence_one',
          zone: {
            format: 'TD3',
            type: 'P',
            issuer: 'D<<',
            nationality: 'D<<',
            number: 'C01X00T47',
            surname: 'EXAMPLE',
            givenNames: 'ADA',
            namesCut: false,
            birthDate: '1990-01-01',
            expiryDate: '2030-01-01',
            sex: 'F',
          },
        }),
      },
    },
    reachableUrl: (text) => {
      if (!text.startsWith('https://')) throw new FieldInvalidError('url', 'must be https')
      return new URL(text).href
    },
    webhooks: {
      // Receivers run on this machine.
      reach: 'loopback',
      testSlots: createCountedSlots(),
      keys: async () => ({
        seal: async (organizationId, _purpose, _subject, secret) => {
          const key = { wrappedKey: new Uint8Array([1]), wrappedBy: 'a key of tests' }
          await store.organizationKeys.add(organizationId, key)
          return { sealed: secret.map((byte) => byte ^ 0xff), sealedUnder: key.wrappedKey }
        },
        open: async (_organizationId, _purpose, _subject, sealed) => sealed.map((byte) => byte ^ 0xff),
      }),
    },
    inspectChains: async () => {
      // Like the real function, reads the store, which is refused in a transaction.
      await store.attesters.list()
      return [
        { chain: 'base', check: 'attester', subject: '0x01', result: 'problem', detail: 'active and not registered' },
      ]
    },
    decisions: search,
    liveStreams: createLiveStreams(live.monitor),
    documents: { admin: ADMIN_DOCUMENT, attestation: '{}', identity: '{}' },
  }
  const authenticator = createAuthenticator({ findKey: (keyId) => store.apiKeys.findForAuthentication(keyId), clock })
  const gate = createAdminGate({ store, sessions, origins, authenticator, limiter: createRateLimiter({ clock }) })
  const requestIds = createRequestIds()
  const pacer = createRefusalPacer()
  const pluginOver = (routes: readonly Route[]) =>
    adminPlugin({
      routes,
      gate,
      services,
      deadlines,
      requestIds,
      pacer,
      clientAddress: (_peer, headers) => headers.get(ADDRESS_HEADER) ?? ADDRESS,
      metrics,
      idempotent: createAdminIdempotency({
        store: store.adminIdempotency,
        clock,
        claimSeconds: 30,
        report: (error) => reported.push(error),
      }),
      monotonicMs: clock.monotonicMs,
      report: (error) => {
        if (toProblem(error).status >= 500) reported.push(error)
      },
    })
  /** The API with other routes. */
  const apiOver = (routes: readonly Route[]) => {
    const plugin = pluginOver(routes)
    return (request: Request): Promise<Response> => plugin.handle(request)
  }
  const plugin = pluginOver(ADMIN_ROUTES)
  const api = (request: Request): Promise<Response> => plugin.handle(request)

  const issueKey = async (
    organizationId: string,
    kind: ApiKeyKind,
    scopes?: readonly ApiKeyScope[],
    changes?: Partial<NewApiKey>,
  ): Promise<string> => {
    const key = {
      organizationId,
      kind,
      environment: 'live',
      name: 'test',
      expiresAtSeconds: null,
      rateLimit: null,
    } as const
    return (await store.apiKeys.issue({ ...key, ...(scopes && { scopes }), ...changes })).text
  }
  /** Starts another session of an account; returns its cookie. */
  const signIn = async (userId: string, status: 'active' | 'second-factor' = 'active'): Promise<string> =>
    (await sessions.begin(userId, status, CALLER, store.userSessions)).cookie.split(';')[0] ?? ''
  interface NewPerson {
    readonly email: string
    readonly deploymentAdmin?: boolean
    readonly roles?: Readonly<Record<string, OrganizationRole>>
  }
  /** Creates an account and signs in. */
  const person = async ({ email, deploymentAdmin = false, roles = {} }: NewPerson): Promise<Person> => {
    const passwordHash = await passwords.hash(PASSWORD, [])
    const { id } = await store.users.create({ email, name: email, deploymentAdmin, passwordHash })
    for (const [organizationId, role] of Object.entries(roles)) await store.memberships.add(organizationId, id, role)
    return { id, cookie: await signIn(id) }
  }
  /** Sends a request; throws if the response is not as documented. */
  const request = async (method: string, path: string, options?: CallOptions): Promise<Response> => {
    const response = await api(toRequest(method, path, options))
    await checkConformance(method, path, response)
    return response
  }

  return {
    store,
    clock,
    folder,
    accountKeys,
    services,
    pacer,
    collectedNeeds,
    discardedKeystores,
    near,
    attempts,
    api,
    plugin,
    reported,
    apiOver,
    issueKey,
    signIn,
    request,
    /** Sends a request; returns the status. */
    status: async (method: string, path: string, options?: CallOptions): Promise<number> =>
      (await request(method, path, options)).status,
    /** Sends a request; returns the status and the parsed body. */
    call: async <Body = Record<string, unknown>>(method: string, path: string, options?: CallOptions) => {
      const response = await request(method, path, options)
      return { status: response.status, body: await bodyOf<Body>(response) }
    },
    /** Creates a verification session and changes its status in order; returns its id. */
    session: async (
      organizationId: string,
      statuses: readonly SessionStatus[] = [],
      changes: Partial<Parameters<typeof store.sessions.register>[0]> = {},
    ): Promise<string> => {
      const sessionId = newSessionId()
      await store.sessions.register({
        organizationId,
        environment: 'live',
        checkType: 'kyc',
        sessionId,
        walletAddress: null,
        originUrl: null,
        tokenHash: crypto.getRandomValues(new Uint8Array(32)),
        provider: 'manual',
        actor: 'key:test',
        ...changes,
      })
      for (const to of statuses) {
        await store.sessions.changeStatus({ organizationId, sessionId, to, actor: 'person' })
      }
      return sessionId
    },
    /** Adds decisions to the log and the index. */
    decide: (...records: readonly LogRecord[]): void => {
      const segment = openSegment({
        directory: decisionsFolder,
        slot: 'w00',
        maxBytes: 1e6,
        sync: false,
        clock: { unixMs: () => FIRST_MS },
      })
      segment.append(records)
      segment.close()
      while (index.ingest()) index.improve()
    },
    /** Entries of the audit log, newest first. */
    audited: async (filter: AuditFilter = {}, limit = 10): Promise<readonly AuditEntry[]> =>
      (await store.audit.page(filter, { after: null, limit })).items,
    /** Creates an organization with an admin key. */
    organization: async (slug: string): Promise<Organization> => {
      const { id } = await store.organizations.create({ slug, name: slug })
      return { id, slug, key: await issueKey(id, 'admin') }
    },
    person,
    /** Creates an account NAME@example.com with a role, and signs in. */
    member: ({ id }: Pick<Organization, 'id'>, name: string, role: OrganizationRole = 'organization-admin') =>
      person({ email: `${name}@example.com`, roles: { [id]: role } }),
    close: async (): Promise<void> => {
      services.liveStreams.close()
      search.close()
      await tasks.close()
      index.close()
      deadlines.stop()
      metrics.stop()
      await temporary.remove()
      files?.remove()
    },
  }
}

export type Harness = Awaited<ReturnType<typeof startHarness>>

/** A harness for all tests of a file. */
export const harnessOfFile = async (open?: Parameters<typeof startHarness>[0]): Promise<Harness> => {
  const harness = await startHarness(open)
  afterAll(() => harness.close())
  return harness
}

/** An object with the members of the running test's harness. */
export const harnessOfTest = (open?: Parameters<typeof startHarness>[0]): Harness => {
  let current: Harness
  beforeEach(async () => {
    current = await startHarness(open)
  })
  afterEach(() => current.close())
  return new Proxy({} as Harness, { get: (_, name) => Reflect.get(current, name) })
}

/** Creates an organization before each test. */
export const organizationOfTest = (harness: Harness, slug: string): Organization => {
  let current: Organization
  beforeEach(async () => {
    current = await harness.organization(slug)
  })
  return {
    slug,
    get id() {
      return current.id
    },
    get key() {
      return current.key
    },
  }
}

/** Creates a person before each test. */
export const personOfTest = (create: () => Promise<Person>): Person => {
  let current: Person
  beforeEach(async () => {
    current = await create()
  })
  return {
    get id() {
      return current.id
    },
    get cookie() {
      return current.cookie
    },
  }
}
