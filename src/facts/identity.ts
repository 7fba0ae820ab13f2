// Who an address belongs to, as a source of facts.
import type { WalletAddress } from '../domain/address.ts'
import type { IdentityFacts } from '../policy/types/facts.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import { type Ask, representedOf, type Sources } from './collect.ts'

type KnownIdentity = Omit<IdentityFacts, 'level'> & { readonly level: number | null }

/** The identity behind a wallet, as the identity API sees it. Rejects when it can't be read. */
export type IdentityOf = (
  caller: Pick<FactSubject, 'organizationId' | 'environment'>,
  address: WalletAddress,
) => KnownIdentity | Promise<KnownIdentity>

const toFacts = (known: KnownIdentity): IdentityFacts => ({ ...known, level: known.level ?? 0 })

/** Sources for the identity of the wallet and of the user whom it represents. */
export const identitySources = (identityOf: IdentityOf): Pick<Sources, 'identity' | 'on-behalf-identity'> => {
  const ask: Ask<IdentityFacts> = ({ organizationId, environment, from }) => {
    const found = identityOf({ organizationId, environment }, from as WalletAddress)
    return found instanceof Promise ? found.then(toFacts) : toFacts(found)
  }
  return { identity: ask, 'on-behalf-identity': (subject) => ask(representedOf(subject)) }
}
