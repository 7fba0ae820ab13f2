// Asks the identity API's records whom an address belongs to.
import type { WalletAddress } from '../../../domain/address.ts'
import type { Asker, IdentityOf, OpenAsker } from '../../../facts/asker.ts'
import { representedOf } from '../../../facts/collect.ts'
import type { IdentityFacts } from './rules.ts'

const askerOf = (identityOf: IdentityOf): Asker<IdentityFacts> => {
  const toFacts = (known: Awaited<ReturnType<IdentityOf>>): IdentityFacts => ({ ...known, level: known.level ?? 0 })
  return {
    ask: ({ organizationId, environment, from }) => {
      const found = identityOf({ organizationId, environment }, from as WalletAddress)
      return found instanceof Promise ? found.then(toFacts) : toFacts(found)
    },
  }
}

export const askIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => askerOf(identityOf)

export const askOnBehalfIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => {
  const { ask } = askerOf(identityOf)
  return { ask: (subject) => ask(representedOf(subject)) }
}
