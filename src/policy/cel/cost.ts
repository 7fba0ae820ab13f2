// Estimates the worst-case cost of an expression, so that a policy that could block a worker can't be saved (threats
// row 13). Assumes that `&&` and `||` evaluate both sides. One step is about a visit of a simple node, 20 ns.
import type { ExpressionIssue } from '../tools/inspect.ts'
import { isPermittedType, isValueType } from '../tools/language.ts'
import { POLICY_LIMITS } from './limits.ts'
import {
  type CheckedType,
  childrenOf,
  constantValue,
  foldList,
  isConstant,
  replacementOf,
  type SyntaxNode,
} from './syntax.ts'

/** `elements`: maximum length of a list. `chars`: maximum UTF-16 length of each string. */
interface Estimate {
  readonly steps: number
  readonly elements: number
  readonly chars: number
}

/** A failure creates an error with a stack and a copy of the expression. One expression can discard many of them. */
const failureSteps = (node: SyntaxNode): number => 300 + Math.ceil(node.input.length / 4)
/** Errors of uint256 are preallocated. */
const CHEAP_FAILURE_STEPS = 50
const CALL_STEPS = 4
const SELECTION_STEPS = 3
const TIME_STEPS = 20
/** Steps per list element, whose type the library looks up. */
const TIME_IN_STEPS = 6
/** A comparison covers many characters per step; size() visits every code point. */
const CHARS_PER_STEP = 32
const COUNTED_CHAR_STEPS = 0.5

const NOTHING: Estimate = { steps: 0, elements: 0, chars: 0 }

interface Loop {
  readonly variable: string
  readonly range: Estimate
}

/** Maximum length of a nested list. */
const INNER_ELEMENTS = Math.max(POLICY_LIMITS.listElements, POLICY_LIMITS.decodedElements)

const innerElements = (node: SyntaxNode): number => (node.checkedType?.kind === 'list' ? INNER_ELEMENTS : 0)

const constantBounds = (node: SyntaxNode): Estimate => {
  const value = constantValue(node)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const chars = Math.max(0, ...values.map((member) => (typeof member === 'string' ? member.length : 0)))
  return { steps: 1, elements: Array.isArray(value) ? value.length : 0, chars }
}

class Estimator {
  readonly issues: ExpressionIssue[] = []
  readonly #types: ReadonlySet<string>

  constructor(types: ReadonlySet<string>) {
    this.#types = types
  }

  private refuse(node: SyntaxNode, message: string): void {
    this.issues.push({ at: node.pos, message })
  }

