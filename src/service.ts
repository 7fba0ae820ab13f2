// The composition root: opens what there is, wires it in the order of the house, and takes it down in reverse.
import { version as VERSION } from '../package.json'
import type { NewLink } from './admin/accounts/links.ts'
import type { LiveReading } from './admin/live/point.ts'
import type { ProcessControl } from './admin/live/processes.ts'
import { type App, startApp } from './app.ts'
import type { Config } from './config.ts'
import { systemClock } from './domain/time.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { listenUrl } from './http/listen-address.ts'
import { createCatalog } from './policy/catalog.ts'
import { systemTimers } from './pool/timers.ts'
import { createProcessReading } from './processes/reading.ts'
import { dataFolderAt, makeDataFolder } from './setup/data-folder.ts'
import { prepareOrganizationKeys } from './setup/evidence-key.ts'
import { locatePassphrase } from './setup/passphrase.ts'
import { isFirstStart, prepareQuickstart, type Quickstart } from './setup/quickstart.ts'
import { locateStore } from './setup/store-location.ts'
import { readPassphrase } from './signing/passphrase.ts'
import { openStore } from './store/store.ts'
import type { Logger } from './telemetry/log.ts'
import { startAdmin } from './wiring/admin-service.ts'
import { createAttestation } from './wiring/attestation-service.ts'
import { createAttesterReload } from './wiring/attester-reload.ts'
import { type ChangeFollower, followChanges } from './wiring/change-followers.ts'
import { createFacts } from './wiring/facts-service.ts'
import { createIdentity, type Identity } from './wiring/identity-service.ts'
import { loadOrganizationShares } from './wiring/organization-shares.ts'
import { startPortalService } from './wiring/portal-service.ts'
import { createReadiness } from './wiring/readiness.ts'
import { createRequestPath } from './wiring/request-path.ts'
import { createSharing } from './wiring/sharing-service.ts'
import { startShipping } from './wiring/ship-service.ts'
import { createSigningPool, readAttesters } from './wiring/signing-pool.ts'

export interface Service {
  readonly url: string
  readonly signer: string
  readonly quickstart: Quickstart
  /** With which the first account is made; null once there is one. */
  readonly welcome: NewLink | null
  /** This process's own. */
  metrics(): Promise<string>
  read(): LiveReading
  /** Its signing workers. */
  resize(workers: number): void
  /** Answers what is under way, then closes everything. */
  stop(): Promise<void>
}

/** What a process is to others that serve the same deployment. */
export interface ServicePlace {
  /** From 0. The first serves the pages as well. */
  readonly index: number
  /** Others may listen on the same address. Whoever started them has claimed it and locked the data folder. */
  readonly shared: boolean
  /** All processes' metrics, given a way to its own. */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
}

/** More workers than a process ever has, the lost ones that native code keeps included. */
const SLOTS_PER_PROCESS = 1_000

/** Between the signal and the end of listening. */
const STOP_GRACE_MS = 500
const BUN_IDLE_TIMEOUT_MAX_SECONDS = 255

const clock = systemClock

/**
 * Starts everything.
 * @throws SettingInvalidError, StoreUnusableError, WorkersUnusableError: each with one line for the operator.
 */
