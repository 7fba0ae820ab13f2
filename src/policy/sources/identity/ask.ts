// Asks the identity API's records whom an address belongs to.
import type { WalletAddress } from '../../../domain/address.ts'
import type { Asker, IdentityOf, OpenAsker } from '../../../facts/asker.ts'
import { representedOf } from '../../../facts/collect.ts'
import type { IdentityFacts } from './rules.ts'

const askAbout =
  (identityOf: IdentityOf): Asker<IdentityFacts>['ask'] =>
  ({ organizationId, environment, from }) =>
    identityOf({ organizationId, environment }, from as WalletAddress)

export const askIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => ({ ask: askAbout(identityOf) })

export const askOnBehalfIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => {
  const ask = askAbout(identityOf)
  return { ask: (subject) => ask(representedOf(subject)) }
}
