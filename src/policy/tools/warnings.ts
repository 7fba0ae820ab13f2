// Warns about valid rules that are probably mistakes. To add a warning, add a function to WARNINGS.
import { CHAIN_ALIASES } from '../../domain/chain.ts'
import { counted } from '../../lib/counted.ts'
import { nearNames } from '../../lib/edit-distance.ts'
import type { CallShape } from '../calls/call-table.ts'
import { textsOf } from '../cel/fold.ts'
import { childrenOf, type SyntaxNode } from '../cel/syntax.ts'
import type { PolicyRule } from '../types/document.ts'
import { CallGuards, type MissingArgument, type PossibleCall, selectionOf, UNDECODED } from './call-guards.ts'
import type { ExpressionIssue } from './inspect.ts'

export interface CheckedRule {
  readonly rule: PolicyRule
  readonly root: SyntaxNode
}

interface WarningContext {
  readonly chains: ReadonlySet<string>
  readonly previous: CheckedRule | null
  readonly guards: CallGuards
  /** Calls not decided by an earlier rule. */
  readonly reaching: bigint
}

/** One issue per step. */
type Warning = (rule: CheckedRule, context: WarningContext) => Iterable<ExpressionIssue>

function* nodesOf(node: SyntaxNode): Generator<SyntaxNode> {
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

const describeChain = (name: string, chains: ReadonlySet<string>): string => {
  const meant = Object.hasOwn(CHAIN_ALIASES, name) ? [CHAIN_ALIASES[name]!] : nearNames(name, chains)
  const end =
    meant.length === 0
      ? `; known chains: ${[...chains].join(', ')}`
      : `: did you mean ${meant.map((one) => `"${one}"`).join(' or ')}?`
  return `unknown chain "${name.slice(0, 64)}"${end}`
}

const EQUALITIES: ReadonlySet<string> = new Set(['==', '!=', 'in'])

const unknownChain: Warning = ({ root }, { chains }) =>
  [...nodesOf(root)]
    .filter(({ op }) => EQUALITIES.has(op))
    .map(childrenOf)
    .filter((sides) => sides.some((side) => selectionOf(side) === 'chain.name'))
    .flatMap((sides) => sides.flatMap(textsOf))
    .filter(({ text }) => !chains.has(text))
    .map(({ node, text }) => ({ at: node.pos, message: describeChain(text, chains) }))

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!='])
/** Up to this many wei or lamports, the author probably meant whole tokens. */
const SMALL_AMOUNT_MAX = 1_000_000n

/** `tx.value`, `velocity.value(…)`, or a sum or difference with one of them. */
const isAmount = (node: SyntaxNode): boolean => {
  if (node.op === '+' || node.op === '-') return childrenOf(node).some(isAmount)
  if (node.op !== 'rcall') return selectionOf(node) === 'tx.value'
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

const UTC_FACTS: ReadonlySet<string> = new Set(['request.hour', 'request.weekday', 'request.time_of_day'])

/** A part of the time in a time zone next to a fact in UTC. */
const mixedZones: Warning = ({ root }) => {
  const nodes = [...nodesOf(root)]
  const isZoned = ({ op, args }: SyntaxNode): boolean => {
    if (op !== 'rcall') return false
    const [method, , parameters] = args as [string, SyntaxNode, SyntaxNode[]]
    return method.startsWith('get') && parameters.length > 0
  }
  if (!nodes.some(isZoned)) return []
  return nodes
    .filter((node) => UTC_FACTS.has(selectionOf(node) ?? ''))
    .map((node) => ({ at: node.pos, message: `${selectionOf(node)} is in UTC, but the rule also reads a time zone` }))
}

/** First and last value of each part of a time, with their meanings if they are easily confused. */
const PART_RANGES: Readonly<Record<string, readonly [first: bigint, last: bigint, text: string]>> = {
  'request.hour': [0n, 23n, '0 to 23'],
  getMonth: [0n, 11n, '0 (January) to 11 (December)'],
  getDate: [1n, 31n, '1 to 31'],
  getDayOfMonth: [0n, 30n, '0 to 30; getDate is 1 to 31'],
  getDayOfWeek: [0n, 6n, '0 (Sunday) to 6 (Saturday)'],
  getHours: [0n, 23n, '0 to 23'],
  getMinutes: [0n, 59n, '0 to 59'],
  getSeconds: [0n, 59n, '0 to 59'],
  getMilliseconds: [0n, 999n, '0 to 999'],
}

/** Excludes durations, whose hours can exceed 23. */
const timePartOf = (node: SyntaxNode): string => {
  if (node.op !== 'rcall') return selectionOf(node)
  const [method, receiver, parameters] = node.args as [string, SyntaxNode, SyntaxNode[]]
  return parameters.length > 0 || selectionOf(receiver) === 'request.time' ? method : ''
}

/** A comparison with a value that the part never has, so that the result is always the same. */
const impossiblePart: Warning = function* ({ root }) {
  for (const node of nodesOf(root)) {
    if (!COMPARISONS.has(node.op) && node.op !== 'in') continue
    const sides = childrenOf(node)
    const part = sides.map(timePartOf).find((name) => Object.hasOwn(PART_RANGES, name))
    if (part === undefined) continue
    const [first, last, text] = PART_RANGES[part]!
    for (const { op, args, pos } of sides.flatMap((side) => (side.op === 'list' ? childrenOf(side) : [side]))) {
      if (op !== 'value' || typeof args !== 'bigint' || (args >= first && args <= last)) continue
      yield { at: pos, message: `${part} is never ${args}: it is ${text}` }
    }
  }
}

/** `allow: "true"`, `deny: "true"` or `require: "false"`. */
const alwaysDecides = ({ rule, root }: CheckedRule): boolean =>
  root.op === 'value' && root.args === (rule.kind !== 'require')

const unreachable: Warning = (_rule, { previous }) => {
  if (previous === null || !alwaysDecides(previous)) return []
  const { id, kind } = previous.rule
  const verdict = kind === 'allow' ? 'allows' : 'denies'
  return [
    {
      at: 0,
      message: `this rule and all later rules are unreachable: "${id}" always ${verdict}. Move "${id}" to the end`,
    },
  ]
}

const FUNCTIONS_NAMED_MAX = 5

/** Returns a condition that is true for functions with the argument. */
const guardOf = (having: readonly PossibleCall[], lacking: readonly PossibleCall[]): string => {
  if (lacking.every((call) => call === UNDECODED)) return 'call.decoded'
  const names = new Set(having.map((call) => call['call.function']))
  const isOverloaded = lacking.some((call) => names.has(call['call.function']))
  const fact = isOverloaded ? 'call.signature' : 'call.function'
  const texts = [...new Set(having.map((call) => `"${call[fact]}"`))]
  if (texts.length === 1) return `${fact} == ${texts[0]}`
  const shown = texts.length > FUNCTIONS_NAMED_MAX ? [...texts.slice(0, FUNCTIONS_NAMED_MAX), '…'] : texts
  return `${fact} in [${shown.join(', ')}]`
}

const describeMissing = ({ id, kind }: PolicyRule, { argument, having, lacking }: MissingArgument): string => {
  const functions = lacking.filter((call) => call !== UNDECODED).map((call) => call['call.signature'])
  const left = functions.length - FUNCTIONS_NAMED_MAX
  const without = [
    ...functions.slice(0, FUNCTIONS_NAMED_MAX),
    ...(left > 0 ? [counted(left, 'other function', 'other functions')] : []),
    ...(lacking.includes(UNDECODED) ? ['undecoded data'] : []),
  ]
  const guard = guardOf(having, lacking)
  const fix = kind === 'require' ? `!(${guard}) || …` : `${guard} && …`
  return `rule "${id}" fails for calls without the argument "${argument}" (${without.join(', ')}): write ${fix}`
}

const missingArgument: Warning = function* ({ rule, root }, { guards, reaching }) {
  for (const missing of guards.missing(root, reaching, new Set())) {
    yield { at: missing.at, message: describeMissing(rule, missing) }
  }
}

const WARNINGS: readonly Warning[] = [
  unknownChain,
  smallAmount,
  mixedZones,
  impossiblePart,
  unreachable,
  missingArgument,
]

/** Returns a function to call with each rule in order; read all its warnings before the next call. */
export const createWarnings = (chains: ReadonlySet<string>, functions: readonly CallShape[]) => {
  const guards = new CallGuards(functions)
  let previous: CheckedRule | null = null
  let reaching = guards.all
  return function* (rule: CheckedRule): Generator<ExpressionIssue, void> {
    for (const look of WARNINGS) yield* look(rule, { chains, previous, guards, reaching })
    const { whenTrue, whenFalse } = guards.outcomesOf(rule.root)
    reaching &= rule.rule.kind === 'require' ? whenTrue : whenFalse
    previous = rule
  }
}
