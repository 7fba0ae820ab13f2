// Kinds, answers and order of the sources in list.ts.
import * as LIST from './list.ts'

type Source = (typeof LIST)[keyof typeof LIST]

export type SourceKind = Source['kind']

/** Null: needed but unavailable. Omitted: not needed. */
export type SourceAnswers = {
  readonly [Each in Source as Each['part']]?: Each['example'] | null
}

/** In the order of needs: by kind, metered sources last. */
export const FACT_SOURCES: readonly Source[] = Object.values(LIST).sort(
  (one, other) => Number(one.metered) - Number(other.metered) || (one.kind < other.kind ? -1 : 1),
)

const BY_KIND = new Map(FACT_SOURCES.map((source) => [source.kind, source]))

export const sourceOf = (kind: SourceKind): Source => BY_KIND.get(kind) as Source
