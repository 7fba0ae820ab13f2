// What the routes of the admin API work with. Made by the composition root; a route asks for nothing else.
import type { WalletAddress } from '../domain/address.ts'
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { Reach } from '../domain/list.ts'
import type { NearNames } from '../domain/screening-hit.ts'
import type { CheckType } from '../domain/session.ts'
import type { Clock } from '../domain/time.ts'
import type { DecisionFacts, DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import type { FactCollector } from '../policy/types/needs.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { Store } from '../store/store.ts'
import type { DashboardOrigins } from './accounts/origin.ts'
import type { Passkeys } from './accounts/passkeys.ts'
import type { Passwords } from './accounts/password.ts'
import type { SecretBox } from './accounts/secret-box.ts'
import type { Sessions } from './accounts/sessions.ts'
import type { SignIn } from './accounts/sign-in.ts'
import type { DecisionSearch } from './decisions/search.ts'
import type { ProcessControl } from './live/processes.ts'
import type { LiveStreams } from './live/streams.ts'
import type { LiveWatch } from './live/watch.ts'
import type { ApiDocuments } from './routes/reference.ts'
import type { TaskRunner } from './task-runner.ts'

/** A key that was made or found: its keystore is on the disk, or it is in the token; nobody knows of it yet. */
export interface NewAttesterKey {
  readonly kind: 'secp256k1' | 'ed25519'
  readonly address: string
  /** File name in the folder of keystores, or the PKCS#11 URI of a key in a token. */
  readonly keystoreFile: string
}

/** One thing that was looked at on a chain. */
export interface ChainFinding {
  readonly chain: string
  readonly check: 'rpc' | 'clock' | 'registry' | 'attester'
  /** The host of an RPC URL, the registry's address, or an attester's. */
  readonly subject: string
  /** `problem`: attestations fail, or can't be had. `note`: worth knowing. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}

export interface SessionMaker {
  /** A new session, or the organization's own for that wallet, with a link that is stored nowhere. */
  readonly make: (session: {
    readonly organizationId: string
    readonly environment: ApiKeyEnvironment
    readonly checkType: CheckType
    readonly walletAddress: WalletAddress | null
    readonly originUrl: string | null
    readonly actor: string
  }) => Promise<{ readonly created: boolean; readonly sessionId: string; readonly link: string }>
  /** Another link. @throws SessionUnknownError */
  readonly link: (organizationId: string, sessionId: string) => Promise<string>
}

/** The newest head of the decision log's tree, and who has cosigned it. */
export interface LogHead {
  /** Verifier key. */
  readonly logKey: string
  /** Lines that the newest signed head covers. */
  readonly size: number
  /** The signed head that others are shown, with its cosignatures. */
  readonly published: string
  readonly publishedSize: number
  /** Cosignatures that a head has to have. */
  readonly required: number
  readonly withinSeconds: number
  /** Whether fewer witnesses than are required have cosigned in time. */
  readonly isLate: boolean
  readonly witnesses: readonly { readonly name: string; readonly atSeconds: number | null }[]
}

export interface Services {
  readonly store: Store
  /** Resolves once the caches of this process know of every change that is committed by now. */
  readonly changesTold: () => Promise<void>
  readonly clock: Clock
  readonly version: string
  /** Name of the signing backend. */
  readonly signer: string
  /** Where the attestation and identity APIs answer, without a trailing slash. */
  readonly apiUrl: string
  readonly chains: ChainTable
  readonly origins: DashboardOrigins
  readonly passwords: Passwords
  readonly passkeys: Passkeys
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly box: SecretBox
  /** All processes of the service, and their workers. */
  readonly processes: ProcessControl
  readonly createAttesterKey: (kind: 'secp256k1' | 'ed25519') => Promise<NewAttesterKey>
  /**
   * Finds a key in the hardware token and lets it sign once.
   * @param key its label or PKCS#11 URI
   * @throws FieldInvalidError for `token_key`, DependencyUnavailableError while the token is away
   */
  readonly findTokenKey: (kind: 'secp256k1' | 'ed25519', key: string) => Promise<NewAttesterKey>
  /** Takes a keystore away again that no attester has. */
  readonly discardKeystore: (keystoreFile: string) => void
  /** Sources that simulations ask besides lists, and the screeners that documents may name. */
  readonly policyFacts: FactCollector & {
    readonly screeners: ReadonlySet<string>
    readonly chains: ReadonlySet<string>
  }
  readonly identity: {
    readonly evidence: Pick<
      EvidenceService,
      'listEvidence' | 'missing' | 'readFields' | 'findByFields' | 'openDocument' | 'eraseSession'
    >
    readonly sessions: SessionMaker
    /** What the service read of documents. */
    readonly readings: Pick<DocumentReadings, 'read'>
    /** What policies decided sessions on. */
    readonly decisionFacts: Pick<DecisionFacts, 'read'>
    /** For trying policies on sessions. */
    readonly knowledge: SessionKnowledge
  }
  /**
   * A URL that an operator wrote, if it may be asked at all, in its canonical form.
   * @throws FieldInvalidError for the field `url`
   */
  readonly reachableUrl: (text: string, reach: Reach) => string
  /** What names of an organization's newest sessions are like, from a score on; null while no list was read. */
  readonly nearNames: (organizationId: string, lowest: number) => Promise<NearNames | null>
  readonly webhooks: {
    /** Where receivers of messages may be. */
    readonly reach: Reach
    /** Sealed for the endpoint that it is for. */
    readonly sealSecret: (
      organizationId: string,
      endpointId: string,
      secret: Uint8Array,
    ) => Promise<{ readonly sealed: Uint8Array; readonly sealedUnder: Uint8Array }>
  }
  /** Whether the configured chains and their registries are as they should be. Asks them, so it takes as long as they do. */
  readonly inspectChains: () => Promise<readonly ChainFinding[]>
  readonly decisions: DecisionSearch
  /**
   * The proof that a decision is in the log, and the key of the log; null where the organization has no such decision.
   * @throws DependencyUnavailableError while no signed head covers it
   */
  readonly prove: (
    organizationId: string,
    uuid: string,
  ) => Promise<{ readonly proof: string; readonly logKey: string } | null>
  /** The attestation API's own `POST /v2/attestation`, key and limits and all. */
  readonly attest: (request: Request) => Promise<Response>
  /** Null before the first. @throws DependencyUnavailableError before there is a tree */
  readonly logHead: () => Promise<LogHead | null>
  /** How the audit log differs from its signed heads that are kept beside the decision log's tree, in words. */
  readonly auditHeadProblems: () => Promise<readonly string[]>
  readonly tasks: TaskRunner
  readonly live: LiveWatch
  readonly liveStreams: LiveStreams
  /** Null where the reference is switched off. */
  readonly documents: ApiDocuments | null
}
