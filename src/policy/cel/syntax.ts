// The only access to the CEL library's syntax tree. Members of nodes that the published types lack are declared only
// here. The library's version is pinned, and a test fails if one of these members changes.
import { type ASTNode, ParseError } from '@marcbachmann/cel-js'
import { Duration } from '@marcbachmann/cel-js/evaluator'

/** A type as named by the library's type checker, for example `list<address>`. */
export interface CheckedType {
  readonly kind: string
  readonly name: string
  readonly valueType?: CheckedType
  readonly hasDynType: boolean
  readonly hasPlaceholderType: boolean
}

export type SyntaxNode = ASTNode & {
  /** Set by the type checker on every visited node. Missing on unchecked parts of a macro. */
  readonly checkedType?: CheckedType
  /** Hooks of a node: `macro` replaces its check and evaluation, `async` states whether it may return a promise. */
  setMeta(key: 'macro' | 'async', value: unknown): SyntaxNode
}

/** The library's checker and evaluator, as passed to a macro's hooks. */
export interface TypeCheckerHook {
  check(node: SyntaxNode, context: unknown): CheckedType
  getType(name: string): CheckedType
}
export interface EvaluatorHook {
  run(node: SyntaxNode, context: unknown): unknown
}

/** A macro (public in the library: "Custom macros") that yields one constant value. */
export const constantNode = (type: string, value: unknown) => ({
  async: false,
  typeCheck: (checker: TypeCheckerHook) => checker.getType(type),
  evaluate: () => value,
})

const constants = new WeakMap<object, unknown>()

/** Records the value of a node that is known at compile time. */
export const markConstant = (node: object, value: unknown): void => {
  constants.set(node, value)
}

export const isConstant = (node: SyntaxNode): boolean => node.op === 'value' || constants.has(node)
/** Returns the value of a constant node. */
export const constantValue = (node: SyntaxNode): unknown => (node.op === 'value' ? node.args : constants.get(node))

/** Call before the type check: makes a node yield a constant of a type. */
export const replaceByConstant = (node: SyntaxNode, type: string, value: unknown): void => {
  markConstant(node, value)
  node.setMeta('macro', constantNode(type, value)).setMeta('async', false)
}

/** Maximum size of a value, and the steps needed to compute it; see cost.ts. */
export interface ValueBounds {
  readonly steps: number
  /** Maximum number of elements of a list, and of each list inside it. */
  readonly elements: number
  /** Maximum UTF-16 code units of a text, and of each text inside the value. */
  readonly chars: number
}

interface Replacement extends ValueBounds {
  /** The only part of the node that is still evaluated as an expression. */
  readonly operand: SyntaxNode | null
}

const replacements = new WeakMap<object, Replacement>()

export const replacementOf = (node: SyntaxNode): Replacement | undefined => replacements.get(node)

/** Call before the type check: makes a node yield the value that `evaluate` returns. */
export const replaceByValue = (node: SyntaxNode, type: string, bounds: ValueBounds, evaluate: () => unknown): void => {
  replacements.set(node, { ...bounds, operand: null })
  const macro = { typeCheck: (checker: TypeCheckerHook) => checker.getType(type), evaluate }
  node.setMeta('macro', macro).setMeta('async', false)
}

/** Call before the type check: makes a node a function of one of its parts, which must be of `operandType`. */
export const replaceByFunction = (
  node: SyntaxNode,
  operand: SyntaxNode,
  operandType: string,
  type: string,
  bounds: ValueBounds,
  evaluate: (value: unknown) => unknown,
): void => {
  replacements.set(node, { ...bounds, operand })
  const macro = {
    typeCheck: (checker: TypeCheckerHook, _macro: unknown, context: unknown) => {
      const actual = checker.check(operand, context).name
      if (actual === operandType) return checker.getType(type)
      const message = `this has to be of type ${operandType}, not ${actual}`
      throw new ParseError({ code: 'invalid_argument', message, node: operand })
    },
    evaluate: (evaluator: EvaluatorHook, _macro: unknown, context: unknown) =>
      evaluate(evaluator.run(operand, context)),
  }
  node.setMeta('macro', macro).setMeta('async', false)
}

/**
 * Call after the type check: folds a list of constants into one constant, so that it is not rebuilt in each evaluation.
 */
export const foldList = (node: SyntaxNode): void => {
  if (node.op !== 'list') return
  const elements = node.args as SyntaxNode[]
  if (!elements.every(isConstant)) return
  const list = Object.freeze(elements.map(constantValue))
  markConstant(node, list)
  node.setMeta('macro', { evaluate: () => list })
}

export const timestampValue = (seconds: number): Date => new Date(seconds * 1000)
export const durationValue = (seconds: number): unknown => new Duration(BigInt(seconds))
/** Returns the whole seconds of a duration, or null for any other value. */
export const secondsOfDuration = (value: unknown): number | null =>
  value instanceof Duration ? Number(value.seconds) : null

/** Returns the parts of a node that are expressions, in source order. */
export const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] => {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0] as SyntaxNode]
    case 'call':
      return node.args[1] as SyntaxNode[]
    case 'rcall':
      return [node.args[1], ...node.args[2]] as SyntaxNode[]
    case 'map':
      return node.args.flat() as SyntaxNode[]
    case '!_':
    case '-_':
      return [node.args as SyntaxNode]
    default:
      return node.args as readonly ASTNode[] as SyntaxNode[]
  }
}
