// Declares fact sources; src/facts/sources queries them. To add one, see docs/recipes.md, "A fact source".

import type { OptionalField } from '../../domain/target.ts'
import type { MappingReader } from '../document/document-reader.ts'
import type { Schema } from '../document/schema-shapes.ts'
import { type FactField, type FactGroup, isOfType } from '../fact-field.ts'
import { FactAbsentError, FactUnavailableError } from '../fact-unavailable.ts'
import type { SourceNeed } from '../types/needs.ts'

export interface AnswerField<Answer> extends Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'> {
  /** A rule fails if the value doesn't have the declared type. */
  readonly select: (answer: Answer) => unknown
}

export interface SourceDeclaration<Kind extends string, Part extends string, Answer> {
  readonly kind: Kind
  /** Key of the answer in a request's facts and, unless `digest` is set, in decision records. */
  readonly part: Part
  /** First name of the facts in rules and tests. Sources that share it have different fields and test keys. */
  readonly group: string
  /** Completes a sentence that starts with "Asks for". */
  readonly words: string
  /** Whether a query may cost money or count against a quota. */
  readonly metered: boolean
  /** Null if records contain the answer in plain text; otherwise name of its keyed hash, `${digest}_hash`. */
  readonly digest: string | null
  /**
   * Whether the answer comes from a person's evidence. Its hash then differs in each record: few answers are possible,
   * and a change would reveal a birthday. Trials don't query it, because they show answers without an audit entry.
   */
  readonly isEvidence?: true
  /** Request field required by rules that read one of the facts. */
  readonly requires?: OptionalField
  /** Fields by the part of the name after the group. */
  readonly fields: Readonly<Record<string, AnswerField<Answer>>>
  readonly readTest: (reader: MappingReader) => Answer
  readonly testSchema: Schema
  /** Initial answer in trials. */
  readonly example: Answer
}

/** Called as `defineSource<Answer>()({ … })`: kind and part are inferred, but the answer can't be. */
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
