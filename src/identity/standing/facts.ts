// Identity facts of a wallet for policies, from the rule and cache of the verification endpoint.
import type { WalletAddress } from '../../domain/address.ts'
import { SESSION_TYPES } from '../../domain/session.ts'
import type { IdentityFacts } from '../../policy/sources/identity.ts'
import type { KnownStanding, StandingCaller } from './standing.ts'
import type { Standings } from './standings.ts'

/**
 * Facts of a wallet on a chain, for the organization whose policy reads them. Synchronous if cached. Rejects if the
 * store is unavailable; there is then no verdict.
 */
export type IdentityFactsOf = (
  caller: StandingCaller,
  address: WalletAddress,
  chain: string,
) => IdentityFacts | Promise<IdentityFacts>

const UNVERIFIED: IdentityFacts = Object.freeze({
  verified: false,
  type: null,
  level: 0,
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
  (caller, address, chain) => {
    const found = standings.find(caller, address, null, chain)
    return found instanceof Promise ? found.then(toFacts) : toFacts(found)
  }
