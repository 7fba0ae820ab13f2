// Completions for document keys, and for facts, functions and methods in conditions, all of them from the API.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { isInCondition } from '../../../../policy/rule-form/condition-lines.ts'
import type { AnswerOf } from '../../api/client.ts'

export interface PolicyWords {
  readonly facts: AnswerOf<'GET /policy-language'>
  readonly schema: AnswerOf<'GET /policy-language/schema'>
}

interface SchemaPart {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly additionalProperties?: SchemaPart | boolean
  readonly anyOf?: readonly SchemaPart[]
  readonly oneOf?: readonly SchemaPart[]
}

const keysOf = (schema: SchemaPart, found = new Map<string, string>()): ReadonlyMap<string, string> => {
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (!found.has(name)) found.set(name, part.description ?? '')
    keysOf(part, found)
  }
  const { items, additionalProperties: more, anyOf = [], oneOf = [] } = schema
  for (const part of [items, more, ...anyOf, ...oneOf]) if (typeof part === 'object') keysOf(part, found)
  return found
}

const called = (name: string): Completion => ({ label: name, type: 'function', apply: `${name}(`, detail: '(…)' })

export const completePolicy = ({ facts, schema }: PolicyWords) => {
  const factChoices = facts.facts.map(
    ({ name, type, description }): Completion => ({ label: name, type: 'variable', detail: type, info: description }),
  )
  const functions = facts.functions.map(called)
  const methods = facts.methods.map(called)
  const keys = [...keysOf(schema as SchemaPart)].map(
    ([label, info]): Completion => ({ label, type: 'property', apply: `${label}: `, ...(info === '' ? {} : { info }) }),
  )
  /** All prefixes of facts up to a dot: `checks`, `checks.document`. */
  const starts = new Set(
    facts.facts.flatMap(({ name }) => {
      const parts = name.split('.')
      return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'))
    }),
  )

  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[A-Za-z_][\w.]*/)
    if (word === null && !context.explicit) return null
    const from = word?.from ?? context.pos
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, from - line.from)
    if (!isInCondition((number) => context.state.doc.line(number + 1).text, line.number - 1)) {
      return /^\s*(?:-\s+)?$/.test(before) ? { from, options: keys, validFor: /^\w*$/ } : null
    }
    const parts = word?.text.split('.') ?? []
    // `checks.document.` continues with a fact, `call.function.` with a method of its value.
    const isMethod = parts.length > 1 && !starts.has(parts.slice(0, -1).join('.'))
    if (word !== null && isMethod) {
      return { from: word.to - (parts.at(-1)?.length ?? 0), options: methods, validFor: /^\w*$/ }
    }
    return { from, options: [...factChoices, ...functions], validFor: /^[\w.]*$/ }
  }
}
