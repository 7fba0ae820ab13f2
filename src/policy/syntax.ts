// The seam to the CEL library's syntax tree. Its nodes carry more than its published types say; what policies rely on is
// named here and nowhere else, the library's version is pinned, and a test fails when one of these things changes.
import { type ASTNode, ParseError } from '@marcbachmann/cel-js'
import { Duration } from '@marcbachmann/cel-js/evaluator'

/** A type as the library's checker names it, for example `list<address>`. */
export interface CheckedType {
  readonly kind: string
  readonly name: string
  readonly valueType?: CheckedType
  readonly hasDynType: boolean
  readonly hasPlaceholderType: boolean
}

export type SyntaxNode = ASTNode & {
  /** Set by the type checker on every node that it visits. Missing on the parts of a macro that it does not check. */
  readonly checkedType?: CheckedType
  /** Hooks of a node: `macro` takes over its check and evaluation, `async` says whether it may yield a promise. */
  setMeta(key: 'macro' | 'async', value: unknown): SyntaxNode
}

/** The library's checker and evaluator as a macro's hooks receive them. */
export interface TypeCheckerHook {
  check(node: SyntaxNode, context: unknown): CheckedType
  getType(name: string): CheckedType
}
export interface EvaluatorHook {
  run(node: SyntaxNode, context: unknown): unknown
}

/** A macro (public in the library: "Custom macros") that stands for one value. */
export const constantNode = (type: string, value: unknown) => ({
  async: false,
  typeCheck: (checker: TypeCheckerHook) => checker.getType(type),
  evaluate: () => value,
})

const constants = new WeakMap<object, unknown>()

/** Remembers that a node stands for a value known now. */
export const markConstant = (node: object, value: unknown): void => {
  constants.set(node, value)
}

export const isConstant = (node: SyntaxNode): boolean => node.op === 'value' || constants.has(node)
/** Of a constant: its value as the language has it. */
export const constantValue = (node: SyntaxNode): unknown => (node.op === 'value' ? node.args : constants.get(node))

/** Before the type check: makes a node stand for a value of a type. */
export const replaceByConstant = (node: SyntaxNode, type: string, value: unknown): void => {
  markConstant(node, value)
  node.setMeta('macro', constantNode(type, value)).setMeta('async', false)
}

/** How large a value can be, and the steps of having it; see cost.ts. */
export interface ValueBounds {
  readonly steps: number
  /** Elements of a list, of each list inside, too. */
  readonly elements: number
  /** UTF-16 code units of a text, of each text inside, too. */
  readonly chars: number
}

interface Replacement extends ValueBounds {
  /** The one part of it that is still evaluated as an expression. */
  readonly operand: SyntaxNode | null
}

const replacements = new WeakMap<object, Replacement>()

/** What a node was replaced by, if it was. */
export const replacementOf = (node: SyntaxNode): Replacement | undefined => replacements.get(node)

/** Before the type check: makes a node stand for a value that `evaluate` has at hand. */
export const replaceByValue = (node: SyntaxNode, type: string, bounds: ValueBounds, evaluate: () => unknown): void => {
  replacements.set(node, { ...bounds, operand: null })
  const macro = { typeCheck: (checker: TypeCheckerHook) => checker.getType(type), evaluate }
  node.setMeta('macro', macro).setMeta('async', false)
}

/** Before the type check: makes a node stand for a function of one of its parts, which has to be of `operandType`. */
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

/** After the type check: makes a list of constants one constant, so that it is not built anew in each evaluation. */
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
/** Whole seconds of a duration of the language; null for any other value. */
export const secondsOfDuration = (value: unknown): number | null =>
  value instanceof Duration ? Number(value.seconds) : null

/** The parts of a node that are expressions themselves, in source order. */
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
