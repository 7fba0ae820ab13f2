import type { Registered, Registration, SessionState, StatusChange } from '../domain/session.ts'
import type { ByBrowser, ProofRequest, WalletConnection, WalletRemoval } from '../domain/wallet.ts'

export interface SessionStore {
  /** Creates a session in one transaction, or reuses the caller's own for the same wallet and check type. */
  register(registration: Registration): Promise<Registered>
  /** Returns false if the session doesn't exist. */
  addLink(
    organizationId: string,
    sessionId: string,
    token: { readonly hash: Uint8Array; readonly requiresProof: boolean },
  ): Promise<boolean>
  find(organizationId: string, sessionId: string): Promise<SessionState | null>
  /**
   * Returns null if unknown to the organization. @throws TransitionRefusedError, SessionChangedError,
   * RetriesExhaustedError
   */
  changeStatus(
    change: StatusChange,
    options?: { readonly survives?: 'power-loss' | 'process-crash' },
  ): Promise<SessionState | null>
  recordConsent(input: {
    readonly organizationId: string
    readonly sessionId: string
    readonly version: string
    readonly actor: string
  }): Promise<SessionState | null>
}

export interface SessionWalletStore {
  /** @throws ProofInvalidError, SessionClosedError, WalletLockedError, WalletLimitError, WalletsOverTimeError */
  connect(connection: WalletConnection): Promise<SessionState | null>
  /** @throws SessionClosedError */
  remove(removal: WalletRemoval): Promise<SessionState | null>
}

export interface SessionNonceStore {
  add(request: ProofRequest & ByBrowser): Promise<void>
  /** Returns null if the nonce is unknown, spent, expired, or for another session. */
  find(organizationId: string, sessionId: string, nonce: string): Promise<ProofRequest | null>
}
