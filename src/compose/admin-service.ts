// Builds the admin API with its child processes.
import { createChallenges } from '../admin/accounts/challenges.ts'
import { createCookies } from '../admin/accounts/cookie.ts'
import { keepLastKeys } from '../admin/accounts/derived-key.ts'
import { createKnownDevices } from '../admin/accounts/known-device.ts'
import { makeLink, type NewLink } from '../admin/accounts/links.ts'
import { createDashboardOrigins } from '../admin/accounts/origin.ts'
import { createPasskeys } from '../admin/accounts/passkeys.ts'
import { createPasswords } from '../admin/accounts/password.ts'
import { createRotatingBox } from '../admin/accounts/secret-box.ts'
import { createSessions } from '../admin/accounts/sessions.ts'
import { createSignIn } from '../admin/accounts/sign-in.ts'
import { createThrottle } from '../admin/accounts/throttle.ts'
import { adminPlugin } from '../admin/admin-api.ts'
import type { DecisionSearch } from '../admin/decisions/search.ts'
import { createAdminGate } from '../admin/gate.ts'
import { createAdminIdempotency } from '../admin/idempotency.ts'
import { createExplainMissing } from '../admin/left-out.ts'
import type { ProcessControl } from '../admin/live/processes.ts'
import { createLiveStreams } from '../admin/live/streams.ts'
import { createLiveWatch } from '../admin/live/watch.ts'
import { adminDocument } from '../admin/openapi/admin.ts'
import { attestationDocument } from '../admin/openapi/attestation.ts'
import { identityDocument } from '../admin/openapi/identity.ts'
import { adminRoutes } from '../admin/route-table.ts'
import type { Services } from '../admin/services.ts'
import { createSessionMaker } from '../admin/session-maker.ts'
import { createTaskRunner } from '../admin/task-runner.ts'
import type { Config } from '../config/config.ts'
import { startDashboardListener } from '../dashboard/listener.ts'
import { buildDashboardAssets, createDashboardPages } from '../dashboard/pages.ts'
import { createReferencePages } from '../dashboard/reference.ts'
import { RoleNotServedError } from '../domain/errors.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import { findServiceAmong, type ProvidedService, provide } from '../lib/service-key.ts'
import { once } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import type { ModuleOperations } from '../module-interface/operations.ts'
import type { FactCollector } from '../policy/types/needs.ts'
import type { Authenticator } from '../server/authenticate.ts'
import { createClientAddress } from '../server/client-address.ts'
import type { Deadlines } from '../server/deadline.ts'
import { createRefusalPacer } from '../server/event-loop-turns.ts'
import type { ListenerTls } from '../server/listen-address.ts'
import type { Listener } from '../server/listener.ts'
import type { RateLimiter } from '../server/rate-limit.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { prepareAccountKey, readAccountKeys } from '../setup/account-key.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import { ASK_TOKEN } from '../signing/token-service.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createSignInReport } from '../telemetry/sign-in-report.ts'
import { spawnTaskProcess } from './admin-processes.ts'
import type { Identity } from './identity-service.ts'
import { createOperationServices } from './operation-services.ts'
import { claimSecondsOf } from './request-path.ts'
import type { Sharing } from './sharing-service.ts'

interface AdminDependencies {
  readonly config: Config
  readonly tls: ListenerTls | null
  readonly folder: DataFolder
  readonly target: StoreTarget
  readonly store: Store
  readonly provided: readonly ProvidedService[]
  readonly operations: Required<ModuleOperations>
  readonly without: readonly string[]
  /** Returns the name of the disabled module that provides an operation; null if there is none. */
  readonly findLeftOut: (method: string, path: string) => Promise<string | null>
  readonly notifyChanges: Services['notifyChanges']
  readonly processes: ProcessControl
  readonly identity: Pick<Identity, 'evidence' | 'readings' | 'registerIn' | 'decisionFacts' | 'sessionKnowledge'>
  readonly organizationKeys: Pick<OrganizationKeys, 'seal' | 'open'>
  readonly factCollector: FactCollector
  readonly attest: Services['attest'] | null
  readonly passphrase: Passphrase | null
  readonly decisions: DecisionSearch
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** Identifies this process as a task's executor, across machines. */
  readonly sharing: Pick<Sharing, 'processId' | 'failInterruptedTasks'>
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
  readonly report: (error: unknown, requestId: string) => void
  readonly version: string
  readonly signer: string
  readonly urls: { readonly api: string; readonly dashboard: string }
}

const LIVE_TICK_MS = 1_000

/** Replaces functions that need attester keys, in a process that doesn't serve attestations. */
const refuse = (): Promise<never> => Promise.reject(new RoleNotServedError('attestation'))

const prepareWelcome = async ({ store, clock }: AdminDependencies, dashboardUrl: string): Promise<NewLink | null> =>
  (await store.users.countDeploymentAdmins()) > 0 ? null : makeLink(store, clock, dashboardUrl, 'first-admin', null)

