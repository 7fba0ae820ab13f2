// Opens the listeners for the roles of this process; the first process also serves the pages. Nothing is used above the
// line that creates it.
import { apiDocument } from '../admin/openapi/api.ts'
import { PROVE_DECISION } from '../attestation/proof-endpoint.ts'
import type { LeaderTask } from '../cluster/leader.ts'
import type { ServicePlace } from '../cluster/place.ts'
import { createReadiness } from '../cluster/readiness.ts'
import { createProcessReading } from '../cluster/reading.ts'
import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { PROVE_LINE } from '../decision-log/line-proof.ts'
import type { LeaderRole, ProcessRole } from '../domain/process-role.ts'
import { walletChain } from '../identity/sessions/wallet-chain.ts'
import type { Closers } from '../lib/closers.ts'
import { findServiceAmong, provide } from '../lib/service-key.ts'
import { once } from '../lib/single-flight.ts'
import { systemTimers } from '../lib/time.ts'
import { leftOutModules, openSessionModules, runningModules } from '../module-interface/open-modules.ts'
import { createModuleFinder, loadOperations } from '../module-interface/operations.ts'
import { SHIPPING } from '../object-store/ship-access.ts'
import { LOG_FILES } from '../server/log-files.ts'
import { createMetricsAnswer } from '../server/operations.ts'
import type { Logger } from '../telemetry/log.ts'
import { startAdmin } from './admin-service.ts'
import { startApp, startMetricsListener } from './app.ts'
import { createAttestation } from './attestation-service.ts'
import { openClaims } from './claims-service.ts'
import { openDecisionIndex } from './decision-index.ts'
import { createIdentity } from './identity-service.ts'
import type { OpenedService } from './opening.ts'
import { startPortalService } from './portal-service.ts'
import { createProofs } from './proof-service.ts'
import { createRequestPath } from './request-path.ts'

const BUN_IDLE_TIMEOUT_MAX_SECONDS = 255

/** Returns a time longer than the deadline, so that slow responses aren't cut off. */
const idleTimeoutSecondsOf = ({ deadlineMs }: Config): number =>
  Math.min(BUN_IDLE_TIMEOUT_MAX_SECONDS, Math.ceil(deadlineMs / 1000) + 10)

