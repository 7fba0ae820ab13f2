// Interface between the core and its modules. The core receives the declarations in src/modules/*/module.ts
// (src/modules.ts) and never imports a module.
import type { LeaderTask } from '../cluster/leader.ts'
import type { Verb } from '../command-line/command.ts'
import type { Config } from '../config/config.ts'
import type { ModuleSettings } from '../config/module-settings.ts'
import type { Session } from '../domain/session.ts'
import type { ListMembership } from '../facts/lists/serve-lists.ts'
import type { ScreenedWallet, Screener } from '../facts/screener.ts'
import type { StoreChecks } from '../identity/checks/check-again.ts'
import type { CheckPart } from '../identity/checks/checks.ts'
import type { Traces } from '../identity/checks/traces.ts'
import type { DecisionFacts, DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import type { SessionChanges, SessionChangesDependencies } from '../identity/sessions/changes.ts'
import type { FindService, ProvidedService } from '../lib/service-key.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { AttesterReference } from '../pool/protocol.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Finding } from '../setup/finding.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import type { TokenSettings } from '../signing/types.ts'
import type { PrepareRequireCurrent } from '../store/sessions/provider-results.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Exposition } from '../telemetry/exposition.ts'
import type { FactMetrics } from '../telemetry/fact-metrics.ts'
import type { DecisionOutcome } from '../telemetry/identity-metrics.ts'
import type { Logger } from '../telemetry/log.ts'
import type { MetricDefinition } from '../telemetry/metric-table.ts'
import type { Tracer } from '../telemetry/tracer.ts'

import type { ModuleCommands } from './commands.ts'
import type { ModuleOperations } from './operations.ts'

export interface ModuleCore {
  readonly config: Config
  readonly folder: DataFolder
  readonly store: Store
  readonly target: StoreTarget
  /** True for the first process of its node. */
  readonly isFirst: boolean
  /** True during the trial of a restored backup. */
  readonly isTrial: boolean
  /** Finds services that modules provide before opening. */
  readonly findService: FindService
  readonly clock: Clock
  readonly after: Timers['after']
  readonly log: Logger
}

export interface OpenedModule {
  /** Decides which requests are traced. At most one module provides a tracer. */
  readonly tracer?: Tracer
  readonly addMetrics?: (exposition: Exposition) => void
  /** Services in addition to `services` of the declaration. */
  readonly services?: readonly ProvidedService[]
  /** Called after the listeners and the signing workers have stopped. */
  stop?(): Promise<void> | void
}

/** Parts of the core in a process that serves attestations, before the signing workers start. */
export interface AttestationCore extends ModuleCore {
  readonly passphrase: Passphrase
  /** Attesters whose keys are present. */
  readonly attesters: readonly AttesterReference[]
}

/** A module's additions to a process that serves attestations. */
export interface AttestationParts extends Pick<OpenedModule, 'addMetrics' | 'stop'> {
  /** Hardware token for attester keys; null if none is configured. At most one module provides it. */
  readonly token?: TokenSettings | null
  /** Tasks that run in one process of the deployment. */
  readonly leaderTasks?: readonly LeaderTask[]
}

export interface WalletSources {
  readonly lists: () => readonly ListMembership[]
  /** Screeners by name. */
  readonly screeners: ReadonlyMap<string, Pick<Screener, 'screen'>>
  /** Finds a chain by its name in the session. */
  readonly chainOf: (name: string) => Promise<ScreenedWallet['chain']>
}

export interface IdentityCore {
  readonly evidence: EvidenceService
  readonly readings: DocumentReadings
  /** Facts that policies used to decide sessions. */
  readonly decisionFacts: DecisionFacts
  readonly knowledge: SessionKnowledge
  readonly traces: Traces
  readonly storeChecks: StoreChecks
  /** Creates session changes over the given `changeStatus`, with the usual notifications. */
  readonly changesOver: (changeStatus: SessionChangesDependencies['sessions']['changeStatus']) => SessionChanges
  readonly wallets: WalletSources
  /** @param seconds since the submission */
  readonly onDecided: (outcome: DecisionOutcome, seconds: number) => void
}

/** Parts of the core for a module's part of the identity API. */
export interface SessionCore extends ModuleCore, IdentityCore {
  readonly prepareRequireCurrent: PrepareRequireCurrent
}

export interface SessionParts {
  /** Checks that the leader runs for each submitted session. */
  readonly checks?: readonly CheckPart[]
  /** Called at least once, after all checks of a session are stored. At most one module provides it. */
  readonly onChecked?: (session: Session) => Promise<void>
  readonly prepareRequireCurrent?: PrepareRequireCurrent
  readonly leaderTasks?: readonly LeaderTask[]
  readonly lists?: () => FactMetrics['lists']
  stop?(): Promise<void>
}

/** Parts of the deployment that `countersign doctor` inspects. */
export interface Inspection extends Pick<ModuleCore, 'config' | 'folder' | 'store' | 'target' | 'clock'> {}

export interface Module extends ModuleSettings {
  readonly metrics?: Readonly<Record<string, MetricDefinition>>
  /** Imports of process entries, by path from the root of the repository, for the single-file executable. */
  readonly processes?: Readonly<Record<string, () => Promise<unknown>>>
  /** Returns the environment variables for the trial of a restored backup. */
  readonly trialEnvironment?: (config: Config) => Readonly<Record<string, string>>
  /** Services for the running service and for commands. Implementations import their code on use. */
  readonly services?: (core: Pick<ModuleCore, 'config' | 'folder'>) => readonly ProvidedService[]
  readonly operations?: () => Promise<ModuleOperations>
  /** Commands not derived from operations. */
  readonly commands?: ModuleCommands
  /** Commands without a noun. */
  readonly verbs?: Readonly<Record<string, Verb>>
  readonly inspect?: (inspection: Inspection) => Promise<readonly Finding[]>
  /** Imports and starts the module, unless it is left out. */
  open?(core: ModuleCore): Promise<OpenedModule>
  /** Opens the part for processes that serve attestations. Only this part gets the passphrase. */
  openAttestation?(core: AttestationCore): Promise<AttestationParts>
  /** Opens the part for processes that serve the identity API. */
  openSessions?(core: SessionCore): Promise<SessionParts>
}

export const defineModule = (module: Module): Module => module
