// Reads and changes single rules in a policy's YAML. The rest of the text, including comments, is unchanged. Source:
// https://eemeli.org/yaml/#cst-parser.
import {
  Composer,
  CST,
  isMap,
  isScalar,
  isSeq,
  Parser,
  parse,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { CONDITION_KEYS } from './condition-lines.ts'

export interface RuleText {
  readonly id: string
  readonly kind: string
  readonly expression: string
  readonly code: string
  readonly message: string
}

interface ReadRule {
  readonly rule: RuleText
  readonly map: YAMLMap
  /** Offset of the rule's first key. */
  readonly start: number
}

interface ReadPolicy {
  readonly isOfSessions: boolean
  readonly tokens: readonly CST.Token[]
  readonly isEmpty: boolean
  readonly isFlow: boolean
  readonly rules: readonly (ReadRule | null)[]
  /** Offsets of the rules' dashes; empty for a flow sequence. */
  readonly dashes: readonly number[]
  readonly range: readonly [start: number, end: number]
}

const scalarOf = (map: YAMLMap, key: string): Scalar | null => {
  const node = map.get(key, true)
  return isScalar(node) && node.anchor === undefined && typeof node.value === 'string' ? node : null
}

const textOf = (map: YAMLMap, key: string): string => String(scalarOf(map, key)?.value ?? '')

const readRule = (map: unknown): ReadRule | null => {
  if (!isMap(map)) return null
  const kinds = [...CONDITION_KEYS].filter((key) => map.has(key))
  const [kind = ''] = kinds
  if (kinds.length !== 1 || scalarOf(map, kind) === null || scalarOf(map, 'id') === null) return null
  if (['code', 'message'].some((key) => map.has(key) && scalarOf(map, key) === null)) return null
  const [id, expression, code, message] = ['id', kind, 'code', 'message'].map((key) => textOf(map, key))
  const rule = { id, kind, expression, code, message } as RuleText
  return { rule, map, start: map.range?.[0] ?? 0 }
}

const dashesOf = ({ srcToken }: YAMLSeq): readonly number[] =>
  srcToken?.type === 'block-seq'
    ? srcToken.items.flatMap(({ start }) =>
        start.filter(({ type }) => type === 'seq-item-ind').map(({ offset }) => offset),
      )
    : []

const read = (source: string): ReadPolicy | null => {
  const tokens = [...new Parser().parse(source)]
  const [document, ...others] = [...new Composer({ keepSourceTokens: true }).compose(tokens)]
  if (document === undefined || others.length > 0 || document.errors.length > 0 || !isMap(document.contents))
    return null
  const rules = document.get('rules', true)
  if (!isSeq(rules) || rules.range == null) return null
  const [start, end] = rules.range
  return {
    tokens,
    isOfSessions: document.get('decides') === 'sessions',
    isEmpty: rules.items.length === 0,
    isFlow: rules.flow === true,
    rules: rules.items.map(readRule),
    dashes: dashesOf(rules),
    range: [start, end],
  }
}

export interface ShownRule {
  readonly rule: RuleText | null
  /** Line of the first key, starting at 1. */
  readonly line: number
}

interface ShownRules {
  readonly rules: readonly ShownRule[]
  readonly isOfSessions: boolean
}

/** Returns null unless the document is valid YAML with rules. */
export const readRules = (source: string): ShownRules | null => {
  const policy = read(source)
  if (policy === null) return null
  const rules = policy.rules.map((each) => ({
    rule: each?.rule ?? null,
    line: source.slice(0, each?.start ?? policy.range[0]).split('\n').length,
  }))
  return { rules, isOfSessions: policy.isOfSessions }
}

const sameRule = (one: RuleText | null | undefined, other: RuleText): boolean =>
  one != null && (Object.keys(other) as (keyof RuleText)[]).every((key) => one[key] === other[key])

/** Adds a key after the condition, or before a condition of several lines. */
const addKey = (source: string, { map, rule }: ReadRule, key: string, value: string): string => {
  const pair = map.items.find((each) => isScalar(each.key) && each.key.value === rule.kind)
  const [keyNode, valueNode] = [pair?.key, pair?.value] as [Scalar, Scalar]
  const [keyStart, valueEnd] = [keyNode.range?.[0] ?? 0, valueNode.range?.[1] ?? 0]
  const insert = (at: number, text: string): string => source.slice(0, at) + text + source.slice(at)
  if (map.flow === true) return insert(valueEnd, `, ${key}: ${JSON.stringify(value)}`)
  const lines = `${key}: ${stringify(value, { lineWidth: 0 }).trimEnd()}`
  const indent = ' '.repeat((map.range?.[0] ?? 0) - (source.lastIndexOf('\n', (map.range?.[0] ?? 0) - 1) + 1))
  if (valueNode.srcToken?.type === 'block-scalar') return insert(keyStart, `${lines}\n${indent}`)
  const lineEnd = source.indexOf('\n', valueEnd)
  return insert(lineEnd === -1 ? source.length : lineEnd, `\n${indent}${lines}`)
}

const removeKey = (source: string, { map }: ReadRule, key: string): string => {
  const pair = map.items.find((each) => isScalar(each.key) && each.key.value === key)
  const [keyNode, valueNode] = [pair?.key, pair?.value] as [Scalar, Scalar]
  const [start, end] = [keyNode.range?.[0] ?? 0, valueNode.range?.[2] ?? 0]
  return source.slice(0, source.lastIndexOf('\n', start) + 1) + source.slice(end)
}

const changeWith = (source: string, index: number, next: RuleText, type: Scalar.Type | undefined): string | null => {
  const policy = read(source)
  const found = policy?.rules[index]
  if (policy == null || found == null) return null
  const { map, rule } = found
  const set = (node: unknown, value: string, implicitKey = false): void => {
    if (!isScalar(node) || node.srcToken === undefined || node.value === value) return
    const inFlow = policy.isFlow || map.flow === true
    CST.setScalarValue(node.srcToken, value, {
      implicitKey,
      inFlow,
      ...(type === undefined || implicitKey ? {} : { type }),
    })
  }
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : ''
    if (name === rule.kind) {
      set(key, next.kind, true)
      set(value, next.expression)
    } else if ((name === 'id' || name === 'code' || name === 'message') && next[name] !== '') set(value, next[name])
  }
  let text = policy.tokens.map((token) => CST.stringify(token)).join('')
  for (const key of ['message', 'code'] as const) {
    const changed = map.has(key) === (next[key] !== '') ? null : read(text)?.rules[index]
    if (changed != null) text = map.has(key) ? removeKey(text, changed, key) : addKey(text, changed, key, next[key])
  }
  return sameRule(read(text)?.rules[index]?.rule, next) ? text : null
}

