// What policies may read about the identity behind a wallet: `identity.verified`, `.type`, `.level`, `.verified_at`, by
// the same rule and from the same cache as the verification endpoint, so that the two never disagree.
import type { WalletAddress } from '../domain/address.ts'
import type { Level } from '../domain/level.ts'
import { SESSION_TYPES, type SessionType } from '../domain/session.ts'
import type { KnownStanding, StandingCaller } from './standing.ts'
import type { Standings } from './standings.ts'

export interface IdentityFacts {
  readonly verified: boolean
  /** Null unless verified, as the two below. */
  readonly type: SessionType | null
  /** Of the session that verifies the wallet: at least the organization's own. */
  readonly level: Level | null
  readonly verifiedAtSeconds: number | null
}

/**
 * The facts of a wallet for the organization whose policy asks, at once when they are at hand. A change of status is in
 * them within a second, wherever it was made. Rejects when the store is unavailable: no verdict then.
 */
export type IdentityFactsOf = (caller: StandingCaller, address: WalletAddress) => IdentityFacts | Promise<IdentityFacts>

const UNVERIFIED: IdentityFacts = Object.freeze({
  verified: false,
  type: null,
  level: null,
  verifiedAtSeconds: null,
})

const toFacts = ({ verifying }: KnownStanding): IdentityFacts =>
  verifying === null
    ? UNVERIFIED
    : {
        verified: true,
        type: SESSION_TYPES[verifying.checkType],
        level: verifying.level,
        verifiedAtSeconds: verifying.completedAtSeconds,
      }

export const createIdentityFacts =
  (standings: Pick<Standings, 'find'>): IdentityFactsOf =>
  (caller, address) => {
    const found = standings.find(caller, address, null)
    return found instanceof Promise ? found.then(toFacts) : toFacts(found)
  }
