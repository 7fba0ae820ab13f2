// Services for admin API routes, created in src/compose.
import type { WalletAddress } from '../domain/address.ts'
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { Reach } from '../domain/list.ts'
import type { CheckType } from '../domain/session.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import type { DecisionFacts, DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import type { CountedSlots } from '../lib/counted-slots.ts'
import { type FindService, serviceKey } from '../lib/service-key.ts'
import type { Clock } from '../lib/time.ts'
import type { FairWork } from '../policy/fair-work.ts'
import type { FactCollector, FactNeed } from '../policy/types/needs.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { Store, Tables } from '../store/store.ts'
import type { DashboardOrigins } from './accounts/origin.ts'
import type { Passkeys } from './accounts/passkeys.ts'
import type { Passwords } from './accounts/password.ts'
import type { SecretBox } from './accounts/secret-box.ts'
import type { Sessions } from './accounts/sessions.ts'
import type { SignIn } from './accounts/sign-in.ts'
import type { DecisionSearch } from './decisions/search.ts'
import type { Downloads } from './downloads.ts'
import type { ListUploads } from './list-uploads.ts'
import type { ProcessControl } from './live/processes.ts'
import type { LiveStreams } from './live/streams.ts'
import type { LiveWatch } from './live/watch.ts'
import type { ApiDocuments } from './routes/reference.ts'
import type { TaskRunner } from './task-runner.ts'

/** Key in a keystore or token that isn't an attester yet. */
export interface NewAttesterKey {
  readonly kind: 'secp256k1' | 'ed25519'
  readonly address: string
  /** File name in the keystore folder, or PKCS#11 URI of a key in a token. */
  readonly keystoreFile: string
}

export interface ChainFinding {
  readonly chain: string
  readonly check: 'rpc' | 'clock' | 'registry' | 'attester'
  /** Host of an RPC URL, or address of the registry or an attester. */
  readonly subject: string
  /** `problem`: attestations fail or are refused. `note`: information. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}

interface SessionMaker {
  /** Creates a session, or finds the wallet's session. Returns the link, of which only a hash is stored. */
  readonly make: (
    tables: Tables,
    session: {
      readonly organizationId: string
      readonly environment: ApiKeyEnvironment
      readonly checkType: CheckType
      readonly walletAddress: WalletAddress | null
      readonly originUrl: string | null
      readonly actor: string
    },
  ) => Promise<{ readonly created: boolean; readonly sessionId: string; readonly link: string }>
  readonly link: (tables: Tables, organizationId: string, sessionId: string) => Promise<string>
}

/** Differences between the audit log and its signed heads. */
export const AUDIT_HEAD_PROBLEMS = serviceKey<() => Promise<readonly string[]>>('heads of the audit log')

export interface Services {
  readonly findService: FindService
  readonly store: Store
  /** Resolves when the caches of this process include all committed changes. */
  readonly notifyChanges: () => Promise<void>
  readonly clock: Clock
  readonly version: string
  readonly signer: string
  /** URL of the attestation and identity APIs, without a trailing slash. */
  readonly apiUrl: string
  readonly chains: ChainTable
  readonly origins: DashboardOrigins
  readonly passwords: Passwords
  readonly passkeys: Passkeys
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly box: SecretBox
  readonly processes: ProcessControl
  readonly createAttesterKey: (kind: 'secp256k1' | 'ed25519') => Promise<NewAttesterKey>
  readonly discardKeystore: (keystoreFile: string) => void
  /** Fact sources for simulations, and the screeners and chains that documents may name. */
  readonly policyFacts: Pick<FactCollector, 'collect'> & {
    readonly screeners: ReadonlySet<string>
    readonly chains: ReadonlySet<string>
    /** Describes each needed source that the running service lacks. */
    readonly describeMissing: (
      tables: Pick<Tables, 'deployment'>,
      needs: readonly FactNeed[],
    ) => Promise<readonly string[]>
  }
  readonly policyWork: FairWork
  readonly listUploads: ListUploads
  readonly downloads: Downloads
  readonly identity: {
    readonly evidence: Pick<
      EvidenceService,
      'listEvidence' | 'missing' | 'readFields' | 'findByFields' | 'openDocument' | 'eraseSession'
    >
    readonly sessions: SessionMaker
    readonly readings: Pick<DocumentReadings, 'read'>
    /** Facts that policies used to decide sessions. */
    readonly decisionFacts: Pick<DecisionFacts, 'read'>
    readonly knowledge: SessionKnowledge
  }
  /**
   * Returns the canonical form of an operator's URL. @throws FieldInvalidError for `field` (default: `url`) if the
   * service must not request it
   */
  readonly reachableUrl: (text: string, reach: Reach, field?: string) => string
  readonly webhooks: {
    /** Networks in which receivers may be. */
    readonly reach: Reach
    readonly keys: () => Promise<Pick<OrganizationKeys, 'seal' | 'open'>>
    /** Running tests of endpoints, by organization. */
    readonly testSlots: CountedSlots
  }
  /** Checks the configured chains and registries through their RPC URLs, which may take seconds. */
  readonly inspectChains: () => Promise<readonly ChainFinding[]>
  readonly decisions: DecisionSearch
  /** Calls `POST /v2/attestation`, including its key check and limits. */
  readonly attest: (request: Request) => Promise<Response>
  readonly tasks: TaskRunner
  readonly live: LiveWatch
  readonly liveStreams: LiveStreams
  /** Null if the reference is disabled. */
  readonly documents: ApiDocuments | null
}
