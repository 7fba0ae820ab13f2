// The admin API over a store in a temporary folder, without a listener: requests go in as they are, answers come out. What
// it has work done by (workers, index, jobs) stands in the same thread.
import { join } from 'node:path'
import { createSessionCookie } from '../../../src/admin/accounts/cookie.ts'
import { createDashboardOrigins } from '../../../src/admin/accounts/origin.ts'
import { createPasskeys } from '../../../src/admin/accounts/passkeys.ts'
import { createPasswords } from '../../../src/admin/accounts/password.ts'
import { createSecretBox } from '../../../src/admin/accounts/secret-box.ts'
import { createSessions } from '../../../src/admin/accounts/sessions.ts'
import { createSignIn } from '../../../src/admin/accounts/sign-in.ts'
import { type AdminApi, createAdminApi } from '../../../src/admin/admin-api.ts'
import { createDecisionSearch } from '../../../src/admin/decisions/search.ts'
import { createAdminGate } from '../../../src/admin/gate.ts'
import { createJobRunner, type JobListener } from '../../../src/admin/jobs.ts'
import { createLiveStreams } from '../../../src/admin/live/streams.ts'
import { createLiveWatch } from '../../../src/admin/live/watch.ts'
import { adminDocument } from '../../../src/admin/openapi/admin.ts'
import type { Route } from '../../../src/admin/route.ts'
import { ADMIN_ROUTES } from '../../../src/admin/route-table.ts'
import type { Services } from '../../../src/admin/services.ts'
import { createChainTable } from '../../../src/domain/chain.ts'
import { FieldInvalidError } from '../../../src/domain/errors.ts'
import type { OrganizationRole } from '../../../src/domain/role.ts'
import { createAuthenticator } from '../../../src/http/authenticate.ts'
import { createDeadlines } from '../../../src/http/deadline.ts'
import { createIdempotencyGuard } from '../../../src/http/idempotency.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { createRequestIds } from '../../../src/http/request-id.ts'
import type { Job } from '../../../src/store/jobs.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createDecisionIndex, type DecisionIndex } from '../../../workers/decision-index.ts'
import { openTemporaryStore, type TemporaryStore } from '../../store/temporary-store.ts'
import { checkConformance } from './conformance.ts'
import { type CallOptions, CONNECTION, DASHBOARD, toRequest } from './request.ts'
import { answerIndex, createFakePool, createFakeProcesses } from './stand-ins.ts'

export const PASSWORD = 'correct horse battery staple'

export interface Harness {
  readonly store: TemporaryStore['store']
  readonly clock: TemporaryStore['clock']
  readonly folder: string
  readonly services: Services
  readonly pool: ReturnType<typeof createFakePool>
  readonly index: DecisionIndex
  /** The listeners of jobs that were started, by job. */
  readonly startedJobs: Map<string, JobListener>
  readonly api: AdminApi
  readonly reported: unknown[]
  /** A request as a dashboard page or a program sends it; what is answered has to be as documented. */
  request(method: string, path: string, options?: CallOptions): Promise<Response>
  /** The same over other routes: for what is decided before a route's own work. */
  apiOver(routes: readonly Route[]): AdminApi
  /** An organization with an admin key. */
  organization(slug: string): Promise<{ readonly id: string; readonly slug: string; readonly key: string }>
  /** An account that is signed in; answers its cookie. */
  person(options: {
    readonly email: string
    readonly deploymentAdmin?: boolean
    readonly roles?: Readonly<Record<string, OrganizationRole>>
  }): Promise<{ readonly id: string; readonly cookie: string }>
  issueKey(
    organizationId: string,
    kind: 'attestation' | 'identity' | 'admin',
    scopes?: readonly ('admin' | 'deployment')[],
  ): Promise<string>
  close(): Promise<void>
}

