// Opens everything needed before the first request. Nothing is used above the line that creates it.

import { followChanges } from '../cluster/change-followers.ts'
import { createOrganizationShares } from '../cluster/organization-numbers.ts'
import type { ServicePlace } from '../cluster/place.ts'
import { createRuleCheck } from '../cluster/rule-check.ts'
import type { Config } from '../config/config.ts'
import { createEvidenceFiles } from '../identity/evidence/evidence-files.ts'
import { createDetailsReader } from '../identity/evidence/typed-fields.ts'
import { createVault } from '../identity/evidence/vault.ts'
import { createIdentityDetails, createIdentityFacts } from '../identity/standing/standings.ts'
import type { Closers } from '../lib/closers.ts'
import { findServiceAmong } from '../lib/service-key.ts'
import { systemClock, systemTimers } from '../lib/time.ts'
import type { Module, ModuleCore } from '../module-interface/module.ts'
import { leftOutModules, openModules, providedByModules } from '../module-interface/open-modules.ts'
import { createCatalog } from '../policy/catalog.ts'
import { createAuthenticator } from '../server/authenticate.ts'
import { listenUrl } from '../server/listen-address.ts'
import { inspectCertificateTerms } from '../setup/certificate-term.ts'
import { dataFolderAt, makeDataFolder } from '../setup/data-folder.ts'
import { prepareOrganizationKeys } from '../setup/evidence-key.ts'
import { inspectExposure } from '../setup/exposure.ts'
import { rememberSources } from '../setup/fact-sources.ts'
import { rememberLeftOut } from '../setup/left-out-modules.ts'
import { locatePassphrase } from '../setup/passphrase.ts'
import { isFirstStart, prepareQuickstart } from '../setup/quickstart.ts'
import { locateStore, rememberStore } from '../setup/store-location.ts'
import { readListenerTls } from '../setup/tls-files.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import { openStore } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { createOrganizationLatency } from '../telemetry/request-metrics.ts'
import { createFacts } from './facts-service.ts'
import { createStoredStandings } from './identity-service.ts'
import { createSharing } from './sharing-service.ts'
import { createNoSigning, openSigning } from './signing-service.ts'

/** Number of slots: more than the workers of any process, including lost workers in native code. */
const SLOTS_PER_PROCESS = 1_000

const clock = systemClock
const { after } = systemTimers

const namesOf = (config: Config): readonly string[] => [...config.modules].sort()

const endProcess = (): void => {
  process.kill(process.pid, 'SIGTERM')
}

const openStorage = async (
  config: Config,
  log: Logger,
  isFirst: boolean,
  known: readonly string[],
  closers: Closers,
) => {
  const folder = dataFolderAt(config.dataDir)
  makeDataFolder(folder)
  const tls = readListenerTls(config)
  const target = await locateStore(config, folder)
  if (isFirst) {
    for (const { detail, subject } of inspectExposure(config, target)) {
      log.warn('traffic may cross a network unprotected', { setting: subject, reason: detail })
    }
    for (const { detail, subject } of inspectCertificateTerms(tls, clock.unixSeconds())) {
      log.warn('the certificate of a listener has expired or expires soon', { listener: subject, reason: detail })
    }
  }
  const store = await openStore({
    target,
    clock,
    limits: config,
    checkpoints: 'separate-thread',
    longReads: 'separate-thread',
  })
  closers.add(store.close)
  const ruleCheck = createRuleCheck({
    store,
    modules: { running: namesOf(config), known },
    wait: Bun.sleep,
    log,
    endProcess,
  })
  await ruleCheck.requireSameRules()
  if (isFirst) await rememberStore(folder, target)
  if (isFirst && config.serve.has('attestation')) await rememberSources(store, config)
  const passphrase = config.serve.has('attestation')
    ? locatePassphrase(config, folder, await isFirstStart(store, folder))
    : null
  const urls = {
    api: config.apiUrl === '' ? listenUrl(config.apiListen, tls.api !== null) : config.apiUrl,
    portal: config.portalUrl === '' ? listenUrl(config.portalListen, tls.portal !== null) : config.portalUrl,
    dashboard:
      config.dashboardUrl === '' ? listenUrl(config.dashboardListen, tls.dashboard !== null) : config.dashboardUrl,
  }
  const quickstart = await prepareQuickstart({
    keystores:
      passphrase === null
        ? null
        : { passphrase: await readPassphrase(passphrase.source), workFactor: passphrase.workFactor },
    store,
    folder,
    chains: config.chains,
    urls,
    demo: !config.noDemo,
  })
  const organizationKeys = await prepareOrganizationKeys(config, folder, store)
  return { folder, tls, target, store, ruleCheck, passphrase, urls, quickstart, organizationKeys }
}

