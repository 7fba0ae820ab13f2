// Builds the identity API.

import { type Lead, type LeaderTask, LeadLostError } from '../cluster/leader.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { Reach } from '../domain/list.ts'
import { type CheckTables, createStoreChecks } from '../identity/checks/store-checks.ts'
import { createTraces } from '../identity/checks/traces.ts'
import { createIdentityEndpoints, type IdentityEndpoints } from '../identity/endpoints.ts'
import type { ScannerAddress } from '../identity/evidence/clamd.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import type { DecisionFacts, DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import { createSessionKnowledge } from '../identity/session-knowledge.ts'
import {
  type ChangeTogether,
  createChangeTogether,
  createSessionChanges,
  type SessionChanges,
  type SessionChangesDependencies,
} from '../identity/sessions/changes.ts'
import { createQrCodes } from '../identity/sessions/portal-link.ts'
import { createManualProvider, createProviders, type Providers } from '../identity/sessions/providers.ts'
import { createRegister, type Register } from '../identity/sessions/register.ts'
import { createSandboxProvider } from '../identity/sessions/sandbox.ts'
import { createVerifyWallet } from '../identity/sessions/verify.ts'
import { createStandings, type Standings, type StandingsDependencies } from '../identity/standing/standings.ts'
import { createStreamHub, type StreamHub } from '../identity/streams/stream-hub.ts'
import { createDeciders, createWebhookProvider } from '../identity/webhooks/provider.ts'
import { type ProviderEndpoints, SERVICE_EVENTS } from '../identity/webhooks/provider-endpoints.ts'
import type { FindService } from '../lib/service-key.ts'
import { systemClock } from '../lib/time.ts'
import type { IdentityCore, SessionParts, WalletSources } from '../module-interface/module.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { Authenticator } from '../server/authenticate.ts'
import type { Gate } from '../server/gate.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import type { SignedGate } from '../server/signed-gate.ts'
import type { Change } from '../store/changes.ts'
import type { Transaction } from '../store/database.ts'
import { decodeSessionSubject } from '../store/sessions/session-changes.ts'
import type { Store, Tables } from '../store/store.ts'
import { createDecisionTimes, type IdentityMetrics } from '../telemetry/identity-metrics.ts'
import type { Logger } from '../telemetry/log.ts'
import { createCheckTask } from './check-service.ts'
import { createEvidenceParts } from './evidence-service.ts'
import { createWebhookParts } from './webhook-service.ts'

export interface IdentityDependencies {
  readonly store: Store
  /** Shared with policies (createStoredStandings). */
  readonly standings: Standings
  readonly gate: Gate
  readonly idempotent: IdempotencyGuard
  readonly authenticator: Authenticator
  readonly log: Logger
  readonly chains: ChainTable
  readonly portalUrl: string
  readonly streamsMax: number
  readonly streamsPerKeyMax: number
  /** Gate for callers that sign messages instead of sending a key. */
  readonly signedGate: SignedGate
  readonly organizationKeys: OrganizationKeys
  readonly evidenceFolder: string
  readonly webhookReach: Reach
  readonly scanner: ScannerAddress | null
  readonly scannerAway: 'refuse' | 'allow'
  readonly walletSources: WalletSources
  readonly findService: FindService
  readonly openModules: (core: IdentityCore) => Promise<Required<SessionParts>>
}

export interface Identity {
  readonly endpoints: IdentityEndpoints & ProviderEndpoints
  readonly streams: Pick<StreamHub, 'size' | 'open'>
  readonly changes: SessionChanges
  readonly providers: Providers
  readonly evidence: EvidenceService
  /** Works in a transaction of the caller, who must announce the change after the commit. */
  readonly registerIn: (tables: Tables) => Register
  readonly readings: DocumentReadings
  readonly decisionFacts: DecisionFacts
  readonly sessionKnowledge: SessionKnowledge
  /** Lists of sanctioned people in the screening process. */
  readonly screeningLists: NonNullable<SessionParts['lists']>
  metrics(): IdentityMetrics
  followChange(change: Change): void
  resync(): void
  load(): Promise<void>
  readonly leaderTasks: readonly LeaderTask[]
  close(): void
  stop(): Promise<void>
}

const TICKS_PER_SECOND = 20

/** Shared by the API and policies, so that they never disagree. */
export const createStoredStandings = (
  store: Pick<Store, 'walletStandings' | 'organizations'>,
  isUpToDate: () => boolean,
  loadDetails?: StandingsDependencies['loadDetails'],
): Standings =>
  createStandings({
    isUpToDate,
    ...(loadDetails === undefined ? {} : { loadDetails }),
    source: store.walletStandings,
    loadLevel: async (organizationId) => (await store.organizations.find(organizationId))?.level ?? null,
  })

