// Builds the session status object (spec, "Session status object" and the presence rules of its table).
import type { SessionState, SessionStatus } from '../../domain/session.ts'
import { isoTime } from '../../lib/time.ts'

export interface WalletEntry {
  readonly id: string
  readonly address: string
  readonly chain: string
}

export interface SessionStatusObject {
  readonly sessionId: string
  readonly status: SessionStatus
  readonly userId?: string
  /** ISO 8601; present only if completed. */
  readonly completedAt?: string
  /** Empty unless completed. If completed, `unverifiedWallets` is empty. */
  readonly verifiedWallets: readonly WalletEntry[]
  readonly unverifiedWallets: readonly WalletEntry[]
}

export const buildStatus = ({ session, wallets }: SessionState): SessionStatusObject => {
  const entries = wallets.map(({ id, addressText, chain }) => ({ id, address: addressText, chain }))
  const completed = session.status === 'completed'
  return {
    sessionId: session.id,
    status: session.status,
    ...(session.userId === null ? {} : { userId: session.userId }),
    ...(completed && session.completedAtSeconds !== null ? { completedAt: isoTime(session.completedAtSeconds) } : {}),
    verifiedWallets: completed ? entries : [],
    unverifiedWallets: completed ? [] : entries,
  }
}
