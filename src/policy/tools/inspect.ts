// Checks an expression against the language and resolves its names. Runs before the type check for clearer messages.

import { foldCountedDuration, foldTime, literalProblem, replaceNegation, textsOf } from '../cel/fold.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import type { PolicyScope } from '../cel/scope.ts'
import { childrenOf, type SyntaxNode } from '../cel/syntax.ts'
import { replaceZonedPart } from '../cel/time-parts.ts'
import type { FactField } from '../fact-field.ts'
import { ISSUES_MAX } from '../issues.ts'
import { createResolver, factField, type Refuse, type Resolver } from '../resolve.ts'
import {
  DURATION_FUNCTIONS,
  FUNCTIONS,
  LITERAL_FUNCTIONS,
  LOOPS,
  MEANT,
  METHODS,
  meantOf,
  refusedName,
  SOURCE_FUNCTIONS,
  TIME_METHODS,
  VELOCITY_METHODS,
} from './language.ts'

/** `at` is a UTF-16 index into the expression. */
export interface ExpressionIssue {
  readonly at: number
  readonly message: string
}

export interface Inspection {
  readonly issues: readonly ExpressionIssue[]
  readonly nodes: number
}

/** `variable`: of the enclosing loop. */
interface Place {
  readonly depth: number
  readonly variable: string | null
}

const isName = (node: SyntaxNode | undefined, name: string, { variable }: Place): boolean =>
  node?.op === 'id' && node.args === name && variable !== name

class Inspector {
  readonly issues: ExpressionIssue[] = []
  readonly #scope: PolicyScope
  readonly #resolver: Resolver
  nodes = 0

  constructor(scope: PolicyScope) {
    this.#scope = scope
    this.#resolver = createResolver(scope, this.#complain)
  }

