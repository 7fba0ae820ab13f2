// Identity sessions: their types, states and transitions as data. Source: spec, "States and transitions"; decisions §5.
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { ByBrowser, SessionWallet } from './wallet.ts'

/** The name in paths. */
export type SessionType = 'individual' | 'business'
/** The name in responses. */
export type CheckType = 'kyc' | 'kyb'

export const CHECK_TYPES: Readonly<Record<SessionType, CheckType>> = { individual: 'kyc', business: 'kyb' }
export const SESSION_TYPES: Readonly<Record<CheckType, SessionType>> = { kyc: 'individual', kyb: 'business' }

/** Returns null for any other text. */
export const parseSessionType = (text: string): SessionType | null =>
  text === 'individual' || text === 'business' ? text : null

export const SESSION_STATUSES = ['pending', 'submitted', 'completed', 'rejected', 'retry'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/**
 * From → to; sessions start as `pending`. `rejected` is final; leaving `completed` is a revocation, by an operator or
 * by screening.
 */
export const SESSION_TRANSITIONS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  pending: ['submitted', 'completed', 'rejected', 'retry'],
  retry: ['submitted', 'completed', 'rejected', 'retry'],
  submitted: ['completed', 'rejected', 'retry'],
  completed: ['retry', 'rejected'],
  rejected: [],
}

export const isSessionTransition = (from: SessionStatus, to: SessionStatus): boolean =>
  SESSION_TRANSITIONS[from].includes(to)

/** Returns whether the person may still connect wallets and submit evidence. */
export const isSessionOpen = (status: SessionStatus): boolean => status === 'pending' || status === 'retry'

/**
 * Statuses in which a session's checks are repeated when lists or settings change. The person of a session that was sent
 * back may never submit it again.
 */
export const COMPARED_STATUSES: readonly SessionStatus[] = ['submitted', 'completed', 'retry']

/** Returns whether no status follows: neither the person nor an operator can change it. */
export const isSessionFinal = (status: SessionStatus): boolean => SESSION_TRANSITIONS[status].length === 0

/** A session with more changes accepts no further wallets and evidence: each view of a session reads all its events. */
export const SESSION_CHANGES_MAX = 2_000

/** How often a session may be sent back to its person. After that, it must be completed or rejected. */
export const RETRIES_MAX = 5

/** Maximum number of characters in a comment on a decision. */
export const COMMENT_MAX = 1_000

export interface Session {
  /** UUID v7: increases with the time of creation, and gives no access. */
  readonly id: string
  readonly organizationId: string
  /** Sessions of test keys are isolated: no live key has access to them or their results. */
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  readonly status: SessionStatus
  /**
   * The level that the evidence must meet: the organization's level when the session was created, or last reused while
   * open.
   */
  readonly level: Level
  /** Name of the decision provider. */
  readonly provider: string
  /** The only wallet that may connect. Null for any wallet. */
  readonly lockedAddress: WalletAddress | null
  /** The URL to which the person may return: absolute https, normalized. */
  readonly originUrl: string | null
  /** The person identified by the session, across organizations. Never shown. Null until it was first completed. */
  readonly personId: string | null
  /** This organization's own id of the person (pairwise). Null if `personId` is null. */
  readonly userId: string | null
  /** Unix seconds at which the person agreed to share the result with other organizations. Null if not. */
  readonly consentedAtSeconds: number | null
  /** The message to the person about the last decision. */
  readonly publicComment: string | null
  readonly retryCount: number
  /** Increments with every change (see SessionEvent). */
  readonly sequence: number
  readonly createdAtSeconds: number
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
}

/** The complete state of a session at one moment, from which a status object is built. */
export interface SessionState {
  readonly session: Session
  /** In the order of connection. */
  readonly wallets: readonly SessionWallet[]
}

export type SessionEventKind =
  | 'created'
  | 'status'
  | 'wallet-connected'
  | 'wallet-removed'
  | 'origin-changed'
  | 'level-changed'
  | 'consented'
  | 'consent-withdrawn'
  | 'evidence-changed'
  | 'evidence-erased'

/** One change, stored in the transaction that made it. */
export interface SessionEvent {
  readonly sequence: number
  readonly kind: SessionEventKind
  /** The status after the change. */
  readonly status: SessionStatus
  /** Who made it: `key:<key id>`, `person`, `operator:<name>`, `provider:<name>`, `screening`, or a policy (policyActor). */
  readonly actor: string
  /** For the person. */
  readonly publicComment: string | null
  /** For operators. */
  readonly privateComment: string | null
  /** Missing parts, and `confirmed-hit`, that a person's override disregarded. Empty for any other change. */
  readonly overridden: readonly string[]
  readonly createdAtSeconds: number
}

const OPERATOR = 'operator:'

/** Returns the actor of changes by a member, a user or an admin key. */
export const operatorActor = (name: string): string => `${OPERATOR}${name}`

/**
 * Returns false for policies, verification services and the service itself, whose decisions no operator has reviewed.
 */
export const isOperatorActor = (actor: string): boolean => actor.startsWith(OPERATOR)

/** The actor of changes that a new hit causes. */
export const SCREENING_ACTOR = 'screening'

/** Returns the actor of changes by a policy that decides sessions. */
export const policyActor = (policyId: string, revision: number): string => `policy:${policyId}:${revision}`

/** Returns the policy and its revision's number. Null for any other actor. */
export const parsePolicyActor = (actor: string): { readonly policyId: string; readonly revision: number } | null => {
  const [, policyId, revision] = /^policy:([^:]+):([0-9]+)$/.exec(actor) ?? []
  return policyId === undefined ? null : { policyId, revision: Number(revision) }
}

/** A change of a session's status. */
export interface StatusChange extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly to: SessionStatus
  readonly actor: string
  readonly publicComment?: string | null
  readonly privateComment?: string | null
  /** With `retry`: the parts to submit again, as names of evidence fields and document kinds, or `wallets`. */
  readonly corrections?: readonly string[]
  /**
   * The session's sequence as the decider read it. Any other sequence rejects the decision. If omitted, it is not
   * checked.
   */
  readonly expectedSequence?: number
  /** Must be true to leave `completed`, so that a late decision never undoes a completed session by accident. */
  readonly revoke?: boolean
  /**
   * Completes the session even if required parts are missing. `person`: someone decided so, and the history records
   * what was missing. `sandbox`: the outcome of a test session is forced, without a submission. Without it, a
   * completion is refused. Automatic deciders must not set it.
   */
  readonly override?: 'person' | 'sandbox'
}

/** A request for a session: creates one, or finds the requester's session for the same wallet and type. */
export interface Registration {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  /** Id for a new session. A repeated request has the same id, and finds what the first attempt created. */
  readonly sessionId: string
  readonly tokenHash: Uint8Array
  readonly walletAddress: WalletAddress | null
  /** Null to keep the URL of a reused session. */
  readonly originUrl: string | null
  readonly provider: string
  readonly actor: string
}

export interface Registered {
  readonly created: boolean
  readonly session: Session
}
