// Types, states and transitions of identity sessions. Source: spec, "States and transitions"; decisions §5.
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { ByBrowser, SessionWallet } from './wallet.ts'

/** Type as named in paths. */
export type SessionType = 'individual' | 'business'
/** Type as named in responses. */
export type CheckType = 'kyc' | 'kyb'

export const CHECK_TYPES: Readonly<Record<SessionType, CheckType>> = { individual: 'kyc', business: 'kyb' }
export const SESSION_TYPES: Readonly<Record<CheckType, SessionType>> = { kyc: 'individual', kyb: 'business' }

export const parseSessionType = (text: string): SessionType | null =>
  text === 'individual' || text === 'business' ? text : null

export const SESSION_STATUSES = ['pending', 'submitted', 'completed', 'rejected', 'retry'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/** New sessions are `pending`. `rejected` is final; leaving `completed` is a revocation. */
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
 * Checks of these sessions are repeated when lists or settings change. Includes `retry`, because such a session may
 * never be submitted again.
 */
export const COMPARED_STATUSES: readonly SessionStatus[] = ['submitted', 'completed', 'retry']

/** Returns whether neither the person nor an operator can change the session. */
export const isSessionFinal = (status: SessionStatus): boolean => SESSION_TRANSITIONS[status].length === 0

/**
 * Maximum changes, after which wallets and evidence are refused: each view of a session reads all its events. Applies
 * once more after an erasure of the evidence.
 */
export const SESSION_CHANGES_MAX = 2_000

/** Maximum per organization. A rejection covers the wallets of all of them. */
export const SESSIONS_PER_PERSON_MAX = 64

/** Limit of returns to the person; after that, the session must be completed or rejected. */
export const RETRIES_MAX = 5

export const COMMENT_MAX = 1_000

export interface Session {
  /** UUID v7: increases with creation time, and gives no access. */
  readonly id: string
  readonly organizationId: string
  /** Sessions of test keys are isolated from live keys. */
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  readonly status: SessionStatus
  /** Level that the evidence must meet: the organization's when the session was created, or last reused while open. */
  readonly level: Level
  readonly provider: string
  /** The only wallet that may connect; null for any. */
  readonly lockedAddress: WalletAddress | null
  /** Normalized https URL to which the person may return. */
  readonly originUrl: string | null
  /** The person across organizations; never shown. Null until the first completion. */
  readonly personId: string | null
  /** This organization's pairwise id of the person; null if `personId` is null. */
  readonly userId: string | null
  /**
   * Time of the consent to share the result with other organizations, in Unix seconds; null if consent wasn't given.
   */
  readonly consentedAtSeconds: number | null
  readonly publicComment: string | null
  readonly retryCount: number
  /** Incremented with every change (SessionEvent). */
  readonly sequence: number
  readonly createdAtSeconds: number
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
}

/** A session at one moment, from which a status object is built. */
export interface SessionState {
  readonly session: Session
  /** Wallets in the order of connection. */
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
  | 'details-consented'
  | 'details-consent-withdrawn'
  | 'evidence-changed'
  | 'evidence-erased'

/** Event of a session, stored in the transaction that makes the change. */
export interface SessionEvent {
  readonly sequence: number
  readonly kind: SessionEventKind
  /** Status after the change. */
  readonly status: SessionStatus
  /** `key:<key id>`, `person`, `operator:<name>`, `provider:<name>`, `screening`, or a policy (policyActor). */
  readonly actor: string
  readonly publicComment: string | null
  readonly privateComment: string | null
  /** Missing parts, and `confirmed-hit`, disregarded by a person's override; otherwise empty. */
  readonly overridden: readonly string[]
  readonly createdAtSeconds: number
}

const OPERATOR = 'operator:'

/** Returns the actor for a member, a user or an admin key. */
export const operatorActor = (name: string): string => `${OPERATOR}${name}`

/**
 * Returns false for policies, verification services and the service itself, whose decisions no operator has reviewed.
 */
export const isOperatorActor = (actor: string): boolean => actor.startsWith(OPERATOR)

/** Actor of changes caused by a new hit. */
export const SCREENING_ACTOR = 'screening'

export const policyActor = (policyId: string, revision: number): string => `policy:${policyId}:${revision}`

/** Returns the policy and revision in an actor; null for other actors. */
export const parsePolicyActor = (actor: string): { readonly policyId: string; readonly revision: number } | null => {
  const [, policyId, revision] = /^policy:([^:]+):([0-9]+)$/.exec(actor) ?? []
  return policyId === undefined ? null : { policyId, revision: Number(revision) }
}

export interface StatusChange extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly to: SessionStatus
  readonly actor: string
  readonly publicComment?: string | null
  readonly privateComment?: string | null
  /** Parts to submit again, if the status is `retry`. */
  readonly corrections?: readonly string[]
  /** Sequence that the decider read. If the session has another, the decision is refused; unchecked if omitted. */
  readonly expectedSequence?: number
  /** Required to leave `completed`, so that a late decision can't undo a completed session by accident. */
  readonly revoke?: boolean
  /**
   * Completes the session even if required parts are missing; automatic deciders must not set it. `person`: a person
   * decided this, and the history records the missing parts. `sandbox`: the outcome of a test session is forced.
   */
  readonly override?: 'person' | 'sandbox'
}

/** Creates a session, or finds the requester's session for the same wallet and type. */
export interface Registration {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  /** Id of a new session. A repeated request has the same id and finds the result of the first attempt. */
  readonly sessionId: string
  readonly tokenHash: Uint8Array
  readonly walletAddress: WalletAddress | null
  /** Null keeps the URL of a reused session. */
  readonly originUrl: string | null
  readonly provider: string
  readonly actor: string
}

export interface Registered {
  readonly created: boolean
  readonly session: Session
}
