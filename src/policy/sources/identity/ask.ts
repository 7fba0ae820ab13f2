// Asks the identity API's records whom an address belongs to.
import type { Asker, IdentityOf, OpenAsker } from '../../../facts/asker.ts'
import { representedOf } from '../../../facts/collect.ts'
import type { IdentityFacts } from './rules.ts'

const askAbout =
  (identityOf: IdentityOf): Asker<IdentityFacts>['ask'] =>
  (subject) =>
    identityOf(subject, subject.request.from)

export const askIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => ({ ask: askAbout(identityOf) })

export const askOnBehalfIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => {
  const ask = askAbout(identityOf)
  return { ask: (subject) => ask(representedOf(subject)) }
}
