// Puts the admin API together: what it needs of the store, the pool, the metrics and the log, and the processes that work
// for it. Called by the composition root, which owns all of those.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { prepareAccountKey } from './account-key.ts'
import { createSessionCookie } from './admin/accounts/cookie.ts'
import { makeLink, type NewLink } from './admin/accounts/links.ts'
import { createDashboardOrigins } from './admin/accounts/origin.ts'
import { createPasskeys } from './admin/accounts/passkeys.ts'
import { createPasswords } from './admin/accounts/password.ts'
import { createSecretBox } from './admin/accounts/secret-box.ts'
import { createSessions } from './admin/accounts/sessions.ts'
import { createSignIn } from './admin/accounts/sign-in.ts'
import { createAdminApi } from './admin/admin-api.ts'
import { createDecisionSearch } from './admin/decisions/search.ts'
import { createAdminGate } from './admin/gate.ts'
import { createJobRunner } from './admin/jobs.ts'
import { createLiveMonitor } from './admin/live/monitor.ts'
import type { LiveReading } from './admin/live/point.ts'
import { createLiveStreams } from './admin/live/streams.ts'
import { adminDocument } from './admin/openapi/admin.ts'
import { attestationDocument } from './admin/openapi/attestation.ts'
import { identityDocument } from './admin/openapi/identity.ts'
import { ADMIN_ROUTES } from './admin/route-table.ts'
import type { Services } from './admin/services.ts'
import { createPrepareJob } from './admin-jobs.ts'
import { spawnIndexProcess, spawnJobProcess } from './admin-processes.ts'
import { inspectChain } from './chain-inspection.ts'
import type { Config } from './config.ts'
import { type DashboardListener, startDashboardListener } from './dashboard/listener.ts'
import { buildDashboardAssets, createDashboardPages } from './dashboard/pages.ts'
import { createReferencePages } from './dashboard/reference.ts'
import type { DataFolder } from './data-folder.ts'
import { FieldInvalidError } from './domain/errors.ts'
import type { Reach } from './domain/list.ts'
import type { Clock } from './domain/time.ts'
import { parseReachableUrl, UrlRefusedError } from './facts/reachable.ts'
import type { Authenticator } from './http/authenticate.ts'
import type { Deadlines } from './http/deadline.ts'
import { createIdempotencyGuard } from './http/idempotency.ts'
import type { RateLimiter } from './http/rate-limit.ts'
import type { RequestIdSource } from './http/request-id.ts'
import { formatWebhookSecret, newWebhookSecret } from './http/webhook-signature.ts'
import type { OrganizationKeys } from './identity/evidence/organization-keys.ts'
import type { Identity } from './identity-service.ts'
import type { Passphrase } from './passphrase.ts'
import type { FactCollector } from './policy/types.ts'
import type { Pool } from './pool/pool.ts'
import { createAttesterKeystore } from './signing/attester-files.ts'
import { readPassphrase } from './signing/passphrase.ts'
import type { Store } from './store/store.ts'
import type { Logger } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

export interface AdminDependencies {
  readonly config: Pick<
    Config,
    'chains' | 'chainSettings' | 'dashboardListen' | 'screeners' | 'deadlineMs' | 'webhookReach'
  >
  readonly folder: DataFolder
  readonly store: Store
  readonly pool: Pick<Pool, 'stats' | 'resize'>
  readonly identity: Pick<Identity, 'evidence'>
  readonly organizationKeys: Pick<OrganizationKeys, 'seal'>
  readonly factCollector: FactCollector
  readonly passphrase: Passphrase
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
  readonly report: (error: unknown, requestId: string) => void
  readonly version: string
  readonly signer: string
  /** Public addresses, without a trailing slash. */
  readonly urls: { readonly api: string; readonly dashboard: string }
  /** All open event streams but those of the live page. */
  readonly otherStreams: () => number
}