  estimate(node: SyntaxNode, loop: Loop | null): Estimate {
    const type = node.checkedType
    // The cost of an operation depends on its type, so a node without a type must be rejected.
    if (type === undefined || !isPermittedType(type, this.#types)) {
      this.refuse(node, `the policy language does not support values of type ${type?.name ?? 'unknown'}`)
      return NOTHING
    }
    if (isConstant(node)) return constantBounds(node)
    const replacement = replacementOf(node)
    if (replacement !== undefined) {
      const operand = replacement.operand === null ? NOTHING : this.estimate(replacement.operand, loop)
      return { ...replacement, steps: replacement.steps + operand.steps }
    }
    switch (node.op) {
      case 'id':
        return { steps: 1, elements: innerElements(node), chars: loop?.variable === node.args ? loop.range.chars : 0 }
      case '.':
        return { ...this.sum(SELECTION_STEPS, childrenOf(node), loop), elements: innerElements(node) }
      case 'list':
        return this.estimateList(node, loop)
      case 'call':
        return this.estimateCall(node, loop)
      case 'rcall':
        return this.estimateMethod(node, loop)
      case '?:':
        return this.sum(1, childrenOf(node), loop)
      case '!_':
      case '-_':
        return this.sum(1, childrenOf(node), loop)
      case '&&':
      case '||':
        return { ...this.sum(1, childrenOf(node), loop), elements: 0, chars: 0 }
      case '[]':
        return { ...this.sum(failureSteps(node), childrenOf(node), loop), elements: innerElements(node) }
      default:
        return this.estimateOperator(node, loop)
    }
  }

  private sum(steps: number, nodes: readonly SyntaxNode[], loop: Loop | null): Estimate {
    let { elements, chars } = NOTHING
    let total = steps
    for (const node of nodes) {
      const part = this.estimate(node, loop)
      total += part.steps
      elements = Math.max(elements, part.elements)
      chars = Math.max(chars, part.chars)
    }
    return { steps: total, elements, chars }
  }

  /** Estimates size() or uint256() of a non-literal. */
  private estimateCall(node: SyntaxNode, loop: Loop | null): Estimate {
    const { steps, chars } = this.sum(CALL_STEPS, childrenOf(node), loop)
    const [name, [only]] = node.args as [string, SyntaxNode[]]
    const work = name === 'size' ? sizeWork(only, chars) : CHEAP_FAILURE_STEPS
    return { steps: steps + work, elements: 0, chars: 0 }
  }

  private estimateList(node: SyntaxNode, loop: Loop | null): Estimate {
    const elements = node.args as SyntaxNode[]
    const parts = this.sum(1, elements, loop)
    foldList(node)
    return { steps: isConstant(node) ? 1 : parts.steps, elements: elements.length, chars: parts.chars }
  }

  private estimateMethod(node: SyntaxNode, loop: Loop | null): Estimate {
    const [name, receiver, parameters] = node.args as [string, SyntaxNode, SyntaxNode[]]
    const target = this.estimate(receiver, loop)
    const [variable, ...bodies] = parameters
    if (variable?.op === 'id' && bodies.length > 0) {
      const inner = { variable: variable.args, range: target }
      const each = bodies.map((body) => this.estimate(body, inner))
      const steps = each.reduce((total, body) => total + body.steps, CALL_STEPS)
      const chars = name === 'map' ? (each.at(-1)?.chars ?? 0) : target.chars
      return { steps: target.steps + CALL_STEPS + target.elements * steps, elements: target.elements, chars }
    }
    const others = this.sum(CALL_STEPS, parameters, loop)
    const work = name === 'size' ? sizeWork(receiver, target.chars) : methodWork(name, target.chars, others.chars)
    const steps = target.steps + others.steps + work
    return { steps, elements: 0, chars: 0 }
  }

  private estimateOperator(node: SyntaxNode, loop: Loop | null): Estimate {
    const [leftNode, rightNode] = node.args as [SyntaxNode, SyntaxNode]
    const left = this.estimate(leftNode, loop)
    const right = this.estimate(rightNode, loop)
    const type = leftNode.checkedType?.name
    if (node.op === '+' && (type === 'string' || leftNode.checkedType?.kind === 'list')) {
      this.refuse(node, 'the policy language cannot join strings or lists with +')
    }
    const compared = node.op === 'in' ? rightNode.checkedType?.valueType : comparedType(leftNode)
    if (isEquality(node.op) && compared !== undefined && !isValueType(compared)) {
      this.refuse(node, 'tuples and lists of lists cannot be compared: compare their members')
    }
    const each = 1 + Math.min(left.chars, right.chars) / CHARS_PER_STEP
    const steps = left.steps + right.steps + Math.ceil(this.operatorSteps(node, left, right) + each)
    return { steps, elements: 0, chars: 0 }
  }

  private uint256Steps(node: SyntaxNode): number {
    for (const side of childrenOf(node)) {
      if (isNegativeLiteral(side)) this.refuse(side, 'a uint256 cannot be negative')
    }
    // Only a non-constant int can be negative.
    const mayFail = childrenOf(node).some((side) => side.checkedType?.name === 'int' && side.op !== 'value')
    return mayFail || isArithmetic(node.op) ? CHEAP_FAILURE_STEPS : 1
  }

  private operatorSteps(node: SyntaxNode, left: Estimate, right: Estimate): number {
    const [leftNode, rightNode] = node.args as [SyntaxNode, SyntaxNode]
    const types = [leftNode.checkedType?.name ?? '', rightNode.checkedType?.name ?? '']
    const chars = 1 + Math.min(left.chars, right.chars) / CHARS_PER_STEP
    if (node.op === 'in') return right.elements * (isTime(types[0]!) ? TIME_IN_STEPS : 1 + chars)
    if (leftNode.checkedType?.kind === 'list') return Math.min(left.elements, right.elements) * (4 + chars)
    if (types.includes('uint256')) return this.uint256Steps(node)
    if (types.some(isTime)) return TIME_STEPS
    return isArithmetic(node.op) ? failureSteps(node) : 0
  }
}

const isEquality = (operator: string): boolean => ['==', '!=', 'in'].includes(operator)

const comparedType = ({ checkedType }: SyntaxNode): CheckedType | undefined =>
  checkedType?.kind === 'list' ? checkedType.valueType : checkedType

/** A list's length is known; a string's characters must be counted. */
const sizeWork = (node: SyntaxNode | undefined, chars: number): number =>
  node?.checkedType?.kind === 'list' ? 0 : chars * COUNTED_CHAR_STEPS

const methodWork = (name: string, chars: number, otherChars: number): number => {
  return Math.ceil((name === 'contains' ? chars * (1 + otherChars) : chars) / CHARS_PER_STEP)
}

const isNegativeLiteral = (node: SyntaxNode): boolean =>
  node.op === '-_' && (node.args as SyntaxNode).op === 'value' && (node.args as SyntaxNode).args !== 0n

const isTime = (type: string): boolean => type.startsWith('google.protobuf.')

const isArithmetic = (operator: string): boolean => ['+', '-', '*', '/', '%'].includes(operator)

/** Returns the worst-case steps, and an issue for each forbidden part. Folds constant lists. */
export const estimateExpression = (
  root: SyntaxNode,
  types: ReadonlySet<string>,
): { steps: number; issues: readonly ExpressionIssue[] } => {
  const estimator = new Estimator(types)
  const { steps } = estimator.estimate(root, null)
  return { steps: Math.ceil(steps), issues: estimator.issues }
}
