// Puts the admin API together: what it needs of the store, the pool, the metrics and the log, and the processes that work
// for it. Called by the composition root, which owns all of those.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createSessionCookie } from '../admin/accounts/cookie.ts'
import { makeLink, type NewLink } from '../admin/accounts/links.ts'
import { createDashboardOrigins } from '../admin/accounts/origin.ts'
import { createPasskeys } from '../admin/accounts/passkeys.ts'
import { createPasswords } from '../admin/accounts/password.ts'
import { createSecretBox } from '../admin/accounts/secret-box.ts'
import { createSessions } from '../admin/accounts/sessions.ts'
import { createSignIn } from '../admin/accounts/sign-in.ts'
import { createAdminApi } from '../admin/admin-api.ts'
import { createDecisionSearch } from '../admin/decisions/search.ts'
import { createAdminGate } from '../admin/gate.ts'
import { createJobRunner } from '../admin/jobs.ts'
import type { ProcessControl } from '../admin/live/processes.ts'
import { createLiveStreams } from '../admin/live/streams.ts'
import { createLiveWatch } from '../admin/live/watch.ts'
import { adminDocument } from '../admin/openapi/admin.ts'
import { attestationDocument } from '../admin/openapi/attestation.ts'
import { identityDocument } from '../admin/openapi/identity.ts'
import { ADMIN_ROUTES } from '../admin/route-table.ts'
import type { Services } from '../admin/services.ts'
import type { Config } from '../config.ts'
import { type DashboardListener, startDashboardListener } from '../dashboard/listener.ts'
import { buildDashboardAssets, createDashboardPages } from '../dashboard/pages.ts'
import { createReferencePages } from '../dashboard/reference.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import type { Reach } from '../domain/list.ts'
import type { Clock } from '../domain/time.ts'
import { parseReachableUrl, UrlRefusedError } from '../facts/reachable.ts'
import type { Authenticator } from '../http/authenticate.ts'
import type { Deadlines } from '../http/deadline.ts'
import { createIdempotencyGuard } from '../http/idempotency.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import type { RequestIdSource } from '../http/request-id.ts'
import { formatWebhookSecret, newWebhookSecret } from '../http/webhook-signature.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import type { FactCollector } from '../policy/types/needs.ts'
import { systemTimers } from '../pool/timers.ts'
import { prepareAccountKey } from '../setup/account-key.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import { createAttesterKeystore } from '../signing/attester-files.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createPrepareJob } from './admin-jobs.ts'
import { spawnIndexProcess, spawnJobProcess } from './admin-processes.ts'
import { inspectChains } from './chain-inspection.ts'
import type { Identity } from './identity-service.ts'
import { CLAIM_SLACK_SECONDS } from './request-path.ts'
import { sharedIndexOf } from './shared-index.ts'
import type { Sharing } from './sharing-service.ts'
import type { ShipSettings } from './ship-service.ts'

const once = (make: () => string): (() => string) => {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}

export interface AdminDependencies {
  readonly config: Pick<
    Config,
    | 'chains'
    | 'chainSettings'
    | 'dashboardListen'
    | 'screeners'
    | 'deadlineMs'
    | 'webhookReach'
    | 'store'
    | 'decisionsIndex'
    | 'accountKey'
  > &
    ShipSettings
  readonly folder: DataFolder
  readonly store: Store
  readonly processes: ProcessControl
  readonly identity: Pick<Identity, 'evidence'>
  readonly organizationKeys: Pick<OrganizationKeys, 'seal'>
  readonly factCollector: FactCollector
  readonly passphrase: Passphrase
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** Whose jobs are whose, among the processes of all machines. */
  readonly sharing: Pick<Sharing, 'processId' | 'failInterruptedJobs'>
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

/** @throws SettingInvalidError, StoreUnavailableError; what the listener throws when its address is taken */
export const startAdmin = async (dependencies: AdminDependencies): Promise<Admin> => {
  const { config, folder, store, processes, identity, clock, log, metrics, urls, version, signer } = dependencies
  const origins = createDashboardOrigins(urls.dashboard)
  const box = createSecretBox(await prepareAccountKey(config, folder, store.deployment))
  const passwords = createPasswords()
  const passkeys = createPasskeys(store.passkeys)
  const sessions = createSessions({ store, clock, cookie: createSessionCookie(origins.secure) })
  const search = createDecisionSearch({
    spawn: spawnIndexProcess(folder, await sharedIndexOf(config, folder)),
    after: systemTimers.after,
    onEvent: (event) => log.warn('the decision index failed; it is tried again', event),
  })
  const jobs = createJobRunner({
    jobs: { ...store.jobs, takeNext: () => store.jobs.takeNext(dependencies.sharing.processId) },
    spawn: spawnJobProcess({
      prepare: createPrepareJob({ store, folder, chains: config.chains, clock }),
      onFailed: (job, errorClass) => log.error('a job failed', { job: job.id, kind: job.kind, errorClass }),
    }),
    monotonicMs: clock.monotonicMs,
    onError: (error) => log.warn('a job could not be written', { error }),
  })
  await dependencies.sharing.failInterruptedJobs()
  const live = createLiveWatch({
    control: processes,
    monotonicMs: clock.monotonicMs,
    unixMs: Date.now,
    onError: (error) => log.warn('the processes could not be looked at', { error }),
  })
  const liveStreams = createLiveStreams(live.monitor)
  const ticking = setInterval(() => void live.tick(), LIVE_TICK_MS)
  ticking.unref()

  const { source, workFactor } = dependencies.passphrase
  // Made when they are first read: few starts are followed by a look at the reference.
  const documents = {
    admin: once(() => adminDocument(ADMIN_ROUTES, version, origins.secure)),
    attestation: once(() => attestationDocument(version, urls.api)),
    identity: once(() => identityDocument(version, urls.api)),
  }
  const services: Services = {
    ...{
      store,
      clock,
      version,
      signer,
      origins,
      passwords,
      passkeys,
      sessions,
      box,
      jobs,
      live,
      liveStreams,
      processes,
    },
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
    inspectChains: () =>
      inspectChains({ ...config, readAttesters: store.attesters.list, nowSeconds: clock.unixSeconds }),
    decisions: search,
    documents: {
      get admin() {
        return documents.admin()
      },
      get attestation() {
        return documents.attestation()
      },
      get identity() {
        return documents.identity()
      },
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
