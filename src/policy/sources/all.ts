// The sources that are asked at most once a request. Needs, the facts of rules, tests of documents, their JSON Schema, the
// decision record, replays and the pages' trials are derived from this list.
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

/** In the order in which policies' needs name them. */
export const FACT_SOURCES = Object.values(SOURCES)
