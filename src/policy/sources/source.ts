// A fact source that is queried at most once per request: its facts, tests and record. The code that queries it is in
// src/facts/sources. To add one, see docs/recipes.md, "A fact source".

import type { OptionalField } from '../../domain/target.ts'
import type { MappingReader } from '../document/document-reader.ts'
import type { Schema } from '../document/schema-shapes.ts'
import { type FactField, type FactGroup, isOfType } from '../fact-field.ts'
import { FactAbsentError, FactUnavailableError } from '../fact-unavailable.ts'
import type { SourceNeed } from '../types/needs.ts'

/** A fact in a source's answer. */
export interface AnswerField<Answer> extends Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'> {
  /** Returns the fact. Reading the fact fails unless the value has the declared type. */
  readonly select: (answer: Answer) => unknown
}

export interface SourceDeclaration<Kind extends string, Part extends string, Answer> {
  readonly kind: Kind
  /** Key of the answer in the facts of a request and, unless personal, in a decision record. */
  readonly part: Part
  /** First name of the facts in rules, and of the answer in a document's tests. Unique per source. */
  readonly group: string
  /** Completes a sentence that starts with "Asks for". */
  readonly words: string
  /** True if each query may cost money or count against a quota. */
  readonly metered: boolean
  /** If null, a record contains the answer. Otherwise, it contains only a keyed hash, under this name and "_hash". */
  readonly digest: string | null
  /** Request field that must be sent if a rule reads one of the facts. */
  readonly requires?: OptionalField
  /** By the name after the group. */
  readonly fields: Readonly<Record<string, AnswerField<Answer>>>
  /** Reads the source's answer in a document's test. Reports mistakes to the reader. */
  readonly readTest: (reader: MappingReader) => Answer
  /** The JSON Schema of the input of `readTest`. */
  readonly testSchema: Schema
  /** The initial answer in a trial. */
  readonly example: Answer
}

/** Called as defineSource<Answer>()({ … }), because kind and part are inferred, but the answer cannot be. */
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
