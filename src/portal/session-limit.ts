// Limits how often the page may change one session, because checking signatures, asking chains and drawing QR codes
// cost time that other visitors wait for. The limit is far above what a person does.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import type { Clock } from '../lib/time.ts'
import { createRateLimiter } from '../server/rate-limit.ts'

/** Connecting twenty wallets in a row takes forty requests. */
export const SESSION_CHANGES: ApiKeyRateLimit = { requestsPerSecond: 2, burst: 120 }

/** Counts a change of a session, or an attempt at one. @throws RateExceededError */
export type TakeChange = (sessionId: string) => void

export const createSessionLimit = (clock: Clock): TakeChange => {
  const limiter = createRateLimiter({ clock })
  return (sessionId) => {
    limiter.take({ keyId: sessionId, rateLimit: SESSION_CHANGES })
  }
}
