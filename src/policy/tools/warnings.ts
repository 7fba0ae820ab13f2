// Warns about valid rules that are probably mistakes. Each warning inspects one rule's checked syntax and suggests the
// probable intention. To add one, add a function and an entry in WARNINGS.
import { CHAIN_ALIASES } from '../../domain/chain.ts'
import { nearNames } from '../../lib/edit-distance.ts'
import { childrenOf, constantValue, isConstant, type SyntaxNode } from '../cel/syntax.ts'
import type { PolicyRule } from '../types/document.ts'
import type { ExpressionIssue } from './inspect.ts'

/** A compiled rule and its syntax tree. */
export interface CheckedRule {
  readonly rule: PolicyRule
  readonly root: SyntaxNode
}

export interface WarningContext {
  readonly chains: ReadonlySet<string>
  /** The preceding rules, in order. */
  readonly earlier: readonly CheckedRule[]
}

type Warning = (rule: CheckedRule, context: WarningContext) => readonly ExpressionIssue[]

function* nodesOf(node: SyntaxNode): Generator<SyntaxNode> {
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

const isSelection = (node: SyntaxNode, group: string, field: string): boolean => {
  if (node.op !== '.') return false
  const [root, name] = node.args as [SyntaxNode, string]
  return root.op === 'id' && root.args === group && name === field
}

/** Returns the texts of a node, each with its own position if it is written out. */
const textsOf = (node: SyntaxNode): readonly { readonly at: number; readonly text: string }[] => {
  if (node.op === 'list') return childrenOf(node).flatMap(textsOf)
  const value = isConstant(node) ? constantValue(node) : null
  return [value].flat().flatMap((text) => (typeof text === 'string' ? [{ at: node.pos, text }] : []))
}

const describeChain = (name: string, chains: ReadonlySet<string>): string => {
  const meant = Object.hasOwn(CHAIN_ALIASES, name) ? [CHAIN_ALIASES[name]!] : nearNames(name, chains)
  const end =
    meant.length === 0
      ? `; there are: ${[...chains].join(', ')}`
      : `: did you mean ${meant.map((one) => `"${one}"`).join(' or ')}?`
  return `no chain is named "${name.slice(0, 64)}"${end}`
}

const EQUALITIES: ReadonlySet<string> = new Set(['==', '!=', 'in'])

const unknownChain: Warning = ({ root }, { chains }) =>
  [...nodesOf(root)]
    .filter(({ op }) => EQUALITIES.has(op))
    .map(childrenOf)
    .filter((sides) => sides.some((side) => isSelection(side, 'chain', 'name')))
    .flatMap((sides) => sides.flatMap(textsOf))
    .filter(({ text }) => !chains.has(text))
    .map(({ at, text }) => ({ at, message: describeChain(text, chains) }))

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!='])
/** Maximum number of wei or lamports that counts as a probable mistake: the author probably meant whole tokens. */
const SMALL_AMOUNT_MAX = 1_000_000n

/** Reports whether a node is `tx.value`, `velocity.value(…)`, or a sum or difference that contains one of them. */
const isAmount = (node: SyntaxNode): boolean => {
  if (node.op === '+' || node.op === '-') return childrenOf(node).some(isAmount)
  if (node.op !== 'rcall') return isSelection(node, 'tx', 'value')
  const [method, receiver] = node.args as [string, SyntaxNode, SyntaxNode[]]
  return method === 'value' && receiver.op === 'id' && receiver.args === 'velocity'
}

const smallAmount: Warning = ({ root }) =>
  [...nodesOf(root)]
    .filter(({ op }) => COMPARISONS.has(op))
    .map(childrenOf)
    .filter((sides) => sides.some(isAmount))
    .flatMap((sides) =>
      sides.flatMap(({ op, args, pos }) =>
        op === 'value' && typeof args === 'bigint' && args > 0n && args <= SMALL_AMOUNT_MAX
          ? [{ at: pos, message: `this is ${args} wei (or lamports): did you mean ether(${args}) or sol(${args})?` }]
          : [],
      ),
    )

/** Reports whether a rule is `allow: "true"`, `deny: "true"` or `require: "false"`. */
const alwaysDecides = ({ rule, root }: CheckedRule): boolean =>
  root.op === 'value' && root.args === (rule.kind !== 'require')

const unreachable: Warning = (_rule, { earlier }) => {
  const last = earlier.at(-1)
  if (last === undefined || !alwaysDecides(last)) return []
  const { id, kind } = last.rule
  const verdict = kind === 'allow' ? 'allows' : 'denies'
  return [
    {
      at: 0,
      message: `no request reaches this rule or those after it: "${id}" always ${verdict}. Did you mean to put it last?`,
    },
  ]
}

const WARNINGS: readonly Warning[] = [unknownChain, smallAmount, unreachable]

/** Returns warnings in the order of WARNINGS. `at` is a UTF-16 index into the rule's expression. */
export const warningsOf = (rule: CheckedRule, context: WarningContext): readonly ExpressionIssue[] =>
  WARNINGS.flatMap((look) => look(rule, context))
