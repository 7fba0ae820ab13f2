// Identity sessions: their kinds, their states and the way between them, as data. Source: spec, "States and transitions";
// decisions §5.
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { ByBrowser, SessionWallet } from './wallet.ts'

/** As paths name it. */
export type SessionType = 'individual' | 'business'
/** As answers name it. */
export type CheckType = 'kyc' | 'kyb'

export const CHECK_TYPES: Readonly<Record<SessionType, CheckType>> = { individual: 'kyc', business: 'kyb' }
export const SESSION_TYPES: Readonly<Record<CheckType, SessionType>> = { kyc: 'individual', kyb: 'business' }

/** Null for a text that names none. */
export const parseSessionType = (text: string): SessionType | null =>
  text === 'individual' || text === 'business' ? text : null

export const SESSION_STATUSES = ['pending', 'submitted', 'completed', 'rejected', 'retry'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/** Created `pending`; from → to. `rejected` is final; leaving `completed` is a revocation, by an operator or by screening. */
export const SESSION_TRANSITIONS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  pending: ['submitted', 'completed', 'rejected', 'retry'],
  retry: ['submitted', 'completed', 'rejected', 'retry'],
  submitted: ['completed', 'rejected', 'retry'],
  completed: ['retry', 'rejected'],
  rejected: [],
}

export const isSessionTransition = (from: SessionStatus, to: SessionStatus): boolean =>
  SESSION_TRANSITIONS[from].includes(to)

/** The person may still act: connect wallets, hand in evidence. */
export const isSessionOpen = (status: SessionStatus): boolean => status === 'pending' || status === 'retry'

/** Nothing follows: neither the person nor an operator changes it any more. */
export const isSessionFinal = (status: SessionStatus): boolean => SESSION_TRANSITIONS[status].length === 0

/** How often a session may be sent back to its person; after that someone has to complete or reject it. */
export const RETRIES_MAX = 5

/** Characters of a comment on a decision. */
export const COMMENT_MAX = 1_000

export interface Session {
  /** UUID v7: rises with the time of creation, opens nothing. */
  readonly id: string
  readonly organizationId: string
  /** Sessions of test keys are a world of their own: no live key sees them or what they verified. */
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  readonly status: SessionStatus
  /** What its evidence has to meet: the organization's level when the session was made, or last reused while open. */
  readonly level: Level
  /** Name of the decision provider. */
  readonly provider: string
  /** The only wallet that may connect; null: any. */
  readonly lockedAddress: WalletAddress | null
  /** Where the person may go back to: absolute https, normalised. */
  readonly originUrl: string | null
  /** Whom the session identified, across organizations. Never shown; null until it was first completed. */
  readonly personId: string | null
  /** The same person as this organization knows them (pairwise). Null with `personId`. */
  readonly userId: string | null
  /** Unix seconds at which the person agreed to share the result with other organizations; null: not agreed. */
  readonly consentedAtSeconds: number | null
  /** What the person is told about the last decision. */
  readonly publicComment: string | null
  readonly retryCount: number
  /** Rises by one with every change (see SessionEvent). */
  readonly sequence: number
  readonly createdAtSeconds: number
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
}

/** A session at one moment, complete: what a status object is built from. */
export interface SessionState {
  readonly session: Session
  /** In the order in which they were connected. */
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
  /** Who made it: `key:<key id>`, `person`, `operator:<name>`, `provider:<name>`, or a policy (policyActor). */
  readonly actor: string
  /** For the person. */
  readonly publicComment: string | null
  /** For operators. */
  readonly privateComment: string | null
  /** Required parts that were missing when a person's override completed the session; empty for any other change. */
  readonly overridden: readonly string[]
  readonly createdAtSeconds: number
}

const OPERATOR = 'operator:'

/** The actor of changes by a member, a user or an admin key. */
export const operatorActor = (name: string): string => `${OPERATOR}${name}`

/** False for policies, verification services and the service itself: nobody has looked at what they decide. */
export const isOperatorActor = (actor: string): boolean => actor.startsWith(OPERATOR)

/** How a policy that decides sessions is named as who made a change. */
export const policyActor = (policyId: string, revision: number): string => `policy:${policyId}:${revision}`

/** The policy, and its revision's number; null for any other actor. */
export const parsePolicyActor = (actor: string): { readonly policyId: string; readonly revision: number } | null => {
  const [, policyId, revision] = /^policy:([^:]+):([0-9]+)$/.exec(actor) ?? []
  return policyId === undefined ? null : { policyId, revision: Number(revision) }
}

/** What a new status rests on. */
export interface StatusChange extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly to: SessionStatus
  readonly actor: string
  readonly publicComment?: string | null
  readonly privateComment?: string | null
  /** With `retry`: what is to be done again, as names of evidence fields and document kinds, or `wallets`. */
  readonly corrections?: readonly string[]
  /** The session as the decider saw it; any other state refuses the decision. Left out: whatever it is now. */
  readonly expectedSequence?: number
  /** Must be true to leave `completed`: a decision that comes late must never undo a completed session by accident. */
  readonly revoke?: boolean
  /**
   * Completes the session even if required parts are missing. `person`: someone decided so, and the history records what was
   * missing. `sandbox`: the outcome of a test session is forced, and its person has submitted nothing. Without it, a
   * completion is refused; nothing that decides automatically may set it.
   */
  readonly override?: 'person' | 'sandbox'
}

/** A request for a session: creates one, or finds the caller's session for the same wallet and type. */
export interface Registration {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
  readonly checkType: CheckType
  /** Id for a new session. A repeated request brings the same id, and finds what the first try created. */
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