  #refuse(node: SyntaxNode, message: string): void {
    this.issues.push({ at: node.pos, message })
  }

  readonly #complain: Refuse = (node, message) => this.#refuse(node, message)

  inspect(node: SyntaxNode, place: Place): void {
    if (this.issues.length >= ISSUES_MAX) return
    this.nodes++
    if (place.depth > POLICY_LIMITS.expressionDepth) {
      this.#refuse(node, 'the expression is nested too deeply: use lists, or several rules')
    } else if (node.op === 'value') {
      const problem = literalProblem(node.args)
      if (problem !== null) this.#refuse(node, problem)
    } else if (node.op === 'id') {
      this.#inspectName(node, place)
    } else if (node.op === '.') {
      this.#inspectSelection(node, place)
    } else if (node.op === 'call') {
      this.#inspectCall(node, place)
    } else if (node.op === 'rcall') {
      this.#inspectMethod(node, place)
    } else if (node.op === 'map') {
      this.#refuse(node, 'the policy language does not support maps')
    } else if (node.op === 'list' && node.args.length === 0) {
      this.#refuse(node, 'the list is empty')
    } else {
      this.#inspectAll(childrenOf(node), place)
      if (node.op === '-_') replaceNegation(node)
      if (node.op === '==' || node.op === '!=' || node.op === 'in') this.#inspectComparison(node, place)
    }
  }

  #inspectAll(nodes: readonly SyntaxNode[], { depth, variable }: Place): void {
    for (const node of nodes) this.inspect(node, { depth: depth + 1, variable })
  }

  #membersOf(name: string): readonly string[] {
    if (name === 'constants') return [...this.#scope.constants.keys()]
    if (name === 'reads') return [...this.#scope.reads.keys()]
    if (name === 'velocity') return [...VELOCITY_METHODS].map((method) => `${method}()`)
    const { facts } = this.#scope
    const within = Object.keys(facts).flatMap((group) =>
      group.startsWith(`${name}.`) ? [group.slice(name.length + 1)] : [],
    )
    return [...Object.keys(facts[name] ?? {}), ...within, ...(name === 'call' ? ['args'] : [])]
  }

  #groupOf(node: SyntaxNode, { variable }: Place): string | null {
    const { facts, roots } = this.#scope
    if (node.op === 'id') {
      const name = node.args as string
      return name !== variable && roots.has(name) ? name : null
    }
    if (node.op !== '.') return null
    const [root, name] = node.args as [SyntaxNode, string]
    const group = root.op === 'id' && root.args !== variable ? `${root.args}.${name}` : ''
    return Object.hasOwn(facts, group) ? group : null
  }

  /** A name without a dot must be a loop variable. */
  #inspectName(node: SyntaxNode, place: Place): void {
    const name = node.args as string
    if (name === place.variable) return
    const { roots } = this.#scope
    if (!roots.has(name)) {
      this.#refuse(node, `unknown name "${name.slice(0, 64)}"${meantOf(name, roots)}`)
      return
    }
    const members = this.#membersOf(name).join(', ') || 'none'
    this.#refuse(node, `add a field of ${name}: ${members}`)
  }

  #inspectSelection(node: SyntaxNode, place: Place): void {
    const [root, field] = node.args as [SyntaxNode, string]
    const group = this.#groupOf(root, place)
    if (group !== null) {
      this.nodes++
      this.#inspectMember(node, group, field)
    } else if (root.op === '.' && root.args[1] === 'args' && isName(root.args[0] as SyntaxNode, 'call', place)) {
      this.nodes += 2
      this.#resolver.argument(node, field)
    } else if (root.op === 'call' && root.args[0] === 'screener' && this.#scope.decides === 'requests') {
      this.nodes++
      const parameters = root.args[1] as SyntaxNode[]
      // Must run before names are replaced with values below, because the address is part of the query.
      const [, address] = parameters
      const isOf = (group: string): boolean =>
        address?.op === '.' && isName(address.args[0] as SyntaxNode, group, place) && address.args[1] === 'address'
      const onBehalf = isOf('onBehalf')
      const others = onBehalf || isOf('wallet') ? parameters.toSpliced(1, 1) : parameters
      this.#inspectAll(parameters, place)
      this.#resolver.screener(node, others, field, onBehalf)
    } else {
      this.#inspectAll([root], place)
    }
  }

  #inspectMember(node: SyntaxNode, root: string, field: string): void {
    if (root === 'constants') {
      this.#resolver.constant(node, field)
    } else if (root === 'reads') {
      this.#resolver.read(node, field)
    } else if (root === 'call' && field === 'args') {
      this.#refuse(node, 'add an argument name, for example call.args.amount')
    } else {
      const fact = factField(this.#scope, root, field)
      const within = `${root}.${field}`
      if (fact !== undefined) this.#resolver.fact(node, root, field, fact)
      else if (Object.hasOwn(this.#scope.facts, within)) {
        this.#refuse(node, `add a field of ${within}: ${this.#membersOf(within).join(', ')}`)
      } else {
        const meant = MEANT.get(within)
        const end =
          meant === undefined ? `; valid fields: ${this.#membersOf(root).join(', ')}` : `: did you mean ${meant}?`
        this.#refuse(node, `${root} has no field "${field.slice(0, 64)}"${end}`)
      }
    }
  }

  #literalCheck(node: SyntaxNode, place: Place): FactField['refuseLiteral'] {
    if (node.op !== '.') return undefined
    const [root, field] = node.args as [SyntaxNode, string]
    const group = this.#groupOf(root, place)
    if (group === null) return undefined
    const { calls } = this.#scope
    if (group === 'call' && calls !== null && (field === 'function' || field === 'signature')) {
      const known = field === 'function' ? calls.names : calls.signatures
      return (literal) =>
        literal === '' || known.has(literal) ? null : `the policy's abi has no function "${literal.slice(0, 64)}"`
    }
    return factField(this.#scope, group, field)?.refuseLiteral
  }

  /** Reports comparisons that can never be equal: a deny rule with one would never apply. */
  #inspectComparison(node: SyntaxNode, place: Place): void {
    const sides = childrenOf(node)
    const refuseLiteral = sides.map((side) => this.#literalCheck(side, place)).find((check) => check !== undefined)
    if (refuseLiteral === undefined) return
    for (const literal of sides.flatMap(textsOf)) {
      const problem = refuseLiteral(literal.text)
      if (problem !== null) this.#refuse(literal.node, problem)
    }
  }

  #inspectCall(node: SyntaxNode, place: Place): void {
    const [name, parameters] = node.args as [string, SyntaxNode[]]
    const [only] = parameters
    if (!FUNCTIONS.has(name)) {
      this.#refuse(node, refusedName(name, 'function', FUNCTIONS))
    } else if (this.#scope.decides === 'sessions' && SOURCE_FUNCTIONS.has(name)) {
      this.#refuse(node, `${name}() is only for policies that decide requests`)
    } else if (name === 'timestamp' || name === 'duration') {
      this.nodes++
      foldTime(node, name, this.#complain)
    } else if (DURATION_FUNCTIONS.has(name)) {
      this.nodes++
      foldCountedDuration(node, name, DURATION_FUNCTIONS.get(name) ?? 0, this.#complain)
    } else if (name === 'in_list') {
      this.#inspectAll(parameters, place)
      this.#resolver.inList(node, parameters)
    } else if (name === 'screener') {
      this.#refuse(node, 'add a field of the result, for example screener("name").flagged')
    } else if (LITERAL_FUNCTIONS.has(name) && parameters.length === 1 && only?.op === 'value') {
      // Counts the literal, which may be a large number or a long text.
      this.nodes++
    } else {
      this.#inspectAll(parameters, place)
    }
  }

  #inspectMethod(node: SyntaxNode, place: Place): void {
    const [name, receiver, parameters] = node.args as [string, SyntaxNode, SyntaxNode[]]
    if (isName(receiver, 'velocity', place)) {
      this.#inspectVelocity(node, name, parameters, place)
    } else if (!METHODS.has(name)) {
      // In `lists.has(…)`, the name before the dot suggests the intended function.
      if (receiver.op === 'id' && MEANT.has(receiver.args as string)) this.#inspectName(receiver, place)
      else this.#refuse(node, refusedName(name, 'method', METHODS))
    } else if (LOOPS.has(name)) {
      this.#inspectAll([receiver], place)
      this.#inspectLoop(node, name, parameters, place)
    } else if (TIME_METHODS.has(name) && parameters.length > 0) {
      this.#inspectAll([receiver, ...parameters], place)
      // Suggestions are slow, so only the first issue has one.
      replaceZonedPart(node, this.#complain, this.issues.length === 0)
    } else {
      this.#inspectAll([receiver, ...parameters], place)
    }
  }

  #inspectVelocity(node: SyntaxNode, name: string, parameters: readonly SyntaxNode[], place: Place): void {
    this.nodes++
    if (this.#scope.decides === 'sessions') {
      this.#refuse(node, 'velocity is only for policies that decide requests')
      return
    }
    if (!VELOCITY_METHODS.has(name)) {
      this.#refuse(
        node,
        `velocity has no method "${name.slice(0, 64)}"; valid methods: ${[...VELOCITY_METHODS].join(', ')}`,
      )
      return
    }
    this.#inspectAll(parameters, place)
    this.#resolver.velocity(node, name, parameters)
  }

  #inspectLoop(node: SyntaxNode, name: string, parameters: readonly SyntaxNode[], place: Place): void {
    const [variable, ...bodies] = parameters
    this.nodes++
    if (place.variable !== null) {
      this.#refuse(node, `${name}() cannot be used inside another loop`)
    } else if (variable?.op !== 'id' || !LOOPS.get(name)?.includes(parameters.length)) {
      // If the number of arguments differs, the parser treats the loop as a method.
      this.#refuse(node, `${name}() takes a variable name and an expression`)
    } else if (this.#scope.roots.has(variable.args as string)) {
      this.#refuse(variable, `"${variable.args}" is a reserved name: rename the variable`)
    } else {
      this.#inspectAll(bodies, { depth: place.depth, variable: variable.args as string })
    }
  }
}

/** Replaces names and literals with their values, and records needs in the scope. */
export const inspectExpression = (root: SyntaxNode, scope: PolicyScope): Inspection => {
  const inspector = new Inspector(scope)
  inspector.inspect(root, { depth: 1, variable: null })
  return inspector
}