export const startHarness = async (): Promise<Harness> => {
  const temporary = await openTemporaryStore()
  const { store, clock } = temporary
  const folder = join(temporary.path, '..')
  const reported: unknown[] = []
  const pool = createFakePool()
  const metrics = createMetrics({
    chains: ['base'],
    build: { version: '0', runtime: '0', signer: 'noble', store: 'sqlite' },
  })
  const deadlines = createDeadlines({ clock, durationMs: 25_000 })
  const origins = createDashboardOrigins(DASHBOARD)
  const box = createSecretBox(new Uint8Array(32).fill(7))
  const passwords = createPasswords({ memoryCost: 64, timeCost: 1 })
  const passkeys = createPasskeys(store.passkeys)
  const sessions = createSessions({ store, clock, cookie: createSessionCookie(false) })
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
  const startedJobs = new Map<string, JobListener>()
  const jobs = createJobRunner({
    jobs: store.jobs,
    spawn: (job: Job, listener) => {
      startedJobs.set(job.id, listener)
      return { kill: () => listener.onExit() }
    },
    monotonicMs: clock.monotonicMs,
    onError: (error) => reported.push(error),
  })
  const processes = createFakeProcesses(pool, () => ({
    atMs: clock.unixSeconds() * 1000,
    monotonicMs: clock.monotonicMs(),
    totals: metrics.totals(),
    latency: metrics.durations([]),
    pool: pool.stats(),
    ...{ cpuSeconds: 0, eventLoop: null, memoryBytes: 1, activeRequests: 0, streams: 0 },
  }))
  const live = createLiveWatch({
    control: processes,
    monotonicMs: clock.monotonicMs,
    unixMs: () => clock.unixSeconds() * 1000,
    onError: (error) => reported.push(error),
  })
  const services: Services = {
    ...{ store, clock, origins, passwords, passkeys, sessions, box, jobs, live, processes },
    version: '0.0.0',
    signer: 'noble',
    apiUrl: 'http://localhost:8080',
    chains: createChainTable(),
    signIn: createSignIn({ store, clock, passwords, passkeys, sessions, box }),
    createAttesterKey: async (kind) => ({
      kind,
      address: kind === 'secp256k1' ? `0x${crypto.randomUUID().replaceAll('-', '')}00000000` : crypto.randomUUID(),
      keystoreFile: `${crypto.randomUUID()}.json`,
    }),
    discardKeystore: () => undefined,
    policyFacts: { collect: () => ({}), screeners: new Set() },
    identity: {
      evidence: {
        listEvidence: async () => ({ fields: ['fullName'], documents: [] }),
        missing: async () => [],
        readFields: async () => ({ fullName: 'Ada Example' }),
        openDocument: async () => null,
        eraseSession: async () => 2,
      },
    },
    reachableUrl: (text) => {
      if (!text.startsWith('https://')) throw new FieldInvalidError('url', 'must be https')
      return new URL(text).href
    },
    webhooks: {
      reach: 'public',
      newSecret: async () => ({ text: `whsec_${crypto.randomUUID()}`, sealed: new Uint8Array([1]) }),
    },
    inspectChains: async () => [
      { chain: 'base', check: 'attester', subject: '0x01', result: 'problem', detail: 'active and not registered' },
    ],
    decisions: search,
    liveStreams: createLiveStreams(live.monitor),
    documents: { admin: adminDocument(ADMIN_ROUTES, '0.0.0', false), attestation: '{}', identity: '{}' },
  }
  const authenticator = createAuthenticator({ findKey: (keyId) => store.apiKeys.findForAuthentication(keyId), clock })
  const gate = createAdminGate({ store, sessions, origins, authenticator, limiter: createRateLimiter({ clock }) })
  const requestIds = createRequestIds()
  const apiOver = (routes: readonly Route[]): AdminApi =>
    createAdminApi({
      ...{ routes, gate, services, deadlines, requestIds, metrics },
      idempotent: createIdempotencyGuard({
        store: store.adminIdempotency,
        clock,
        claimSeconds: 30,
        recall: async () => ({ outcome: 'nothing' }),
        report: (error) => reported.push(error),
      }),
      monotonicMs: clock.monotonicMs,
      report: (error) => reported.push(error),
    })
  const api = apiOver(ADMIN_ROUTES)

  const issueKey: Harness['issueKey'] = async (organizationId, kind, scopes) =>
    (
      await store.apiKeys.issue({
        ...{ organizationId, kind, environment: 'live', name: 'test', expiresAtSeconds: null, rateLimit: null },
        ...(scopes === undefined ? {} : { scopes }),
      })
    ).text

  return {
    ...{ store, clock, folder, services, pool, index, startedJobs, api, reported, apiOver, issueKey },
    request: async (method, path, options) => {
      const response = await api(toRequest(method, path, options), CONNECTION)
      await checkConformance(method, path, response)
      return response
    },
    organization: async (slug) => {
      const { id } = await store.organizations.create({ slug, name: slug })
      return { id, slug, key: await issueKey(id, 'admin') }
    },
    person: async ({ email, deploymentAdmin = false, roles = {} }) => {
      const user = await store.users.create({
        email,
        name: email,
        deploymentAdmin,
        passwordHash: await passwords.hash(PASSWORD),
      })
      for (const [organizationId, role] of Object.entries(roles)) {
        await store.memberships.add(organizationId, user.id, role)
      }
      const { cookie } = await sessions.begin(user.id, 'active', { userAgent: 'test', address: '127.0.0.1' })
      return { id: user.id, cookie: cookie.split(';')[0] ?? '' }
    },
    close: async () => {
      services.liveStreams.close()
      search.close()
      await jobs.close()
      index.close()
      deadlines.stop()
      metrics.stop()
      await temporary.remove()
    },
  }
}
