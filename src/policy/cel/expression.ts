import { TypeError as CelTypeError, ParseError } from '@marcbachmann/cel-js'
import { type ExpressionIssue, inspectExpression } from '../tools/inspect.ts'
import { estimateExpression } from './cost.ts'
import { POLICY_LIMITS } from './limits.ts'
import { AMOUNT_UNITS } from './literals.ts'
import type { PolicyScope } from './scope.ts'
import type { SyntaxNode } from './syntax.ts'

export interface CompiledExpression {
  /** Evaluates the request bound to the scope. Throws if an operation fails and `||` or `&&` doesn't override it. */
  readonly evaluate: () => unknown
  readonly root: SyntaxNode
  readonly nodes: number
  /** Worst-case steps of one evaluation (cost.ts). */
  readonly steps: number
}

export interface RefusedExpression {
  /** Never empty. */
  readonly issues: readonly ExpressionIssue[]
  readonly nodes: number
}

const HINTS: readonly { readonly types: readonly string[]; readonly hint: string }[] = [
  { types: ['address', 'string'], hint: 'write addresses as address("…")' },
  { types: ['uint256', 'string'], hint: 'write large numbers as uint256("…") and amounts as ether("…")' },
  { types: ['google.protobuf.Timestamp', 'string'], hint: 'write times as timestamp("…")' },
]

/** Operators of other languages → CEL operators. */
const FOREIGN_OPERATORS: Readonly<Record<string, string>> = { '=': '==', '&': '&&', '|': '||', and: '&&', or: '||' }

const DURATION_UNITS: Readonly<Record<string, string>> = { d: 'days', h: 'hours', m: 'minutes' }
/** Characters around a syntax error that are searched for a number with a unit. */
const UNIT_DISTANCE = 48

/** Returns the CEL form of a number with a unit, such as `10 ether` or `24h`; null if there is none nearby. */
const unitHint = (text: string, at: number): string | null => {
  const start = Math.max(0, at - UNIT_DISTANCE)
  const nearby = text.slice(start, at + UNIT_DISTANCE)
  for (const { 0: written, 1: number = '', 2: unit = '', index } of nearby.matchAll(/\b(\d+(?:\.\d+)?) ?([a-z]+)\b/g)) {
    if (start + index > at || at > start + index + written.length) continue
    const name = Object.hasOwn(AMOUNT_UNITS, unit) ? unit : DURATION_UNITS[unit]
    if (name !== undefined)
      return `write ${name}(${number.includes('.') ? `"${number}"` : number}) instead of ${written}`
  }
  return null
}

const syntaxHint = (text: string, at: number): string => {
  // The parser reads `not` as a name, and fails at the next token.
  if (/(?:^|[^\w.])not\s+$/i.test(text.slice(0, at))) return ': write ! instead of not'
  const found = /^(?:\w+|.)/.exec(text.slice(at))?.[0] ?? ''
  const word = found.toLowerCase()
  return Object.hasOwn(FOREIGN_OPERATORS, word) ? `: write ${FOREIGN_OPERATORS[word]} instead of ${found}` : ''
}

const LIMIT_WORDS: Readonly<Record<string, string>> = {
  maxAstNodes: `an expression can have at most ${POLICY_LIMITS.expressionNodes} parts`,
  maxDepth: 'the expression is nested too deeply',
  maxListElements: `a list can have at most ${POLICY_LIMITS.listElements} elements`,
  maxCallArguments: `a call can have at most ${POLICY_LIMITS.callArguments} arguments`,
}

const explain = (summary: string): string => {
  if (summary.endsWith('EOF')) return 'unexpected end of the expression'
  const limit = Object.entries(LIMIT_WORDS).find(([name]) => summary.startsWith(`Exceeded ${name}`))
  if (limit !== undefined) return limit[1]
  if (!summary.startsWith('no such overload')) return summary
  const found = HINTS.find(({ types }) => types.every((type) => summary.includes(type)))
  return found === undefined ? summary : `${summary}: ${found.hint}`
}

const refusalOf = (error: unknown, text: string, nodes: number): RefusedExpression => {
  if (error instanceof ParseError || error instanceof CelTypeError) {
    const at = error.range?.start ?? 0
    const unit = error instanceof ParseError ? unitHint(text, at) : null
    if (unit !== null) return { issues: [{ at, message: unit }], nodes }
    const hint = error.summary.startsWith('Unexpected') ? syntaxHint(text, at) : ''
    return { issues: [{ at, message: `${explain(error.summary)}${hint}` }], nodes }
  }
  // The parser recurses on prefix operators, which its depth limit ignores.
  if (error instanceof RangeError) return { issues: [{ at: 0, message: 'the expression is nested too deeply' }], nodes }
  throw error
}

/** Compiles a boolean expression, and records its needs in the scope. */
export const compileExpression = (text: string, scope: PolicyScope): CompiledExpression | RefusedExpression => {
  let nodes = 0
  try {
    const parsed = scope.environment.parse(text)
    const root = parsed.ast as SyntaxNode
    const inspection = inspectExpression(root, scope)
    nodes = inspection.nodes
    if (inspection.issues.length > 0) return { issues: inspection.issues, nodes }
    const check = parsed.check()
    if (!check.valid) return refusalOf(check.error, text, nodes)
    if (check.type !== 'bool')
      return { issues: [{ at: 0, message: `a rule must be of type bool, but this is ${check.type}` }], nodes }
    const estimate = estimateExpression(root, scope.types)
    if (estimate.issues.length > 0) return { issues: estimate.issues, nodes }
    return { evaluate: parsed, root, nodes, steps: estimate.steps }
  } catch (error) {
    return refusalOf(error, text, nodes)
  }
}
