// What follows from the list of sources: their kinds, the types of their answers, and the order in which they are asked.
// Needs, the facts of rules, the tests of documents and their JSON Schema, the decision record, replays, the trials on
// the pages, and who asks are derived from this in turn.
import * as LIST from './list.ts'

type Source = (typeof LIST)[keyof typeof LIST]

export type SourceKind = Source['kind']

/** Null: the part was needed but can't be had. Left out: no policy needed it. */
export type SourceAnswers = {
  readonly [Each in Source as Each['part']]?: Each['example'] | null
}

/** In the order in which a policy's needs list them: by kind, those whose questions may cost money last. */
export const FACT_SOURCES: readonly Source[] = Object.values(LIST).sort(
  (one, other) => Number(one.metered) - Number(other.metered) || (one.kind < other.kind ? -1 : 1),
)

const BY_KIND = new Map(FACT_SOURCES.map((source) => [source.kind, source]))

export const sourceOf = (kind: SourceKind): Source => BY_KIND.get(kind) as Source
