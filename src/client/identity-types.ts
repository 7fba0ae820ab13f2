/** `individual` is KYC, `business` is KYB. */
export type SessionType = 'individual' | 'business'
export type CheckType = 'kyc' | 'kyb'
export type SessionStatus = 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'

export interface RegisterRequest {
  /** The only wallet that can connect and verify in the session. */
  readonly walletAddress?: string | undefined
  /** Absolute https URL to which the verification page links back. */
  readonly originUrl?: string | undefined
  /** Width of the QR code in pixels, from 80 to 2000. Defaults to 300. */
  readonly size?: number | undefined
  /** Simulated outcome of the session, effective immediately. Only for test keys; ignored with live keys. */
  readonly sandboxOutcome?: SessionStatus | undefined
}

export interface RegisteredSession {
  readonly sessionId: string
  /** Link for the end user. */
  readonly redirectUrl: string
  /** PNG as a data URI. */
  readonly qrCode: string
  /** True if the wallet already had a reusable session of this type. */
  readonly reused: boolean
}

export interface SessionWallet {
  readonly id: string
  readonly address: string
  /** Name of a chain. The service may add names. */
  readonly chain: string
}

export interface SessionState {
  readonly sessionId: string
  readonly status: SessionStatus
  /** Present if the session has an identity. */
  readonly userId?: string
  /** ISO 8601; present only if the status is `completed`. */
  readonly completedAt?: string
  /** Empty unless the status is `completed`; the wallets are then in `unverifiedWallets`. */
  readonly verifiedWallets: readonly SessionWallet[]
  readonly unverifiedWallets: readonly SessionWallet[]
}

export interface VerifyRequest {
  readonly address: string
  /** Defaults to both types. */
  readonly type?: SessionType | undefined
  /**
   * Chain on which the wallet is used. A contract wallet is verified only on the chain of its proof. Without a chain,
   * compare the chains in `wallets` of the response.
   */
  readonly chain?: string | undefined
}

/** For an unknown wallet, all fields are null or empty. */
export interface WalletVerification {
  readonly address: string
  readonly verified: boolean
  /** Status of the most recent session; null for an unknown wallet. */
  readonly status: SessionStatus | null
  readonly userId: string | null
  readonly checkType: CheckType | null
  /** ISO 8601. */
  readonly verifiedAt: string | null
  /** Wallets of the same identity with a sufficient verification level. */
  readonly wallets: ReadonlyArray<{ readonly address: string; readonly chain: string }>
}