export interface Admin {
  readonly url: string
  /** For the first account; null once there is one. */
  readonly welcome: NewLink | null
  readonly streams: { size(): number }
  /** Ends what would keep the listener from stopping. */
  endStreams(): void
  stop(): Promise<void>
}

const LIVE_TICK_MS = 1_000
const EVENT_LOOP_RESOLUTION_MS = 20
const NANOSECONDS_PER_MS = 1e6
const MICROSECONDS_PER_SECOND = 1e6
const CLAIM_SLACK_SECONDS = 5
/** Interface A's endpoints, as metrics name them: the live page's latency is theirs. */
const ATTESTATION_ROUTES = ['/v2/attestation', '/v1/task']

/** Looks at the service. The event loop's figures are those since the look before. */
const createReading = ({ metrics, pool, deadlines, clock }: AdminDependencies, streams: () => number) => {
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS })
  delay.enable()
  const eventLoop = (): LiveReading['eventLoop'] => {
    // Nothing was measured: no figure is truer than 0.
    if (delay.count === 0) return null
    const figures = {
      p50Ms: delay.percentile(50) / NANOSECONDS_PER_MS,
      p99Ms: delay.percentile(99) / NANOSECONDS_PER_MS,
      maxMs: delay.max / NANOSECONDS_PER_MS,
    }
    delay.reset()
    return figures
  }
  const read = (): LiveReading => {
    const { user, system } = process.cpuUsage()
    return {
      atMs: Date.now(),
      monotonicMs: clock.monotonicMs(),
      totals: metrics.totals(),
      latency: metrics.durations(ATTESTATION_ROUTES),
      pool: pool.stats(),
      cpuSeconds: (user + system) / MICROSECONDS_PER_SECOND,
      eventLoop: eventLoop(),
      memoryBytes: process.memoryUsage.rss(),
      activeRequests: deadlines.active(),
      streams: streams(),
    }
  }
  return { read, stop: () => delay.disable() }
}

