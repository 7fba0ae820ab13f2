// the identity API in TypeScript. Field names are the wire's own.

/** KYC or KYB. */
export type SessionType = 'individual' | 'business'
export type CheckType = 'kyc' | 'kyb'
export type SessionStatus = 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'

export interface RegisterRequest {
  /** The only wallet that may connect and verify in the session. */
  readonly walletAddress?: string | undefined
  /** Absolute https: where the verification page offers to go back to. */
  readonly originUrl?: string | undefined
  /** Of the QR code, in pixels: 80 to 2000, 300 unless stated. */
  readonly size?: number | undefined
  /** With a test key: what becomes of the session at once, as if person and operator had acted. Live keys: ignored. */
  readonly sandboxOutcome?: SessionStatus | undefined
}

export interface RegisteredSession {
  readonly sessionId: string
  /** Link for the end user. */
  readonly redirectUrl: string
  /** A PNG in a data URI: an image source. */
  readonly qrCode: string
  /** True when the wallet had a session of this type that could be used again. */
  readonly reused: boolean
}

export interface SessionWallet {
  readonly id: string
  readonly address: string
  /** A chain's name: an open set. */
  readonly chain: string
}

export interface SessionState {
  readonly sessionId: string
  readonly status: SessionStatus
  /** Once the session has an identity. */
  readonly userId?: string
  /** ISO 8601; only when completed. */
  readonly completedAt?: string
  /** Filled only when completed, else `unverifiedWallets` is. */
  readonly verifiedWallets: readonly SessionWallet[]
  readonly unverifiedWallets: readonly SessionWallet[]
}

export interface VerifyRequest {
  readonly address: string
  /** Both, unless stated. */
  readonly type?: SessionType | undefined
  /**
   * Chain on which the wallet is used. A contract wallet is then verified only on the chain of its proof. Without a chain,
   * compare the chains in the answer's `wallets`.
   */
  readonly chain?: string | undefined
}

/** An unknown wallet has null and empty throughout, also where the service left the fields out. */
export interface WalletVerification {
  readonly address: string
  readonly verified: boolean
  /** Of the most recent session; null for a wallet never seen. */
  readonly status: SessionStatus | null
  readonly userId: string | null
  readonly checkType: CheckType | null
  /** ISO 8601. */
  readonly verifiedAt: string | null
  /** Of the same identity, at levels that count. */
  readonly wallets: ReadonlyArray<{ readonly address: string; readonly chain: string }>
}
