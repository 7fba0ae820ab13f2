// What is known of a wallet: the sessions it took part in, as far as one organization may see them, and the other wallets
// of the same person. Source: spec, "Verification-level rule"; decisions §5, "Levels".
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { Level } from './level.ts'
import type { CheckType, SessionStatus } from './session.ts'

/**
 * A session in which a wallet was connected, or for which it is the only one allowed; or the organization's own rejected session
 * of the wallet's person.
 */
export interface WalletSession {
  readonly sessionId: string
  /** Of the organization that asks. Another's is here only if it is trusted, completed, shared with consent, and at the level. */
  readonly own: boolean
  /** False: the wallet is not connected to it. Then it verifies nothing. */
  readonly connected: boolean
  /**
   * The only chain on which the wallet's proof holds, because a contract gave it: elsewhere the address may be someone
   * else's. Null for the proof of a key, which holds on every chain.
   */
  readonly provenChain: string | null
  readonly checkType: CheckType
  readonly status: SessionStatus
  readonly level: Level
  readonly personId: string | null
  /** Null unless completed. */
  readonly completedAtSeconds: number | null
  /** Rises with every decision in the deployment, in the order of commits. Null unless completed or rejected. */
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

/** Where standings are read. Rejects when the store is unavailable: that is never "not verified". */
export interface StandingSource {
  /** One's own sessions first, newest first; a bounded number. */
  loadSessions(query: StandingQuery, address: WalletAddress): Promise<readonly WalletSession[]>
  /** The wallets of a person's completed sessions at the level, one's own, or shared and trusted; a bounded number. */
  loadPersonWallets(query: StandingQuery, personId: string): Promise<readonly VerifiedWallet[]>
  /** The pairwise id by which an organization knows a person. */
  userIdOf(organizationId: string, personId: string): string
}
