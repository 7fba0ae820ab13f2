// How often one session may be changed from outside: checking signatures, asking chains and drawing codes is work, and a
// visitor's eagerness must not be everyone's wait. Far above what a person does.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import type { Clock } from '../domain/time.ts'
import { createRateLimiter } from '../http/rate-limit.ts'

/** Twenty wallets connected in one go take forty. */
export const SESSION_CHANGES: ApiKeyRateLimit = { requestsPerSecond: 2, burst: 120 }

/** Counts a change of a session, or an attempt at one. @throws RateExceededError */
export type TakeChange = (sessionId: string) => void

export const createSessionLimit = (clock: Clock): TakeChange => {
  const limiter = createRateLimiter({ clock })
  return (sessionId) => {
    limiter.take({ keyId: sessionId, rateLimit: SESSION_CHANGES })
  }
}
