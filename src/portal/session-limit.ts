// Limits how often the page may change one session, and how often one link may be tried with a wallet's proof, because
// checking signatures, asking chains and drawing QR codes cost time that other visitors wait for. The limit is far above
// what a person does.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import type { Clock } from '../lib/time.ts'
import { createRateLimiter } from '../server/rate-limit.ts'

/** Connecting twenty wallets in a row takes forty requests. */
export const SESSION_CHANGES: ApiKeyRateLimit = { requestsPerSecond: 2, burst: 120 }

/**
 * Counts a change of a session or an attempt by a link.
 * @param of the session's id; or the link's hash, because anyone gets a link who names the session's wallet
 * @throws RateExceededError
 */
export type TakeChange = (of: string | Uint8Array) => void

export const createSessionLimit = (clock: Clock): TakeChange => {
  const limiter = createRateLimiter({ clock })
  return (of) => {
    limiter.take({ keyId: typeof of === 'string' ? of : of.toHex(), rateLimit: SESSION_CHANGES })
  }
}