/** @throws SettingInvalidError, StoreUnavailableError; the listener's error if its address is in use */
export const startAdmin = async (dependencies: AdminDependencies) => {
  const { config, folder, store, processes, identity, clock, log, metrics, urls, version, signer } = dependencies
  const origins = createDashboardOrigins(urls.dashboard)
  await prepareAccountKey(config, folder, store.deployment)
  const readKeys = () => readAccountKeys(config, folder)
  const accountKeys = keepLastKeys(readKeys, (error) => log.warn('the account key could not be read', { error }))
  const box = createRotatingBox(readKeys)
  const passwords = createPasswords(undefined, store.users.exchangePassword)
  const passkeys = createPasskeys(store.passkeys, createChallenges(accountKeys, clock))
  const sessions = createSessions({ store, clock, cookies: createCookies(origins.secure) })
  const throttle = createThrottle({ counters: store.signInCounters, clock, accountKeys })
  const devices = createKnownDevices(accountKeys, clock)
  const tasks = createTaskRunner({
    tasks: { ...store.tasks, takeNext: () => store.tasks.takeNext(dependencies.sharing.processId) },
    spawn: spawnTaskProcess({
      kinds: dependencies.operations.tasks({
        config,
        folder,
        store,
        target: dependencies.target,
        clock,
        findService: findServiceAmong(dependencies.provided),
        decidedByPeople: identity.sessionKnowledge.decidedByPeople,
      }),
      directory: folder.decisions,
      onFailed: (task, errorClass) => log.error('a task failed', { task: task.id, kind: task.kind, errorClass }),
    }),
    monotonicMs: clock.monotonicMs,
    onError: (error) => log.warn('the state of a task could not be stored', { error }),
  })
  await dependencies.sharing.failInterruptedTasks()
  const live = createLiveWatch({
    control: processes,
    monotonicMs: clock.monotonicMs,
    unixMs: Date.now,
    onError: (error) => log.warn('the list of processes could not be read', { error }),
  })
  const liveStreams = createLiveStreams(live.monitor)
  const ticking = setInterval(() => void live.tick(), LIVE_TICK_MS)
  ticking.unref()

  const routes = adminRoutes(dependencies.operations.routes)
  const ofModules = dependencies.operations.services({ store, clock, evidence: async () => identity.evidence })
  // Built on first use, because the reference is rarely read.
  const documents = {
    admin: once(() => adminDocument(routes, version, origins.secure)),
    attestation: once(() => attestationDocument(version, urls.api)),
    identity: once(() => identityDocument(version, urls.api)),
  }
  const services: Services = {
    ...createOperationServices({
      config,
      folder,
      store,
      findService: findServiceAmong([
        ...dependencies.provided,
        ...ofModules,
        ...(dependencies.passphrase === null ? [provide(ASK_TOKEN, refuse)] : []),
      ]),
      clock,
      passphrase: async () => dependencies.passphrase ?? refuse(),
      organizationKeys: async () => dependencies.organizationKeys,
      collectFacts: dependencies.factCollector.collect,
    }),
    notifyChanges: dependencies.notifyChanges,
    version,
    signer,
    origins,
    passwords,
    passkeys,
    sessions,
    box,
    tasks,
    live,
    liveStreams,
    processes,
    apiUrl: urls.api,
    signIn: createSignIn({
      store,
      clock,
      passwords,
      passkeys,
      sessions,
      box,
      throttle,
      devices,
      attempted: createSignInReport({ log, monotonicMs: clock.monotonicMs }),
    }),
    identity: {
      evidence: identity.evidence,
      readings: identity.readings,
      decisionFacts: identity.decisionFacts,
      knowledge: identity.sessionKnowledge,
      sessions: createSessionMaker(identity.registerIn),
    },
    decisions: dependencies.decisions,
    attest: dependencies.attest ?? refuse,
    documents: config.docs
      ? {
          get admin() {
            return documents.admin()
          },
          get attestation() {
            return documents.attestation()
          },
          get identity() {
            return documents.identity()
          },
        }
      : null,
  }
  const gate = createAdminGate({
    store,
    sessions,
    origins,
    authenticator: dependencies.authenticator,
    limiter: dependencies.limiter,
  })
  const pacer = createRefusalPacer()
  const api = adminPlugin({
    routes,
    services,
    gate,
    deadlines: dependencies.deadlines,
    idempotent: createAdminIdempotency({
      store: store.adminIdempotency,
      clock,
      claimSeconds: claimSecondsOf(config),
      report: (error) => log.warn('an idempotency key could not be stored', { error }),
    }),
    requestIds: dependencies.requestIds,
    clientAddress: createClientAddress(config.trustedProxies),
    pacer,
    monotonicMs: clock.monotonicMs,
    metrics,
    report: dependencies.report,
  })
  const close = async (): Promise<void> => {
    clearInterval(ticking)
    liveStreams.close()
    await tasks.close()
  }
  let listener: Listener
  try {
    const assets = await buildDashboardAssets(dependencies.without, services.documents !== null)
    listener = startDashboardListener({
      listen: config.dashboardListen,
      publicUrl: urls.dashboard,
      tls: dependencies.tls,
      api,
      explain: createExplainMissing(gate, dependencies.findLeftOut),
      reference: createReferencePages(
        services.documents,
        assets.all.map(({ path }) => path),
      ),
      pages: createDashboardPages(assets),
      pacer,
      requestIds: dependencies.requestIds,
      recordError: metrics.recordError,
      report: dependencies.report,
    })
  } catch (error) {
    await close()
    throw error
  }
  tasks.wake()
  return {
    url: listener.url,
    /** Link for the first account; null if an account exists. */
    welcome: await prepareWelcome(dependencies, origins.url),
    streams: liveStreams,
    /** Ends the event streams, which would keep the listener from stopping. */
    endStreams: liveStreams.close,
    stop: async (): Promise<void> => {
      liveStreams.close()
      await listener.stop()
      await close()
    },
  }
}