const after = (delayMs: number, callback: () => void): (() => void) => {
  const timer = setTimeout(callback, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}

const prepareWelcome = async ({ store, clock }: AdminDependencies, dashboardUrl: string): Promise<NewLink | null> =>
  (await store.users.countDeploymentAdmins()) > 0
    ? null
    : makeLink(store.userLinks, clock, dashboardUrl, 'first-admin', null)

const reachableUrl = (text: string, reach: Reach): string => {
  try {
    return parseReachableUrl(text, reach).href
  } catch (error) {
    if (error instanceof UrlRefusedError) throw new FieldInvalidError('url', error.detail)
    throw error
  }
}

/** All chains at once: one that does not answer costs seconds. */
const createChainInspection =
  ({ config, store, clock }: AdminDependencies): Services['inspectChains'] =>
  async () => {
    const attesters = await store.attesters.list()
    const inspected = config.chains.chains.flatMap((chain) => {
      const settings = config.chainSettings.get(chain.name)
      return settings?.rpcUrls === undefined
        ? []
        : [inspectChain({ chain, settings, attesters, nowSeconds: clock.unixSeconds })]
    })
    return (await Promise.all(inspected)).flat()
  }

/** @throws SettingInvalidError, StoreUnavailableError; what the listener throws when its address is taken */
export const startAdmin = async (dependencies: AdminDependencies): Promise<Admin> => {
  const { config, folder, store, pool, identity, clock, log, metrics, urls, version, signer } = dependencies
  const origins = createDashboardOrigins(urls.dashboard)
  const box = createSecretBox(prepareAccountKey(folder))
  const passwords = createPasswords()
  const passkeys = createPasskeys(store.passkeys)
  const sessions = createSessions({ store, clock, cookie: createSessionCookie(origins.secure) })
  const search = createDecisionSearch({
    spawn: spawnIndexProcess(folder),
    after,
    onEvent: (event) => log.warn('the decision index failed; it is tried again', event),
  })
  const jobs = createJobRunner({
    jobs: store.jobs,
    spawn: spawnJobProcess({
      prepare: createPrepareJob({ store, folder, chains: config.chains, clock }),
      onFailed: (job, errorClass) => log.error('a job failed', { job: job.id, kind: job.kind, errorClass }),
    }),
    monotonicMs: clock.monotonicMs,
    onError: (error) => log.warn('a job could not be written', { error }),
  })
  await store.jobs.failInterrupted()
  const reading = createReading(dependencies, () => dependencies.otherStreams() + liveStreams.size())
  const live = createLiveMonitor(reading.read)
  const liveStreams = createLiveStreams(live)
  const ticking = setInterval(live.tick, LIVE_TICK_MS)
  ticking.unref()

  const { source, workFactor } = dependencies.passphrase
  const services: Services = {
    ...{ store, clock, version, signer, origins, passwords, passkeys, sessions, box, jobs, live, liveStreams, pool },
    apiUrl: urls.api,
    chains: config.chains,
    signIn: createSignIn({ store, clock, passwords, passkeys, sessions, box }),
    createAttesterKey: async (kind) => {
      const made = await createAttesterKeystore({
        kind,
        directory: folder.keystores,
        passphrase: await readPassphrase(source),
        workFactor,
      })
      return { kind, address: made.address, keystoreFile: basename(made.path) }
    },
    discardKeystore: (keystoreFile) => rmSync(join(folder.keystores, basename(keystoreFile)), { force: true }),
    policyFacts: {
      collect: dependencies.factCollector.collect,
      screeners: new Set(config.screeners.keys()),
    },
    identity: { evidence: identity.evidence },
    reachableUrl,
    webhooks: {
      reach: config.webhookReach,
      newSecret: async (organizationId, endpointId) => {
        const secret = newWebhookSecret()
        return {
          text: formatWebhookSecret(secret),
          sealed: await dependencies.organizationKeys.seal(organizationId, 'webhook secret', endpointId, secret),
        }
      },
    },
    inspectChains: createChainInspection(dependencies),
    decisions: search,
    documents: {
      admin: adminDocument(ADMIN_ROUTES, version, origins.secure),
      attestation: attestationDocument(version, urls.api),
      identity: identityDocument(version, urls.api),
    },
  }
  const api = createAdminApi({
    routes: ADMIN_ROUTES,
    services,
    gate: createAdminGate({
      ...{ store, sessions, origins },
      authenticator: dependencies.authenticator,
      limiter: dependencies.limiter,
    }),
    deadlines: dependencies.deadlines,
    idempotent: createIdempotencyGuard({
      store: store.adminIdempotency,
      clock,
      claimSeconds: Math.ceil(config.deadlineMs / 1000) + CLAIM_SLACK_SECONDS,
      // A change that was cut off is in the audit log, or it was not made: it is for the caller to look.
      recall: async () => ({ outcome: 'nothing' }),
      report: (error) => log.warn('an idempotency key could not be stored', { error }),
    }),
    requestIds: dependencies.requestIds,
    monotonicMs: clock.monotonicMs,
    metrics,
    report: dependencies.report,
  })
  const close = async (): Promise<void> => {
    clearInterval(ticking)
    reading.stop()
    liveStreams.close()
    search.close()
    await jobs.close()
  }
  let listener: DashboardListener
  try {
    listener = startDashboardListener({
      listen: config.dashboardListen,
      api,
      reference: createReferencePages(services.documents),
      pages: createDashboardPages(await buildDashboardAssets(), origins.secure),
      requestIds: dependencies.requestIds,
      report: dependencies.report,
    })
  } catch (error) {
    await close()
    throw error
  }
  jobs.wake()
  return {
    url: listener.url,
    welcome: await prepareWelcome(dependencies, origins.url),
    streams: liveStreams,
    endStreams: liveStreams.close,
    stop: async () => {
      liveStreams.close()
      await listener.stop()
      await close()
    },
  }
}