/** @throws SettingInvalidError, StoreUnusableError, WorkersUnusableError, each with one line for the operator */
export const openService = async (
  config: Config,
  log: Logger,
  { index, isTrial = false }: ServicePlace,
  modules: readonly Module[],
  closers: Closers,
) => {
  const isFirst = index === 0
  const known = modules.map(({ name }) => name)
  const { ruleCheck, ...storage } = await openStorage(config, log, isFirst, known, closers)
  const { folder, store, target } = storage
  if (isFirst) {
    const leftOut = leftOutModules(modules, config).map(({ name }) => name)
    await rememberLeftOut(folder, leftOut)
  }
  const provided = providedByModules(modules, { config, folder })
  const core: ModuleCore = {
    config,
    folder,
    store,
    target,
    isFirst,
    isTrial,
    findService: findServiceAmong(provided),
    clock,
    after,
    log,
  }
  // Closed after the pool, whose last records modules also process.
  const moduleParts = await openModules(modules, core, closers)

  const catalog = createCatalog({ source: store.policySource, clock, maxEntries: config.policyCacheSize })
  const authenticator = createAuthenticator({ findKey: (keyId) => store.apiKeys.findForAuthentication(keyId), clock })
  const shares = createOrganizationShares(config, store, log)
  const signing =
    storage.passphrase === null
      ? createNoSigning()
      : await openSigning({
          core: { ...core, passphrase: storage.passphrase },
          modules,
          closers,
          weightOf: shares.weightOf,
          firstSlot: index * SLOTS_PER_PROCESS,
          catalog,
        })
  const { pool, attesterReload } = signing

  const feed = followChanges(store, clock, log, {
    catalog,
    authenticator,
    pool,
    attesters: attesterReload,
    endProcess,
  })
  const standings = createStoredStandings(
    store,
    feed.healthy,
    createDetailsReader({
      findDetailsUse: store.portalProgress.findDetailsUse,
      store: store.evidence,
      vault: createVault({ files: createEvidenceFiles(folder.evidence), keys: storage.organizationKeys }),
    }),
  )
  const facts = await createFacts({
    config,
    store,
    pool,
    clock,
    log,
    environment: process.env,
    identityOf: createIdentityFacts(standings),
    identityDetailsOf: createIdentityDetails(standings),
    identityChanges: standings.changes,
  })
  await feed.start()
  closers.add(feed.stop)
  closers.add(facts.close)
  for (const follower of [...shares.followers, facts]) await feed.follow(follower)
  await pool.start()
  closers.add(() => pool.close())
  // The keys may have changed before the feed was followed. Missing keystores are retried; `/readyz` reports them.
  attesterReload.reload()

  const sharing = createSharing({
    store,
    modules: namesOf(config),
    onReturn: ruleCheck.endUnlessSameRules,
    clock,
    log,
    index,
    timers: systemTimers,
  })
  closers.add(sharing.stop)
  await sharing.join()
  // Another process may have started at the same time.
  await ruleCheck.requireSameRules()
  const latency = createOrganizationLatency()
  store.upkeep.start({
    takeUses: authenticator.takeUses,
    drainLatencies: latency.drain,
    sweeps: sharing.leads,
    onError: (error) => log.warn('a maintenance task of the store failed', { error }),
  })
  return {
    ...storage,
    modules,
    core,
    moduleParts,
    provided: [...provided, ...moduleParts.services],
    clock,
    isFirst,
    catalog,
    authenticator,
    latency,
    capOf: shares.capOf,
    signing,
    standings,
    facts,
    feed,
    sharing,
  }
}

export type OpenedService = Awaited<ReturnType<typeof openService>>
