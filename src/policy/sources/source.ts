// A source of facts that is asked at most once a request: everything that the rest of the house has to know of it. A new
// one is a file here, a line in all.ts, and what asks it, with a line in wiring/facts-service.ts; see
// docs/architecture.md, "A new source of facts".
import type { MappingReader } from '../document-reader.ts'
import { type FactField, type FactGroup, isOfType } from '../fact-field.ts'
import { FactUnavailableError } from '../fact-unavailable.ts'
import type { Schema } from '../schema-shapes.ts'
import type { AnswerOf, PartOf, SourceKind } from '../types/sources.ts'

export interface FactSource<Kind extends SourceKind> {
  readonly kind: Kind
  /** Where its answer stands among the facts of a request and, unless personal, of a record. */
  readonly part: PartOf<Kind>
  /** First name of its facts in rules, and of its answer in a document's tests. */
  readonly group: string
  readonly facts: FactGroup
  /** Ends "Asks for …". */
  readonly words: string
  /** Whether each question may cost money or count against a quota. */
  readonly metered: boolean
  /** Null: a record shows the answer. Otherwise the record has a keyed hash only, under this name and "_hash". */
  readonly digest: string | null
  /** Reads its answer in a document's test; complains to the reader of what is wrong. */
  readonly readTest: (reader: MappingReader) => AnswerOf<Kind>
  /** Of what readTest reads. */
  readonly testSchema: Schema
  /** What a trial begins with. */
  readonly example: AnswerOf<Kind>
}

export type FieldOptions = Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral' | 'requires'>

/**
 * A fact that a source's answer holds; reading it fails where the source has none, or says something else than it may.
 * @param name the whole name, for whoever reads that it can't be had
 */
export const sourceField = <Kind extends SourceKind>(
  { kind, part }: Pick<FactSource<Kind>, 'kind' | 'part'>,
  name: string,
  options: FieldOptions,
  select: (answer: AnswerOf<Kind>) => unknown,
): FactField => {
  const unavailable = new FactUnavailableError(name)
  return {
    ...options,
    need: { kind },
    read: ({ request }) => {
      const answer = request.external?.[part] as AnswerOf<Kind> | null | undefined
      const value = answer == null ? null : select(answer)
      if (!isOfType(options, value)) throw unavailable
      return value
    },
  }
}
