// The seam to the CEL library's syntax tree. Its nodes carry more than its published types say; what policies rely on is
// named here and nowhere else, the library's version is pinned, and a test fails when one of these things changes.
import type { ASTNode } from '@marcbachmann/cel-js'
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
const constantValue = (node: SyntaxNode): unknown => (node.op === 'value' ? node.args : constants.get(node))

/** Before the type check: makes a node stand for a value of a type. */
export const replaceByConstant = (node: SyntaxNode, type: string, value: unknown): void => {
  markConstant(node, value)
  node.setMeta('macro', constantNode(type, value)).setMeta('async', false)
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