export const startService = async (config: Config, log: Logger, place: ServicePlace): Promise<Service> => {
  const { apiListen, portalListen, dashboardListen } = config
  const folder = dataFolderAt(config.dataDir)
  makeDataFolder(folder)
  const isFirst = place.index === 0
  const portalUrl = config.portalUrl === '' ? listenUrl(portalListen) : config.portalUrl
  const dashboardUrl = config.dashboardUrl === '' ? listenUrl(dashboardListen) : config.dashboardUrl
  const closers: (() => Promise<void>)[] = []
  const closeAll = async (): Promise<void> => {
    for (const close of closers.reverse()) {
      // One that fails must not keep the others open.
      await close().catch((error: unknown) => log.error('a part could not be closed', { error }))
    }
  }
  try {
    const target = await locateStore(config, folder)
    const store = await openStore({ target, clock, checkpoints: 'own-thread' })
    closers.push(store.close)
    const passphrase = locatePassphrase(config, folder, await isFirstStart(store, folder))
    const quickstart = await prepareQuickstart({
      store,
      folder,
      chains: config.chains,
      urls: {
        api: listenUrl(apiListen),
        portal: portalUrl,
        dashboard: dashboardUrl,
      },
      passphrase: await readPassphrase(passphrase.source),
      workFactor: passphrase.workFactor,
    })
    const organizationKeys = await prepareOrganizationKeys(config, folder, store)
    // Closed after the pool, so that it takes along what the pool writes last.
    const shipping = isFirst ? startShipping({ config, directory: folder.decisions, clock, log }) : null
    if (shipping !== null) closers.push(shipping.stop)
    const catalog = createCatalog({ source: store.policySource, clock, maxEntries: config.policyCacheSize })
    const authenticator = createAuthenticator({ findKey: (keyId) => store.apiKeys.findForAuthentication(keyId), clock })
    const shares = await loadOrganizationShares(config, store, log)
    const attesters = await readAttesters(store, folder)
    const { pool, signer, isLogHealthy } = createSigningPool({
      config,
      folder,
      passphrase: passphrase.source,
      attesters,
      weightOf: shares.weightOf,
      firstSlot: place.index * SLOTS_PER_PROCESS,
      catalog,
      clock,
      log,
      onLogFailure: () => metrics.recordDecisionLogFailure(),
    })
    const followers: ChangeFollower[] = [...shares.followers]
    const streams: Pick<Identity['streams'], 'size'>[] = []
    const facts = createFacts({
      ...{ config, store, pool, clock, log },
      environment: process.env,
      identityOf: (caller, address) => identity.factsOf(caller, address),
    })
    followers.push(facts)
    const attesterReload = createAttesterReload({
      ...{ pool, log, after: systemTimers.after, inUse: attesters },
      read: () => readAttesters(store, folder),
    })
    closers.push(async () => attesterReload.stop())
    const feed = followChanges(store, clock, log, {
      catalog,
      authenticator,
      followers,
      reloadAttesters: attesterReload.reload,
    })
    await feed.start()
    closers.push(() => feed.stop())
    closers.push(facts.close)
    await facts.load()
    await pool.start()
    closers.push(() => pool.close())
    const sharing = createSharing({ ...{ store, clock, log }, index: place.index, timers: systemTimers })
    await sharing.join()
    closers.push(sharing.stop)
    store.upkeep.start({
      takeUses: authenticator.takeUses,
      sweeps: sharing.leads,
      onError: (error) => log.warn('a chore of the store failed', { error }),
    })

    let stopping = false
    const { limiter } = sharing
    const path = createRequestPath({
      ...{ config, store, authenticator, limiter, clock, log },
      isStopping: () => stopping,
      decisionsDirectory: folder.decisions,
      parts: {
        chains: config.chains.chains.map(({ name }) => name),
        build: { version: VERSION, runtime: Bun.version, signer, store: store.kind },
        pool: pool.stats,
        attestersCurrent: attesterReload.isCurrent,
        changeFeedAgeSeconds: feed.ageSeconds,
        logLinesDropped: log.dropped,
        openStreams: () => openStreams(),
        facts: facts.metrics,
        identity: () => identity.metrics(),
        sharing: sharing.metrics,
        shipping: () => shipping?.metrics() ?? null,
      },
    })
    const { gate, signedGate, idempotent, deadlines, requestIds, valve, metrics, report } = path
    closers.push(async () => metrics.stop())
    const openStreams = (): number => streams.reduce((sum, { size }) => sum + size(), 0)
    const reading = createProcessReading({ pool, metrics, deadlines, clock, streams: openStreams })
    closers.push(async () => reading.stop())
    const { streamsMax, streamsPerKeyMax } = config
    const identity = createIdentity({
      ...{ store, gate, idempotent, authenticator, log, portalUrl, streamsMax, streamsPerKeyMax },
      ...{ signedGate, organizationKeys },
      evidenceFolder: folder.evidence,
      webhookReach: config.webhookReach,
    })
    await identity.start()
    closers.push(identity.stop)
    followers.push(identity)
    streams.push(identity.streams)
    facts.start()
    closers.push(async () => identity.close())
    const refused = metrics.route('other', 'other')
    const app: App = startApp({
      listen: apiListen,
      shared: place.shared,
      idleTimeoutSeconds: Math.min(BUN_IDLE_TIMEOUT_MAX_SECONDS, Math.ceil(config.deadlineMs / 1000) + 10),
      endpoints: createAttestation({
        ...{ config, path, catalog, pool, sharing, clock, log, database: store.database, capOf: shares.capOf },
        collector: facts.collector,
        digestKey: await store.deployment.ensureSecret('fact_digest_key'),
      }),
      identity: identity.endpoints,
      operations: {
        readiness: createReadiness({ store, pool, feed, isLogHealthy, isStopping: () => stopping }),
        describe: () => ({
          version: VERSION,
          signer,
          store: store.kind,
          workers: pool.stats().workers,
          attesters: attesterReload.isCurrent() ? 'current' : 'outdated',
          leader: sharing.leader(),
        }),
        requestIds,
        metrics: async () => ({ contentType: metrics.contentType, body: await place.collectMetrics(metrics.expose) }),
      },
      requestIds,
      valve,
      recordRefusal: (status, code) => {
        metrics.recordError(code)
        refused(status, 0)
      },
      report,
    })
    // A start that fails from here on must not leave a listener behind.
    closers.push(app.stopNow)
    closers.push((await sharing.lead([facts.duty, ...identity.duties])).stop)
    // After the API: bundling the pages takes longer than all the rest.
    const portal = isFirst
      ? await startPortalService({
          ...{ store, identity, portalUrl, deadlines, requestIds, metrics, clock, report },
          config: { ...config, portalListen },
        })
      : null
    if (portal !== null) closers.push(portal.stop)
    const admin = isFirst
      ? await startAdmin({
          config: { ...config, dashboardListen },
          ...{
            folder,
            store,
            processes: place.control,
            identity,
            organizationKeys,
            passphrase,
            authenticator,
            limiter,
            sharing,
            deadlines,
            requestIds,
            metrics,
          },
          ...{ clock, log, report, signer, version: VERSION },
          factCollector: facts.collector,
          urls: { api: listenUrl(apiListen), dashboard: dashboardUrl },
        })
      : null
    if (admin !== null) {
      closers.push(admin.stop)
      streams.push(admin.streams)
    }
    return {
      url: app.url,
      signer,
      quickstart,
      welcome: admin?.welcome ?? null,
      metrics: metrics.expose,
      read: reading.read,
      resize: pool.resize,
      stop: async () => {
        stopping = true
        // A listener never stops while a stream is open.
        identity.close()
        admin?.endStreams()
        // Balancers see `/readyz` and clients `Connection: close` before the door shuts.
        await Bun.sleep(STOP_GRACE_MS)
        // The listener first: what was accepted may still be on its way to the pool. Half a request must not hold it.
        const cut = setTimeout(() => void app.stopNow(), config.deadlineMs)
        await Promise.allSettled([app.stop(), portal?.stop(), admin?.stop()])
        clearTimeout(cut)
        await pool.drain(config.deadlineMs)
        deadlines.stop()
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
