// Declaration of a fact source that is queried at most once per request. src/facts/sources contains the queries. To add
// a source, see docs/recipes.md, "A fact source".

import type { OptionalField } from '../../domain/target.ts'
import type { MappingReader } from '../document/document-reader.ts'
import type { Schema } from '../document/schema-shapes.ts'
import { type FactField, type FactGroup, isOfType } from '../fact-field.ts'
import { FactAbsentError, FactUnavailableError } from '../fact-unavailable.ts'
import type { SourceNeed } from '../types/needs.ts'

export interface AnswerField<Answer> extends Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'> {
  /** A rule that reads the fact fails unless the value has the declared type. */
  readonly select: (answer: Answer) => unknown
}

export interface SourceDeclaration<Kind extends string, Part extends string, Answer> {
  readonly kind: Kind
  /** Key of the answer in the facts of a request and, unless `digest` is set, in a decision record. */
  readonly part: Part
  /** First name of the facts in rules and tests. Unique per source. */
  readonly group: string
  /** Completes a sentence that starts with "Asks for". */
  readonly words: string
  /** True if a query may cost money or count against a quota. */
  readonly metered: boolean
  /**
   * Null if a record contains the answer in plain text. Otherwise, it contains only a keyed hash, named
   * `${digest}_hash`.
   */
  readonly digest: string | null
  /** Request field that is required if a rule reads one of the facts. */
  readonly requires?: OptionalField
  /** By the name after the group. */
  readonly fields: Readonly<Record<string, AnswerField<Answer>>>
  readonly readTest: (reader: MappingReader) => Answer
  readonly testSchema: Schema
  /** Initial answer in a trial. */
  readonly example: Answer
}

/** Call as `defineSource<Answer>()({ … })`: kind and part are inferred, but the answer cannot be. */
export const defineSource =
  <Answer>() =>
  <const Kind extends string, const Part extends string>(declaration: SourceDeclaration<Kind, Part, Answer>) => {
    const { kind, part, group, requires, fields } = declaration
    const factOf = ([name, { select, ...options }]: [string, AnswerField<Answer>]): [string, FactField] => {
      const unavailable = new FactUnavailableError(`${group}.${name}`)
      const absent = new FactAbsentError(`${group}.${name}`)
      const field: FactField = {
        ...options,
        ...(requires === undefined ? {} : { requires }),
        need: { kind } as SourceNeed,
        read: (evaluation) => {
          const answers = evaluation.facts.external as Readonly<Record<string, Answer | null>> | undefined
          const answer = answers?.[part] ?? null
          if (answer === null) throw evaluation.noteUnavailable(unavailable)
          const value = select(answer)
          if (!isOfType(options, value)) throw absent
          return value
        },
      }
      return [name, field]
    }
    const facts: FactGroup = Object.fromEntries(Object.entries(fields).map(factOf))
    return { ...declaration, facts }
  }
