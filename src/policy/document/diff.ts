import type { PolicyConstant, PolicyDocument, PolicyRead, PolicyRule, PolicyTest } from '../types/document.ts'
import type { CompiledPolicy } from '../types/program.ts'

export type PolicyDifference =
  /** A rule, with its content, that only one policy has. `place` counts from 1. */
  | {
      readonly kind: 'rule-added' | 'rule-removed'
      readonly rule: string
      readonly place: number
      readonly from: string | null
      readonly to: string | null
    }
  | { readonly kind: 'test-added' | 'test-removed' | 'test-changed'; readonly test: string }
  /** The rules in both policies have a different order. */
  | { readonly kind: 'rules-reordered'; readonly from: readonly string[]; readonly to: readonly string[] }
  | {
      readonly kind: 'changed'
      readonly what: string
      readonly from: string | null
      readonly to: string | null
    }

const text = (value: unknown): string | null => {
  if (value === null || value === undefined || value === '') return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const compare = (what: string, from: unknown, to: unknown): PolicyDifference[] => {
  const [before, after] = [text(from), text(to)]
  return before === after ? [] : [{ kind: 'changed', what, from: before, to: after }]
}

const compareRule = (from: PolicyRule, to: PolicyRule): PolicyDifference[] => {
  const what = `rules/${from.id}`
  const decides =
    from.kind === to.kind
      ? compare(`${what}/${from.kind}`, from.expression, to.expression)
      : compare(what, `${from.kind}: ${from.expression}`, `${to.kind}: ${to.expression}`)
  return [
    ...decides,
    ...compare(`${what}/code`, from.code, to.code),
    ...compare(`${what}/message`, from.message, to.message),
  ]
}

const ruleInWords = ({ kind, expression, code, message }: PolicyRule): string =>
  [
    `${kind}: ${expression}`,
    ...(code === null ? [] : [`code: ${code}`]),
    ...(message === null ? [] : [`message: ${message}`]),
  ].join('\n')

const compareRules = (from: readonly PolicyRule[], to: readonly PolicyRule[]): PolicyDifference[] => {
  const before = new Map(from.map((rule) => [rule.id, rule]))
  const after = new Map(to.map((rule) => [rule.id, rule]))
  const removed = from.flatMap((rule, index): PolicyDifference[] =>
    after.has(rule.id)
      ? []
      : [{ kind: 'rule-removed', rule: rule.id, place: index + 1, from: ruleInWords(rule), to: null }],
  )
  const added = to.flatMap((rule, index): PolicyDifference[] =>
    before.has(rule.id)
      ? []
      : [{ kind: 'rule-added', rule: rule.id, place: index + 1, from: null, to: ruleInWords(rule) }],
  )
  const kept = from.filter(({ id }) => after.has(id)).map(({ id }) => id)
  const keptNow = to.filter(({ id }) => before.has(id)).map(({ id }) => id)
  const reordered: PolicyDifference[] =
    kept.join() === keptNow.join() ? [] : [{ kind: 'rules-reordered', from: kept, to: keptNow }]
  const changed = kept.flatMap((id) => {
    const [old, now] = [before.get(id), after.get(id)]
    return old === undefined || now === undefined ? [] : compareRule(old, now)
  })
  return [...removed, ...added, ...reordered, ...changed]
}

const compareNamed = <Named extends { readonly name: string }>(
  what: string,
  from: readonly Named[],
  to: readonly Named[],
  inWords: (one: Named) => string,
): PolicyDifference[] => {
  const before = new Map(from.map((one) => [one.name, inWords(one)]))
  const after = new Map(to.map((one) => [one.name, inWords(one)]))
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].flatMap((name) => compare(`${what}/${name}`, before.get(name), after.get(name)))
}

/** Quoted strings distinguish a string with a comma from a list of two strings. */
const constantInWords = ({ type, values, isList }: PolicyConstant): string => {
  const written = type === 'string' ? values.map((value) => JSON.stringify(value)) : values
  return `${type} ${isList ? `[${written.join(', ')}]` : written[0]}`
}

const readInWords = ({ definition }: PolicyRead): string => JSON.stringify(definition)

const compareTests = (from: readonly PolicyTest[], to: readonly PolicyTest[]): PolicyDifference[] =>
  compareNamed('tests', from, to, (test) => JSON.stringify(test)).flatMap((difference): PolicyDifference[] => {
    if (difference.kind !== 'changed') return []
    const kind = difference.from === null ? 'test-added' : difference.to === null ? 'test-removed' : 'test-changed'
    return [{ kind, test: difference.what.slice('tests/'.length) }]
  })

type NoDocument = {
  readonly [Part in keyof PolicyDocument]: PolicyDocument[Part] extends readonly unknown[] ? [] : null
}

const NO_DOCUMENT: NoDocument = {
  name: null,
  description: null,
  decides: null,
  default: null,
  quorum: null,
  constants: [],
  abi: [],
  idl: null,
  reads: [],
  rules: [],
  tests: [],
}

const compareDocuments = (from: PolicyDocument | NoDocument, to: PolicyDocument): PolicyDifference[] => [
  ...compare('name', from.name, to.name),
  ...compare('description', from.description, to.description),
  ...compare('decides', from.decides, to.decides),
  ...compare('default', from.default, to.default),
  ...compare('quorum', from.quorum, to.quorum),
  ...compareNamed('constants', from.constants, to.constants, constantInWords),
  ...compareNamed('reads', from.reads, to.reads, readInWords),
  ...compare('abi', from.abi, to.abi),
  ...compare('idl', from.idl, to.idl),
  ...compareRules(from.rules, to.rules),
  ...compareTests(from.tests, to.tests),
]

export const describePolicy = ({ document, requires, needs }: CompiledPolicy): readonly PolicyDifference[] => [
  ...compareDocuments(NO_DOCUMENT, document),
  ...compare('requires', [], requires),
  ...compare('needs', [], needs),
]

/** Returns differences in document order, ignoring formatting and comments. */
export const diffPolicies = (from: CompiledPolicy, to: CompiledPolicy): readonly PolicyDifference[] => [
  ...compareDocuments(from.document, to.document),
  ...compare('requires', from.requires, to.requires),
  ...compare('needs', from.needs, to.needs),
]
