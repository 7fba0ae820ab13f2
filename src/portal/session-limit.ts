// Limits how often the page may change one session and how many signatures one network may have checked, because checking
// signatures, asking chains and drawing QR codes cost time that other visitors wait for. The limits are far above what
// people do.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { Clock } from '../lib/time.ts'
import { createRateLimiter } from '../server/rate-limit.ts'

/** Connecting twenty wallets in a row takes forty requests. */
export const SESSION_CHANGES: ApiKeyRateLimit = { requestsPerSecond: 2, burst: 120 }
/** Many people may share a network. A signature takes the main thread about a millisecond. */
export const NETWORK_PROOFS: ApiKeyRateLimit = { requestsPerSecond: 20, burst: 400 }

export interface PageLimits {
  /** Counts a change of a session, or an attempt at one. @throws RateExceededError */
  takeChange(sessionId: string): void
  /**
   * Counts an attempt to open a session by a link. Each link counts by itself, so that someone with another link can't
   * use up the attempts of the session's owner. @throws RateExceededError
   */
  takeEntry(linkHash: Uint8Array): void
  /**
   * Counts a signature that is to be checked. @param address of the client; empty if unknown, and then not counted
   * @throws RateExceededError
   */
  takeProof(address: string): void
}

export const createPageLimits = (clock: Clock): PageLimits => {
  const limiter = createRateLimiter({ clock })
  return {
    takeChange: (sessionId) => {
      limiter.take({ keyId: `session ${sessionId}`, rateLimit: SESSION_CHANGES })
    },
    takeEntry: (linkHash) => {
      limiter.take({ keyId: `link ${linkHash.toHex()}`, rateLimit: SESSION_CHANGES })
    },
    takeProof: (address) => {
      if (address === '') return
      limiter.take({ keyId: `network ${networkOf(address)}`, rateLimit: NETWORK_PROOFS })
    },
  }
}
