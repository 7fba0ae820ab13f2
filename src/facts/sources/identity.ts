// Asks the identity API's records whom an address belongs to.

import type { IdentityFacts } from '../../policy/sources/identity.ts'
import type { Asker, IdentityOf, OpenAsker } from '../asker.ts'
import { representedOf } from '../collect.ts'

const askAbout =
  (identityOf: IdentityOf): Asker<IdentityFacts>['ask'] =>
  (subject) =>
    identityOf(subject, subject.request.from)

export const askIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => ({ ask: askAbout(identityOf) })

export const askOnBehalfIdentity: OpenAsker<IdentityFacts> = ({ identityOf }) => {
  const ask = askAbout(identityOf)
  return { ask: (subject) => ask(representedOf(subject)) }
}
