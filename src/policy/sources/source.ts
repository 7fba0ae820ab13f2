// A source of facts that is asked at most once per request, with everything that other modules need to know about it.
// To add one: a file here, a line in all.ts, the code that asks it, and a line in wiring/facts-service.ts; see
// docs/architecture.md, "A new source of facts".
import type { MappingReader } from '../document-reader.ts'
import { type FactField, type FactGroup, isOfType } from '../fact-field.ts'
import { FactUnavailableError } from '../fact-unavailable.ts'
import type { Schema } from '../schema-shapes.ts'
import type { AnswerOf, PartOf, SourceKind } from '../types/sources.ts'

export interface FactSource<Kind extends SourceKind> {
  readonly kind: Kind
  /** The place of its answer among the facts of a request and, unless personal, of a record. */
  readonly part: PartOf<Kind>
  /** First name of its facts in rules, and of its answer in a document's tests: no two sources have the same. */
  readonly group: string
  readonly facts: FactGroup
  /** Completes a sentence that begins "Asks for". */
  readonly words: string
  /** Whether each question may cost money or count against a quota. */
  readonly metered: boolean
  /** Null: a record shows the answer. Otherwise the record holds only a keyed hash, under this name and "_hash". */
  readonly digest: string | null
  /** Reads the source's answer in a document's test; reports mistakes to the reader. */
  readonly readTest: (reader: MappingReader) => AnswerOf<Kind>
  /** The JSON Schema of what readTest reads. */
  readonly testSchema: Schema
  /** The initial answer in a trial. */
  readonly example: AnswerOf<Kind>
}

export type FieldOptions = Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral' | 'requires'>

/**
 * A fact that a source's answer holds. Reading it fails when the source has no answer, or one of the wrong type.
 * @param name the full name, for the message that it can't be had
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
