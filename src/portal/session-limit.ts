// Rate limits far above normal use. Signature checks, chain requests and QR codes would otherwise take time from other
// visitors.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { Clock } from '../lib/time.ts'
import { createRateLimiter } from '../server/rate-limit.ts'

/** Limit of changes per session. Connecting twenty wallets takes forty requests. */
export const SESSION_CHANGES: ApiKeyRateLimit = { requestsPerSecond: 2, burst: 120 }
/**
 * Limit of proofs per network. It is high, because many people may share a network. A signature check occupies the main
 * thread for a millisecond.
 */
export const NETWORK_PROOFS: ApiKeyRateLimit = { requestsPerSecond: 20, burst: 400 }

export const createPageLimits = (clock: Clock) => {
  const limiter = createRateLimiter({ clock })
  return {
    /** Counts attempted changes too. @throws RateExceededError */
    takeChange: (sessionId: string) => {
      limiter.take({ keyId: `session ${sessionId}`, rateLimit: SESSION_CHANGES })
    },
    /** Separate per link, so that another link's holder can't use up the owner's tries. @throws RateExceededError */
    takeEntry: (linkHash: Uint8Array) => {
      limiter.take({ keyId: `link ${linkHash.toHex()}`, rateLimit: SESSION_CHANGES })
    },
    /** @param address client address; not limited if empty @throws RateExceededError */
    takeProof: (address: string) => {
      if (address === '') return
      limiter.take({ keyId: `network ${networkOf(address)}`, rateLimit: NETWORK_PROOFS })
    },
  }
}

export type PageLimits = ReturnType<typeof createPageLimits>
