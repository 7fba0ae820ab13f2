// Data about a wallet that is visible to one organization: its sessions, and the other wallets of the same person.
// Source: spec, "Verification-level rule"; decisions §5, "Levels".
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { CheckType, SessionStatus } from './session.ts'

/**
 * A session that has the wallet connected or allows only this wallet; or the organization's own rejected session of the
 * wallet's person.
 */
export interface WalletSession {
  readonly sessionId: string
  /**
   * True for a session of the requesting organization. Sessions of others are included only if trusted, completed,
   * shared with consent, and at the level.
   */
  readonly own: boolean
  /** False if the wallet is not connected to it. Then it verifies nothing. */
  readonly connected: boolean
  /**
   * The only chain on which the wallet's proof is valid, because a contract verified it: on other chains, the address
   * may belong to someone else. Null for the proof of a key, which is valid on every chain.
   */
  readonly provenChain: string | null
  readonly checkType: CheckType
  readonly status: SessionStatus
  readonly level: Level
  readonly personId: string | null
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
  /** Number of the last decision, which includes revocations, in the order of commits. Null before the first. */
  readonly decidedSequence: number | null
  /** Whether a hit is open or confirmed, or checks are pending. Always false for another organization's session. */
  readonly isUnsettled: boolean
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

/** The source of standings. Rejects if the store is unavailable, which never means "not verified". */
export interface StandingSource {
  /** Returns own sessions first, newest first; a limited number. */
  loadSessions(query: StandingQuery, address: WalletAddress): Promise<readonly WalletSession[]>
  /**
   * Returns a limited number of wallets of the person's completed sessions at the level. Includes shared sessions of
   * trusted organizations.
   */
  loadPersonWallets(query: StandingQuery, personId: string): Promise<readonly VerifiedWallet[]>
  /** Returns the organization's pairwise id of a person. */
  userIdOf(organizationId: string, personId: string): string
}
