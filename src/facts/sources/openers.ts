// Imports the queries of fact sources at startup. Signing threads and pages never load them.
import type { SourceKind } from '../../policy/sources/all.ts'
import type { OpenFactFetcher } from '../fact-fetcher.ts'

export const SOURCE_OPENERS: Readonly<Record<SourceKind, () => Promise<OpenFactFetcher<unknown>>>> = {
  'base-fee': async () => (await import('./base-fee.ts')).askBaseFee,
  geography: async () => (await import('./geography.ts')).askGeography,
  identity: async () => (await import('./identity.ts')).askIdentity,
  'identity-details': async () => (await import('./identity.ts')).askIdentityDetails,
  'on-behalf-identity': async () => (await import('./identity.ts')).askOnBehalfIdentity,
}
