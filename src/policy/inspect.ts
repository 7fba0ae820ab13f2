// Holds a parsed expression against the language before its types are checked, so that what is refused is refused in our
// words, and finds which optional request fields it reads.
import type { OptionalField } from '../domain/target.ts'
import { FACTS, type FactField } from './facts.ts'
import { FUNCTIONS, LITERAL_FUNCTIONS, LOOPS, METHODS, refusedName, TIME_METHODS } from './language.ts'
import { POLICY_LIMITS } from './limits.ts'
import { LiteralMalformedError, parseDurationLiteral, parseTimestampLiteral } from './literals.ts'
import { childrenOf, durationValue, replaceByConstant, type SyntaxNode, timestampValue } from './syntax.ts'

/** A mistake inside one expression; `at` is a UTF-16 index into it. */
export interface ExpressionIssue {
  readonly at: number
  readonly message: string
}

export interface Inspection {
  readonly issues: readonly ExpressionIssue[]
  readonly requires: ReadonlySet<OptionalField>
  readonly nodes: number
}

/** Where a node stands: how deep, and inside which loop's variable, if any. */
interface Place {
  readonly depth: number
  readonly variable: string | null
}

const INT64_MAX = 2n ** 63n - 1n

const factGroup = (node: SyntaxNode, { variable }: Place) =>
  node.op === 'id' && node.args !== variable && Object.hasOwn(FACTS, node.args) ? FACTS[node.args] : undefined

const factOf = (node: SyntaxNode, place: Place): FactField | undefined => {
  if (node.op !== '.') return undefined
  const [root, field] = node.args as [SyntaxNode, string]
  const fields = factGroup(root, place)?.fields
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined
}

/** What is wrong with a literal, or null. */
const literalProblem = (literal: unknown): string | null => {
  if (typeof literal === 'boolean') return null
  if (typeof literal === 'bigint') {
    return literal > INT64_MAX ? `the number does not fit int: write uint256("${literal}")` : null
  }
  if (typeof literal === 'string') {
    const limit = POLICY_LIMITS.stringLiteralLength
    return literal.length > limit ? `a text has at most ${limit} characters` : null
  }
  if (typeof literal === 'number') return 'floating-point numbers are not part of the policy language'
  return 'null, bytes and uint are not part of the policy language'
}

class Inspector {
  readonly issues: ExpressionIssue[] = []
  readonly requires = new Set<OptionalField>()
  nodes = 0

  private refuse(node: SyntaxNode, message: string): void {
    this.issues.push({ at: node.pos, message })
  }

  inspect(node: SyntaxNode, place: Place): void {
    this.nodes++
    if (place.depth > POLICY_LIMITS.expressionDepth) {
      this.refuse(node, 'the expression is nested too deeply: use lists, or several rules')
    } else if (node.op === 'value') {
      const problem = literalProblem(node.args)
      if (problem !== null) this.refuse(node, problem)
    } else if (node.op === 'id') {
      this.inspectName(node, place)
    } else if (node.op === '.') {
      this.inspectSelection(node, place)
    } else if (node.op === 'call') {
      this.inspectCall(node, place)
    } else if (node.op === 'rcall') {
      this.inspectMethod(node, place)
    } else if (node.op === 'map') {
      this.refuse(node, 'maps are not part of the policy language')
    } else if (node.op === 'list' && node.args.length === 0) {
      this.refuse(node, 'the list is empty')
    } else {
      if (node.op === '==' || node.op === '!=' || node.op === 'in') this.inspectComparison(node, place)
      this.inspectAll(childrenOf(node), place)
    }
  }

  private inspectAll(nodes: readonly SyntaxNode[], { depth, variable }: Place): void {
    for (const node of nodes) this.inspect(node, { depth: depth + 1, variable })
  }

  /** A name by itself: the variable of a loop, for facts stand behind a group's name and a dot. */
  private inspectName(node: SyntaxNode, place: Place): void {
    const name = node.args as string
    if (name === place.variable) return
    const fields = factGroup(node, place)?.fields
    const groups = Object.keys(FACTS).join(', ')
    if (fields === undefined) this.refuse(node, `"${name.slice(0, 64)}" is unknown; there are: ${groups}`)
    else this.refuse(node, `name a field of ${name}: ${Object.keys(fields).join(', ')}`)
  }