export const createIdentity = async (dependencies: IdentityDependencies): Promise<Identity> => {
  const { store, standings, gate, idempotent, authenticator, log } = dependencies
  const { portalUrl, streamsMax, streamsPerKeyMax } = dependencies
  const hub = createStreamHub({
    read: store.sessions.find,
    readSince: store.sessions.findSince,
    streamsMax,
    streamsPerKeyMax,
    ticksPerSecond: TICKS_PER_SECOND,
    onError: (error) => log.warn('an event stream could not be updated; will retry', { error }),
  })
  const listener = { stateChanged: hub.publish, standingChanged: standings.sessionChanged }
  const changesOver = (changeStatus: SessionChangesDependencies['sessions']['changeStatus']): SessionChanges =>
    createSessionChanges({ sessions: { ...store.sessions, changeStatus }, wallets: store.sessionWallets, listener })
  const changes = changesOver(store.sessions.changeStatus)
  let lead: Lead | null = null
  const checkLead: LeaderTask = {
    name: 'lead of the session checks',
    start: (begun) => {
      lead = begun
    },
    stop: () => Promise.resolve(),
  }
  /** An earlier leader's lists may be outdated. */
  const requireLead = async (transaction: Transaction): Promise<void> => {
    if (!(await lead?.holds(transaction))) throw new LeadLostError()
  }
  const together: ChangeTogether<CheckTables> = createChangeTogether(
    (work) =>
      store.transaction(
        ({ sessions, sessionWallets: wallets, sessionChecks: checks, screeningSettings: settings }) =>
          work({ sessions, wallets, checks, settings }),
        { survives: 'process-crash', beforeCommit: requireLead },
      ),
    listener,
  )
  const deciders = createDeciders({
    endpoints: store.webhookEndpoints,
    onError: (error) => log.warn('could not read the endpoints for decisions; keeping the previous ones', { error }),
  })
  const providers = createProviders({
    manual: createManualProvider(changes),
    sandbox: createSandboxProvider(changes),
    outside: { provider: createWebhookProvider(changes), decides: deciders.decides },
  })
  const evidenceParts = createEvidenceParts({
    store,
    log,
    keys: dependencies.organizationKeys,
    folder: dependencies.evidenceFolder,
    scanner: dependencies.scanner,
    scannerAway: dependencies.scannerAway,
    changed: hub.publish,
  })
  const decisionTimes = createDecisionTimes()
  const sessionKnowledge = createSessionKnowledge({ store, evidence: evidenceParts.evidence })
  const traces = createTraces({ keys: dependencies.organizationKeys, store: store.sessionTraces })
  const storeChecks = createStoreChecks(together, (organizationId, compared) =>
    traces.valueOf(organizationId, 'hit', compared),
  )
  const modules = await dependencies.openModules({
    evidence: evidenceParts.evidence,
    readings: evidenceParts.readings,
    decisionFacts: evidenceParts.decisionFacts,
    knowledge: sessionKnowledge,
    traces,
    storeChecks,
    changesOver,
    wallets: dependencies.walletSources,
    onDecided: decisionTimes.record,
  })
  const checkTask = createCheckTask({ store, log, storeChecks, parts: modules.checks, onChecked: modules.onChecked })
  const webhooks = createWebhookParts({
    store,
    changesOver,
    log,
    keys: dependencies.organizationKeys,
    evidence: evidenceParts.evidence,
    gate: dependencies.signedGate,
    reach: dependencies.webhookReach,
    prepareRequireCurrent: modules.prepareRequireCurrent,
    createServiceEndpoint: (await dependencies.findService(SERVICE_EVENTS)?.()) ?? null,
    clock: systemClock,
  })
  const registerBy = { providers, portalUrl, clock: systemClock, qrCodeOf: createQrCodes(portalUrl) }
  const register = createRegister({
    ...registerBy,
    together: createChangeTogether(
      (work) =>
        store.transaction(({ sessions, sessionWallets: wallets, apiKeys }) => work({ sessions, wallets, apiKeys }), {
          survives: 'process-crash',
        }),
      listener,
    ),
  })
  const ticking = setInterval(hub.tick, 1_000 / TICKS_PER_SECOND)
  ticking.unref()

  return {
    endpoints: {
      ...webhooks.endpoints,
      ...createIdentityEndpoints({
        gate,
        idempotent,
        authenticator,
        hub,
        sessions: store.sessions,
        register,
        verifyWallet: createVerifyWallet(standings),
        chains: dependencies.chains,
      }),
    },
    streams: hub,
    changes,
    providers,
    evidence: evidenceParts.evidence,
    registerIn: ({ sessions, sessionWallets: wallets, apiKeys }) => {
      const silent = { stateChanged: () => undefined, standingChanged: () => undefined }
      const changes = createSessionChanges({ sessions, wallets, listener: silent })
      return createRegister({ ...registerBy, together: (work) => work(changes, { sessions, wallets, apiKeys }) })
    },
    readings: evidenceParts.readings,
    decisionFacts: evidenceParts.decisionFacts,
    sessionKnowledge,
    metrics: () => ({
      ...webhooks.metrics(),
      ...evidenceParts.metrics(),
      sessionDecisions: decisionTimes.snapshot(),
    }),
    followChange: ({ topic, subjectId }) => {
      if (topic === 'organization') {
        standings.organizationChanged(subjectId)
        deciders.refresh()
      }
      if (topic !== 'session') return
      const subject = decodeSessionSubject(subjectId)
      standings.sessionChanged(subject)
      hub.refresh(subject.sessionId, subject.sequence)
    },
    resync: () => {
      standings.clear()
      hub.refreshAll()
      deciders.refresh()
    },
    load: deciders.load,
    screeningLists: modules.lists,
    leaderTasks: [checkLead, webhooks.leaderTask, evidenceParts.leaderTask, ...modules.leaderTasks, checkTask],
    close: () => {
      clearInterval(ticking)
      hub.close()
    },
    stop: async () => {
      await Promise.all([evidenceParts.close(), modules.stop()])
    },
  }
}
