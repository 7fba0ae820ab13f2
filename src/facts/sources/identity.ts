import type { IdentityFacts } from '../../policy/sources/identity.ts'
import type { IdentityDetails } from '../../policy/sources/identity-details.ts'
import { representedOf } from '../collect.ts'
import type { FactFetcher, IdentityOf, OpenFactFetcher } from '../fact-fetcher.ts'

const askAbout =
  (identityOf: IdentityOf): FactFetcher<IdentityFacts>['ask'] =>
  (subject) =>
    identityOf(subject, subject.request.from, subject.request.chain.name)

export const askIdentity: OpenFactFetcher<IdentityFacts> = ({ identityOf, identityChanges }) => ({
  ask: askAbout(identityOf),
  changes: identityChanges,
})

export const askOnBehalfIdentity: OpenFactFetcher<IdentityFacts> = ({ identityOf, identityChanges }) => {
  const ask = askAbout(identityOf)
  return { ask: (subject) => ask(representedOf(subject)), changes: identityChanges }
}

export const askIdentityDetails: OpenFactFetcher<IdentityDetails> = ({ identityDetailsOf, identityChanges }) => ({
  ask: (subject) => {
    const { from, chain, nowSeconds } = subject.request
    return identityDetailsOf(subject, from, chain.name, nowSeconds)
  },
  changes: identityChanges,
})
