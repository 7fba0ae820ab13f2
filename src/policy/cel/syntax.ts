// The only access to the CEL library's syntax tree, including members that its types lack. A test detects changes.
import { type ASTNode, ParseError } from '@marcbachmann/cel-js'
import { Duration } from '@marcbachmann/cel-js/evaluator'

export interface CheckedType {
  readonly kind: string
  readonly name: string
  readonly valueType?: CheckedType
  readonly hasDynType: boolean
  readonly hasPlaceholderType: boolean
}

export type SyntaxNode = ASTNode & {
  /** Set by the type checker; missing on unchecked parts of a macro. */
  readonly checkedType?: CheckedType
  /** `macro` replaces the node's check and evaluation; `async`: whether it may return a promise. */
  setMeta(key: 'macro' | 'async', value: unknown): SyntaxNode
}

export interface TypeCheckerHook {
  check(node: SyntaxNode, context: unknown): CheckedType
  getType(name: string): CheckedType
}
export interface EvaluatorHook {
  run(node: SyntaxNode, context: unknown): unknown
}

/** Returns a macro ("Custom macros" in the library's documentation) for one constant value. */
export const constantNode = (type: string, value: unknown) => ({
  async: false,
  typeCheck: (checker: TypeCheckerHook) => checker.getType(type),
  evaluate: () => value,
})

const constants = new WeakMap<object, unknown>()

export const markConstant = (node: object, value: unknown): void => {
  constants.set(node, value)
}

export const isConstant = (node: SyntaxNode): boolean => node.op === 'value' || constants.has(node)
export const constantValue = (node: SyntaxNode): unknown => (node.op === 'value' ? node.args : constants.get(node))

/** Returns a string that is known when the policy is saved: a literal or a constant. */
export const constantText = (node: SyntaxNode | undefined): string | null => {
  const value = node !== undefined && isConstant(node) ? constantValue(node) : null
  return typeof value === 'string' ? value : null
}

/** Makes a node yield a constant. Call before the type check. */
export const replaceByConstant = (node: SyntaxNode, type: string, value: unknown): void => {
  markConstant(node, value)
  node.setMeta('macro', constantNode(type, value)).setMeta('async', false)
}

/** Maximum sizes of a value, and the steps to compute it (cost.ts). */
export interface ValueBounds {
  readonly steps: number
  /** Maximum length of a list and of each nested list. */
  readonly elements: number
  /** UTF-16 length of each string in the value. */
  readonly chars: number
}

interface Replacement extends ValueBounds {
  /** The only part of the node that is still evaluated; null if none is. */
  readonly operand: SyntaxNode | null
}

const replacements = new WeakMap<object, Replacement>()

export const replacementOf = (node: SyntaxNode): Replacement | undefined => replacements.get(node)

/** Must be called before the type check. */
export const replaceByValue = (node: SyntaxNode, type: string, bounds: ValueBounds, evaluate: () => unknown): void => {
  replacements.set(node, { ...bounds, operand: null })
  const macro = { typeCheck: (checker: TypeCheckerHook) => checker.getType(type), evaluate }
  node.setMeta('macro', macro).setMeta('async', false)
}

/** Makes a node a function of one of its parts. Must be called before the type check. */
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
      const message = `this must be of type ${operandType}, not ${actual}`
      throw new ParseError({ code: 'invalid_argument', message, node: operand })
    },
    evaluate: (evaluator: EvaluatorHook, _macro: unknown, context: unknown) =>
      evaluate(evaluator.run(operand, context)),
  }
  node.setMeta('macro', macro).setMeta('async', false)
}

/** Folds a constant list, which would be rebuilt in each evaluation. Must be called after the type check. */
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
export const secondsOfDuration = (value: unknown): number | null =>
  value instanceof Duration ? Number(value.seconds) : null

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