/** Returns the changed text; null if only a text editor can make the change. */
export const changeRule = (source: string, index: number, next: RuleText): string | null =>
  sameRule(read(source)?.rules[index]?.rule, next)
    ? source
    : (changeWith(source, index, next, undefined) ?? changeWith(source, index, next, 'QUOTE_DOUBLE'))

/** Appends a rule and returns the text; null if only a text editor can add it. */
export const addRule = (source: string, next: RuleText): string | null => {
  const { id, kind, expression, code, message } = next
  const policy = read(source)
  if (policy === null || (policy.isFlow && !policy.isEmpty)) return null
  const rule = { id, [kind]: expression, ...(code === '' ? {} : { code }), ...(message === '' ? {} : { message }) }
  const lines = stringify([rule], { lineWidth: 0 }).trimEnd().split('\n')
  const [start, end] = policy.range
  const indent = ' '.repeat(start - (source.lastIndexOf('\n', start - 1) + 1))
  // A sequence's range includes the line break after its last value, if any.
  const before = source.slice(0, end)
  const added = lines.map((line) => `${indent}${line}\n`).join('')
  const text = policy.isEmpty
    ? `${source.slice(0, start).trimEnd()}\n${lines.map((line) => `  ${line}`).join('\n')}${source.slice(end)}`
    : `${before}${before.endsWith('\n') ? '' : '\n'}${added}${source.slice(end)}`
  const written = read(text)?.rules
  return written?.length === policy.rules.length + 1 && sameRule(written.at(-1)?.rule, next) ? text : null
}

const hasAliases = (source: string): boolean => {
  let found = false
  visit(parseDocument(source), {
    Alias: () => {
      found = true
    },
  })
  return found
}

const COMMENT_LINE = /^[ \t]*#/

/** Returns the start of the line of a dash, and of the comment lines directly above it. */
const blockStart = (source: string, dash: number): number => {
  const lineStart = (at: number): number => source.lastIndexOf('\n', at - 1) + 1
  let start = lineStart(dash)
  while (start > 0 && COMMENT_LINE.test(source.slice(lineStart(start - 1), start))) start = lineStart(start - 1)
  return start
}

/**
 * Returns the text with only the rules of these indices, in this order. Comments directly above a rule stay with it.
 * Null if only an editor can make the change.
 */
export const arrangeRules = (source: string, order: readonly number[]): string | null => {
  const policy = read(source)
  if (policy === null || policy.dashes.length === 0 || policy.dashes.length !== policy.rules.length) return null
  // An alias must stay behind its anchor.
  if (hasAliases(source)) return null
  const starts = [...policy.dashes.map((dash) => blockStart(source, dash)), policy.range[1]]
  const blocks = starts.slice(0, -1).map((start, index) => source.slice(start, starts[index + 1]))
  const lines = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)
  const text = `${source.slice(0, starts[0])}${order.map((index) => lines(blocks[index] ?? '')).join('')}${source.slice(policy.range[1])}`
  const before = parse(source) as { readonly rules: readonly unknown[] }
  const rules = order.map((index) => before.rules[index])
  return read(text) !== null && JSON.stringify(parse(text)) === JSON.stringify({ ...before, rules }) ? text : null
}