/** @throws SettingInvalidError; a listener's error if its address is in use */
export const serve = async (
  config: Config,
  log: Logger,
  place: ServicePlace,
  opened: OpenedService,
  closers: Closers,
) => {
  const { clock, isFirst, folder, tls, store, urls, organizationKeys, authenticator, catalog } = opened
  const { signing, facts, feed, sharing, provided } = opened
  const { pool, signer } = signing
  const serves = (role: ProcessRole): boolean => config.serve.has(role)
  const { limiter } = sharing
  const lifecycle = { listening: false, stopping: false }
  const streams: { size(): number }[] = []
  const openStreams = (): number => streams.reduce((sum, { size }) => sum + size(), 0)

  const { claims, memory, backlogMs, startTeller } = await openClaims({ config, store, folder, clock, log })
  const path = createRequestPath({
    config,
    store,
    authenticator,
    limiter,
    latency: opened.latency,
    clock,
    log,
    lifecycle,
    tracer: opened.moduleParts.tracer,
    claims,
    memory,
    parts: {
      chains: config.chains.chains.map(({ name }) => name),
      build: { version: VERSION, runtime: Bun.version, signer, store: store.kind },
      ...signing.metrics,
      changeFeedAgeSeconds: feed.ageSeconds,
      logLinesDropped: log.dropped,
      openStreams,
      facts: facts.metrics,
      sharing: sharing.metrics,
      addFurther: (exposition) => {
        opened.moduleParts.addMetrics(exposition)
        signing.addMetrics(exposition)
      },
    },
  })
  const { gate, signedGate, deadlines, requestIds, pacer, metrics, report } = path
  closers.add(metrics.stop)
  if (isFirst && serves('attestation')) closers.add(startTeller())
  const reading = createProcessReading({ pool, metrics, deadlines, clock, streams: openStreams })
  closers.add(reading.stop)

  const findService = findServiceAmong(provided)
  const identity = await createIdentity({
    findService,
    store,
    standings: opened.standings,
    gate,
    signedGate,
    idempotent: path.idempotentSessions,
    authenticator,
    log,
    portalUrl: urls.portal,
    chains: config.chains,
    streamsMax: config.streamsMax,
    streamsPerKeyMax: config.streamsPerKeyMax,
    organizationKeys,
    evidenceFolder: folder.evidence,
    webhookReach: config.webhookReach,
    scanner: config.scanner,
    scannerAway: config.scannerAway,
    openModules: (core) => openSessionModules(serves('identity') ? opened.modules : [], { ...opened.core, ...core }),
    walletSources: {
      lists: facts.listMemberships,
      screeners: facts.screeners,
      chainOf: (name) => walletChain(config.chains, name),
    },
  })
  if (serves('identity') || serves('portal') || serves('dashboard')) metrics.watchIdentity(identity.metrics)
  closers.add(identity.stop)
  await feed.follow(identity)
  streams.push(identity.streams)
  facts.start()
  closers.add(identity.close)

  const proveLine = findService(PROVE_LINE)
  const proofs =
    proveLine === null
      ? null
      : createProofs({ config, folder, shipping: findService(SHIPPING), proveLine, after: systemTimers.after })
  if (proofs !== null) closers.add(proofs.close)

  const refused = metrics.route('other', 'other')
  const { metricsListen } = config
  const metricsAnswer = createMetricsAnswer({
    requestIds,
    contentType: metrics.contentType,
    expose: () => place.collectMetrics(metrics.expose),
    monotonicMs: clock.monotonicMs,
  })
  const attestation = serves('attestation')
    ? createAttestation({
        config,
        path,
        catalog,
        pool,
        sharing,
        clock,
        log,
        storeBacklogMs: backlogMs,
        capOf: opened.capOf,
        collector: facts.collector,
        prove: proofs?.prove ?? null,
        digestKey: await store.deployment.ensureSecret('fact_digest_key'),
      })
    : null
  const idleTimeoutSeconds = idleTimeoutSecondsOf(config)
  const app = startApp({
    listen: config.apiListen,
    publicUrl: urls.api,
    tls: tls.api,
    shared: place.shared,
    idleTimeoutSeconds,
    endpoints: attestation,
    identity: serves('identity') ? identity.endpoints : null,
    operations: {
      readiness: createReadiness({ store, signing: signing.readiness, feed, lifecycle }),
      describe: () => ({
        version: VERSION,
        serves: [...config.serve].join(','),
        store: store.kind,
        ...signing.describe(),
        ...sharing.describe(),
      }),
      requestIds,
      metrics:
        metricsListen === null || metricsListen === 'api'
          ? { answer: metricsAnswer, isOpen: metricsListen === 'api' }
          : null,
      document:
        config.docs && (serves('attestation') || serves('identity'))
          ? once(() => apiDocument(VERSION, urls.api, config.serve))
          : null,
    },
    logFiles: serves('attestation') ? findService(LOG_FILES) : null,
    requestIds,
    pacer,
    recordRefusal: (status, code) => {
      metrics.recordError(code)
      refused(status, 0)
    },
    report,
  })
  // If startup fails after this, no listener must be left behind.
  closers.add(app.stopNow)
  if (isFirst && metricsListen !== null && metricsListen !== 'api') {
    const listen = metricsListen
    closers.add(
      startMetricsListener(metricsAnswer, { listen, tls: tls.metrics, idleTimeoutSeconds, requestIds, report }).stop,
    )
  }
  metrics.watchLists(identity.screeningLists)
  closers.add(sharing.stopLeading)
  const reaching = place.isTrial ? [] : [facts.leaderTask]
  const leaderTasks: readonly (readonly [LeaderRole, readonly LeaderTask[]])[] = [
    ['attestation', [...reaching, ...signing.leaderTasks]],
    ['identity', place.isTrial ? [] : identity.leaderTasks],
  ]
  await sharing.lead(new Map(leaderTasks.filter(([role]) => serves(role))))

  const decisions = isFirst ? await openDecisionIndex(config, folder, findService(SHIPPING), log) : null
  if (decisions !== null) closers.add(decisions.close)
  const search = decisions?.search ?? null

  // Opened after the API, because bundling the pages takes longer than all other steps.
  const portal =
    isFirst && serves('portal')
      ? await startPortalService({
          config,
          tls: tls.portal,
          store,
          identity,
          portalUrl: urls.portal,
          countryOf: facts.countryOf,
          deadlines,
          requestIds,
          metrics,
          clock,
          report,
        })
      : null
  if (portal !== null) closers.add(portal.stop)
  const leftOut = leftOutModules(opened.modules, config)
  const admin =
    search !== null
      ? await startAdmin({
          config,
          tls: tls.dashboard,
          folder,
          target: opened.target,
          store,
          provided: proofs === null ? provided : [...provided, provide(PROVE_DECISION, proofs.prove)],
          operations: await loadOperations(runningModules(opened.modules, config)),
          without: leftOut.map(({ name }) => name),
          findLeftOut: createModuleFinder(leftOut),
          notifyChanges: feed.catchUp,
          processes: place.control,
          identity,
          organizationKeys,
          passphrase: opened.passphrase,
          decisions: search,
          authenticator,
          limiter,
          sharing,
          deadlines,
          requestIds,
          metrics,
          clock,
          log,
          report,
          signer,
          version: VERSION,
          factCollector: facts.collector,
          attest: attestation === null ? null : (request) => attestation.attestation(request, null),
          urls,
        })
      : null
  if (admin !== null) {
    closers.add(admin.stop)
    streams.push(admin.streams)
  }
  lifecycle.listening = true
  return { lifecycle, app, identity, portal, admin, deadlines, metrics, reading }
}

export type ServingService = Awaited<ReturnType<typeof serve>>
