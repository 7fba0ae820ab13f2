// The sources that are asked at most once per request. Derived from this list: needs, the facts of rules, the tests of
// documents and their JSON Schema, the decision record, replays, and the trials on the pages.
import type { SourceKind } from '../types/sources.ts'
import { BASE_FEE } from './base-fee.ts'
import { GEOGRAPHY } from './geography.ts'
import { IDENTITY, ON_BEHALF_IDENTITY } from './identity.ts'
import type { FactSource } from './source.ts'

const SOURCES: { readonly [Kind in SourceKind]: FactSource<Kind> } = {
  geography: GEOGRAPHY,
  identity: IDENTITY,
  'on-behalf-identity': ON_BEHALF_IDENTITY,
  'base-fee': BASE_FEE,
}

export const sourceOf = (kind: SourceKind) => SOURCES[kind]

/** In the order in which a policy's needs list them. */
export const FACT_SOURCES = Object.values(SOURCES)
