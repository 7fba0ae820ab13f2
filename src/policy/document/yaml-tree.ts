// Parses YAML (or JSON) to a tree with positions. Rejects anchors, aliases, tags, directives, duplicate keys and too
// many tokens before expanding anything. Source: YAML 1.2.2.
import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml'
import { POLICY_LIMITS } from '../cel/limits.ts'
import type { Steps } from '../cel/steps.ts'

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly value: unknown
  readonly style: 'plain' | 'single' | 'double' | 'block'
  /** UTF-16 offset of the first character, including a quote or block indicator. */
  readonly start: number
  readonly end: number
}

export interface MappingEntry {
  readonly key: string
  readonly keyStart: number
  readonly value: SourceNode | null
}

export interface MappingNode {
  readonly kind: 'mapping'
  readonly entries: readonly MappingEntry[]
  readonly start: number
}

export interface SequenceNode {
  readonly kind: 'sequence'
  readonly items: readonly SourceNode[]
  readonly start: number
}

export type SourceNode = ScalarNode | MappingNode | SequenceNode

export type Complain = (offset: number, message: string) => void

const STYLES: Readonly<Record<string, ScalarNode['style']>> = {
  QUOTE_DOUBLE: 'double',
  QUOTE_SINGLE: 'single',
  BLOCK_LITERAL: 'block',
  BLOCK_FOLDED: 'block',
}

const TOO_MUCH = 'the document has too many parts or is nested too deeply'

/** Tokens per step; one step takes one or two milliseconds. */
const STEP_TOKENS = 1_000
/** The composer takes a microsecond per line, in one step. No text in a valid policy has more lines. */
const LINES_MAX = POLICY_LIMITS.expressionLength

const hasTooManyLines = (token: string): boolean =>
  token.length > LINES_MAX && token.split('\n', LINES_MAX + 1).length > LINES_MAX

/** Parses to concrete syntax; null if there are too many tokens. */
function* readSyntax(source: string, complain: Complain): Steps<readonly CST.Token[] | null> {
  if (Buffer.byteLength(source) > POLICY_LIMITS.sourceBytes) {
    complain(0, `a policy can have at most ${POLICY_LIMITS.sourceBytes / 1024} KiB`)
    return null
  }
  const parser = new Parser()
  const syntax: CST.Token[] = []
  let tokens = 0
  for (const token of new Lexer().lex(source)) {
    tokens++
    const isTooDeep = parser.stack.length > POLICY_LIMITS.sourceDepth
    if (tokens > POLICY_LIMITS.sourceTokens || isTooDeep || hasTooManyLines(token)) {
      complain(0, TOO_MUCH)
      return null
    }
    syntax.push(...parser.next(token))
    if (tokens % STEP_TOKENS === 0) yield
  }
  syntax.push(...parser.end())
  return syntax
}

const readScalar = (node: Node & { value: unknown; type?: string }): ScalarNode => {
  const [start, end] = node.range ?? [0, 0, 0]
  return { kind: 'scalar', value: node.value, style: STYLES[node.type ?? ''] ?? 'plain', start, end }
}

const readMapping = (map: YAMLMap, complain: Complain): MappingNode => {
  const seen = new Set<string>()
  const entries: MappingEntry[] = []
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const keyStart = pair.key.range?.[0] ?? 0
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
      complain(keyStart, 'a key must be text')
      continue
    }
    refuseDecoration(pair.key, complain)
    const key = pair.key.value
    if (seen.has(key)) complain(keyStart, `duplicate key "${key}"`)
    seen.add(key)
    entries.push({ key, keyStart, value: pair.value === null ? null : readNode(pair.value, complain) })
  }
  return { kind: 'mapping', entries, start: map.range?.[0] ?? 0 }
}

const refuseDecoration = (node: Node, complain: Complain): void => {
  const start = node.range?.[0] ?? 0
  if ('anchor' in node && node.anchor !== undefined) complain(start, 'anchors (&) are not allowed')
  // The library sets `tag` only if the source contains a tag.
  if (node.tag !== undefined) complain(start, 'tags (!) are not allowed')
}

const readNode = (node: Node, complain: Complain): SourceNode | null => {
  if (isAlias(node)) {
    complain(node.range?.[0] ?? 0, 'aliases (*) are not allowed')
    return null
  }
  refuseDecoration(node, complain)
  if (isScalar(node)) return readScalar(node)
  if (isMap(node)) return readMapping(node, complain)
  if (isSeq(node)) {
    const items = node.items.map((item) => readNode(item as Node, complain)).filter((item) => item !== null)
    return { kind: 'sequence', items, start: node.range?.[0] ?? 0 }
  }
  return null
}

/** Returns the first two documents. Omits stack traces, which would take most of the time for thousands of mistakes. */
const compose = (syntax: readonly CST.Token[], length: number) => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    // readMapping finds duplicates in linear time; the library's check is quadratic.
    const [document, another] = new Composer({ prettyErrors: false, uniqueKeys: false }).compose(syntax, true, length)
    return { document, another }
  } finally {
    Error.stackTraceLimit = limit
  }
}

type SyntaxError = Pick<YAMLParseError, 'code' | 'message' | 'pos'>

const MISPLACED: ReadonlySet<string> = new Set([
  'All mapping items must start at the same column',
  'All sequence items must start at the same column',
  'Sequence item without - indicator',
])
const NESTED = 'BLOCK_AS_IMPLICIT_KEY'
const MULTILINE = 'MULTILINE_IMPLICIT_KEY'

/** Explains the library's errors. One wrong indentation causes several errors; only the first is kept. */
function* mistakesOf(source: string, errors: readonly SyntaxError[]): Generator<{ at: number; message: string }> {
  const lineAt = (at: number): number => source.slice(0, at).split('\n').length
  const multiline = errors.find(({ code }) => code === MULTILINE)
  let isIndentationReported = false
  for (const { code, message, pos } of errors) {
    const isIndentation = MISPLACED.has(message) || (multiline !== undefined && (code === NESTED || code === MULTILINE))
    if (isIndentation) {
      // A multi-line key ends on the line with the wrong indentation.
      const at = MISPLACED.has(message) ? pos[0] : (multiline?.pos[1] ?? pos[0])
      if (!isIndentationReported) yield { at, message: `check the indentation of line ${lineAt(at)}` }
      isIndentationReported = true
    } else {
      yield { at: pos[0], message: code === NESTED ? 'put the value in quotes: it contains ": "' : message }
    }
  }
}

/**
 * Returns null if the text is empty or not YAML. After a report to `complain`, use the tree only to find more mistakes.
 */
export function* readYamlTree(source: string, complain: Complain): Steps<SourceNode | null> {
  const syntax = yield* readSyntax(source, complain)
  if (syntax === null) return null
  yield
  const { document, another } = compose(syntax, source.length)
  if (document === undefined) return null
  const { errors } = document
  for (const { at, message } of mistakesOf(source, errors)) complain(at, message)
  if (another !== undefined)
    complain(another.range[0], 'a policy must be a single document: remove the second document')
  if (errors.length > 0 || another !== undefined) return null
  if (document.directives.yaml.explicit === true) complain(0, 'directives (%) are not allowed')
  yield
  return document.contents === null ? null : readNode(document.contents, complain)
}
