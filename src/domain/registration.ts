// A request for a session, which makes one or finds the caller's own for the same wallet and type.
import type { WalletAddress } from './address.ts'
import type { ApiKeyEnvironment } from './api-key.ts'
import type { CheckType, Session } from './session.ts'

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
