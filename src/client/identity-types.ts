/** KYC for individuals, KYB for businesses. */
export type SessionType = 'individual' | 'business'
export type CheckType = 'kyc' | 'kyb'
export type SessionStatus = 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'

export interface RegisterRequest {
  /** The only wallet that can connect to the session. */
  readonly walletAddress?: string | undefined
  /** Absolute https URL to which the verification page links back. */
  readonly originUrl?: string | undefined
  /** Width of the QR code, from 80 to 2000 pixels. Defaults to 300. */
  readonly size?: number | undefined
  /** Simulated outcome, effective immediately. Ignored with live keys. */
  readonly sandboxOutcome?: SessionStatus | undefined
}

export interface RegisteredSession {
  readonly sessionId: string
  /** Link for the end user. */
  readonly redirectUrl: string
  /** PNG as a data URI. */
  readonly qrCode: string
  /** Whether the wallet already had a reusable session of this type. */
  readonly reused: boolean
}

export interface SessionWallet {
  readonly id: string
  readonly address: string
  /** Chain name, from an open set. */
  readonly chain: string
}

export interface SessionState {
  readonly sessionId: string
  readonly status: SessionStatus
  /** Present if the session has an identity. */
  readonly userId?: string
  /** ISO 8601; present only if the status is `completed`. */
  readonly completedAt?: string
  /** Empty unless `completed`; until then, wallets are in `unverifiedWallets`. */
  readonly verifiedWallets: readonly SessionWallet[]
  readonly unverifiedWallets: readonly SessionWallet[]
}

export interface VerifyRequest {
  readonly address: string
  /** Types of sessions; defaults to both. */
  readonly type?: SessionType | undefined
  /** Chain of use: contract wallets are verified only on the chain of their proof. If omitted, compare `wallets`. */
  readonly chain?: string | undefined
}

/** All fields are null or empty for an unknown wallet. */
export interface WalletVerification {
  readonly address: string
  readonly verified: boolean
  /** Status of the newest session; null for an unknown wallet. */
  readonly status: SessionStatus | null
  readonly userId: string | null
  readonly checkType: CheckType | null
  /** Time in ISO 8601. */
  readonly verifiedAt: string | null
  /** Wallets of the same identity at a sufficient level. */
  readonly wallets: ReadonlyArray<{ readonly address: string; readonly chain: string }>
}