  private inspectSelection(node: SyntaxNode, place: Place): void {
    const [root, field] = node.args as [SyntaxNode, string]
    const group = factGroup(root, place)
    if (group === undefined) {
      this.inspectAll([root], place)
      return
    }
    this.nodes++
    const fact = factOf(node, place)
    if (fact === undefined) {
      const fields = Object.keys(group.fields).join(', ')
      this.refuse(node, `${root.args} has no "${field.slice(0, 64)}"; it has: ${fields}`)
    } else if (fact.requires !== undefined) {
      this.requires.add(fact.requires)
    }
  }

  /** A fact compared with a literal that it can never equal is a mistake that would let a denial pass in silence. */
  private inspectComparison(node: SyntaxNode, place: Place): void {
    const sides = childrenOf(node)
    const refuseLiteral = sides.map((side) => factOf(side, place)?.refuseLiteral).find((check) => check !== undefined)
    if (refuseLiteral === undefined) return
    for (const literal of sides.flatMap((side) => (side.op === 'list' ? childrenOf(side) : [side]))) {
      const problem = literal.op === 'value' && typeof literal.args === 'string' ? refuseLiteral(literal.args) : null
      if (problem !== null) this.refuse(literal, problem)
    }
  }

  private inspectCall(node: SyntaxNode, place: Place): void {
    const [name, parameters] = node.args as [string, SyntaxNode[]]
    const [only] = parameters
    if (!FUNCTIONS.has(name)) {
      this.refuse(node, refusedName(name, 'function', FUNCTIONS))
    } else if (name === 'timestamp') {
      this.fold(node, 'google.protobuf.Timestamp', (text) => timestampValue(parseTimestampLiteral(text)))
    } else if (name === 'duration') {
      this.fold(node, 'google.protobuf.Duration', (text) => durationValue(parseDurationLiteral(text)))
    } else if (LITERAL_FUNCTIONS.has(name) && parameters.length === 1 && only?.op === 'value') {
      // Read when the expression was parsed; a number beyond 64 bits or a long text is fine there.
      this.nodes++
    } else {
      this.inspectAll(parameters, place)
    }
  }

  /** The library's own readers accept too much and run in each evaluation. */
  private fold(node: SyntaxNode, type: string, read: (text: string) => unknown): void {
    const [name, [only, ...others]] = node.args as [string, SyntaxNode[]]
    this.nodes++
    if (only?.op !== 'value' || typeof only.args !== 'string' || others.length > 0) {
      this.refuse(node, `${name}() takes one literal text`)
      return
    }
    try {
      replaceByConstant(node, type, read(only.args))
    } catch (error) {
      if (!(error instanceof LiteralMalformedError)) throw error
      this.refuse(only, error.message)
    }
  }

  private inspectMethod(node: SyntaxNode, place: Place): void {
    const [name, receiver, parameters] = node.args as [string, SyntaxNode, SyntaxNode[]]
    if (!METHODS.has(name)) {
      this.refuse(node, refusedName(name, 'method', METHODS))
    } else if (LOOPS.has(name)) {
      this.inspectAll([receiver], place)
      this.inspectLoop(node, name, parameters, place)
    } else if (TIME_METHODS.has(name) && parameters.length > 0) {
      this.refuse(node, 'time zones are not part of the policy language: times are in UTC')
    } else {
      this.inspectAll([receiver, ...parameters], place)
    }
  }

  private inspectLoop(node: SyntaxNode, name: string, parameters: readonly SyntaxNode[], place: Place): void {
    const [variable, ...bodies] = parameters
    this.nodes++
    if (place.variable !== null) {
      this.refuse(node, `${name}() may not stand inside another loop`)
    } else if (variable?.op !== 'id' || !LOOPS.get(name)?.includes(parameters.length)) {
      // With another number of arguments the parser takes it for a plain method.
      this.refuse(node, `${name}() takes a variable's name and an expression`)
    } else if (Object.hasOwn(FACTS, variable.args)) {
      this.refuse(variable, `"${variable.args}" is taken: give the variable another name`)
    } else {
      this.inspectAll(bodies, { depth: place.depth, variable: variable.args })
    }
  }
}

/** Also replaces the literals that the library would read anew in each evaluation by their values. */
export const inspectExpression = (root: SyntaxNode): Inspection => {
  const inspector = new Inspector()
  inspector.inspect(root, { depth: 1, variable: null })
  return inspector
}
