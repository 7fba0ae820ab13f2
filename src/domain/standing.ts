// Data about a wallet visible to one organization. Source: spec, "Verification-level rule"; decisions §5, "Levels".
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { CheckType, SessionStatus } from './session.ts'

/** A session with the wallet connected or required, or the organization's own rejected session of the same person. */
export interface WalletSession {
  readonly sessionId: string
  /** False for other organizations' sessions, which must be trusted, completed, shared and at the level. */
  readonly own: boolean
  /** If false, the session doesn't verify the wallet. */
  readonly connected: boolean
  /**
   * Chain on which a contract verified the wallet's proof; on other chains, someone else may own the address. Null for
   * the proof of a key, which is valid on every chain.
   */
  readonly provenChain: string | null
  readonly checkType: CheckType
  readonly status: SessionStatus
  readonly level: Level
  readonly personId: string | null
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
  /** Number of the last decision or revocation, in commit order. Null before the first. */
  readonly decidedSequence: number | null
  /** Whether a hit is open or confirmed, or checks are pending. False for another organization's session. */
  readonly isUnsettled: boolean
}

/** Values that policies may use, because the person agreed. */
export interface PersonDetails {
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** YYYY-MM-DD. */
  readonly birthDate: string
}

export interface VerifiedWallet {
  readonly address: string
  readonly chain: string
}

export interface StandingQuery {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
  readonly level: Level
}

/** Rejects if the store is unavailable, which never means "not verified". */
export interface StandingSource {
  /** Returns a limited number of sessions: own sessions first, newest first. */
  loadSessions(query: StandingQuery, address: WalletAddress): Promise<readonly WalletSession[]>
  /**
   * Returns a limited number of wallets of the person's completed sessions at the level, including shared trusted
   * sessions.
   */
  loadPersonWallets(query: StandingQuery, personId: string): Promise<readonly VerifiedWallet[]>
  /** Returns the pairwise id of a person for the organization. */
  userIdOf(organizationId: string, personId: string): string
}
