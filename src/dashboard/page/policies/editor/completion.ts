// What the editor offers while one types: keys of the document where a key may stand, and in conditions the facts,
// functions and methods that there are. All of it comes from the API.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { AnswerOf } from '../../api/client.ts'

export type Facts = AnswerOf<'GET /policy-language'>
export type DocumentSchema = AnswerOf<'GET /policy-language/schema'>

export interface PolicyWords {
  readonly facts: Facts
  readonly schema: DocumentSchema
}

interface SchemaPart {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly additionalProperties?: SchemaPart | boolean
  readonly anyOf?: readonly SchemaPart[]
  readonly oneOf?: readonly SchemaPart[]
}

/** Every key of the schema, with the first description that it has. */
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

/** In a place where an expression stands: after the colon of a key, or on a line of its own. */
const EXPRESSION_PLACE = /:\s|^\s*[^\s#:-][^:]*$|[&|(]/

export const completePolicy = ({ facts, schema }: PolicyWords) => {
  const factChoices = facts.facts.map(
    ({ name, type, description }): Completion => ({ label: name, type: 'variable', detail: type, info: description }),
  )
  const functions = facts.functions.map(called)
  const methods = facts.methods.map(called)
  const keys = [...keysOf(schema as SchemaPart)].map(
    ([label, info]): Completion => ({ label, type: 'property', apply: `${label}: `, ...(info === '' ? {} : { info }) }),
  )
  const groups = new Set(facts.facts.map(({ name }) => name.split('.')[0] ?? ''))

  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[A-Za-z_][\w.]*/)
    if (word === null && !context.explicit) return null
    const from = word?.from ?? context.pos
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, from - line.from)
    const dot = word?.text.lastIndexOf('.') ?? -1
    if (word !== null && dot > 0) {
      const isFact = groups.has(word.text.split('.')[0] ?? '') && word.text.split('.').length === 2
      if (!isFact) return { from: word.from + dot + 1, options: methods, validFor: /^\w*$/ }
      return { from, options: factChoices, validFor: /^[\w.]*$/ }
    }
    const mayBeKey = /^\s*(?:-\s+)?$/.test(before)
    const mayBeExpression = EXPRESSION_PLACE.test(before) || (mayBeKey && !/^\s*-?\s*$/.test(before)) || mayBeKey
    const options = [...(mayBeKey ? keys : []), ...(mayBeExpression ? [...factChoices, ...functions] : [])]
    return options.length === 0 ? null : { from, options, validFor: /^[\w.]*$/ }
  }
}
