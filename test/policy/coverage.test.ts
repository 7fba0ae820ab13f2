// Coverage of a document's tests: the rules that they reach, and the outcomes of each condition.
import { expect, test } from 'bun:test'
import { compileSource } from '../../src/policy/cel/compile.ts'
import { coverageOf } from '../../src/policy/tools/coverage.ts'

const coverage = (rules: string, ...values: string[]) => {
  const tests = values.map((value, index) => {
    const request = `{ from: "0x00000000000000000000000000000000000000b2", ${value} }`
    return `  - { name: t${index}, request: ${request}, verdict: allow }\n`
  })
  return coverageOf(compileSource(`name: P\ndefault: allow\nrules:\n${rules}\ntests:\n${tests.join('')}`).policy)
}

const missing = (...given: Parameters<typeof coverage>) =>
  coverage(...given).uncovered.map(({ condition, outcome }) => `${condition} ${outcome}`)

test('a rule after a decisive rule is not reached', () => {
  const rules = `  - { id: first, allow: tx.value > 5 }
  - { id: second, deny: chain.name == "base" }
  - { id: last, allow: "true" }`
  expect(coverage(rules, 'msg_value: 6')).toEqual({
    rules: 3,
    unreached: ['second', 'last'],
    branches: 5,
    uncovered: [
      { rule: 'first', condition: 'tx.value > 5', outcome: false },
      { rule: 'second', condition: 'chain.name == "base"', outcome: true },
      { rule: 'second', condition: 'chain.name == "base"', outcome: false },
      { rule: 'last', condition: 'true', outcome: true },
    ],
  })
  expect(coverage(rules, 'msg_value: 6', 'msg_value: 1', 'chain: base')).toMatchObject({ unreached: [], uncovered: [] })
})

test('a require rule decides if it is false', () => {
  const rules = '  - { id: a, require: tx.value > 5 }\n  - { id: b, allow: "true" }'
  expect(coverage(rules, 'msg_value: 1').unreached).toEqual(['b'])
  expect(coverage(rules, 'msg_value: 6').unreached).toEqual([])
})

const AND = 'tx.value > 5 && chain.name == "base"'
const OR = 'tx.value > 5 || chain.name == "base"'
const CHOICE = '!(tx.value > 5) ? chain.name == "base" : request.hour > 3'
const EITHER = ['chain.name == "base" false', 'chain.name == "base" true']
const BRANCHES = ['chain.name == "base" true', 'request.hour > 3 false', 'request.hour > 3 true']
test.each([
  ['a false side of && skips the other side', AND, ['1'], [...EITHER, 'tx.value > 5 true']],
  ['both sides of && are covered', AND, ['1', '6', '6, chain: base'], []],
  ['a true side of || skips the other side', OR, ['6, chain: base'], [...EITHER, 'tx.value > 5 false']],
  ['only the chosen branch of ?: is evaluated, and ! inverts', CHOICE, ['1'], [...BRANCHES, 'tx.value > 5 true']],
])('%s', (_name, condition, values, expected) => {
  const rules = `  - { id: a, allow: '${condition}' }`
  const found = missing(rules, ...values.map((value) => `msg_value: ${value}`))
  expect(found.sort()).toEqual(expected)
})

test('a failing condition has no outcome, and a decisive other side overrides the failure', () => {
  const rules = '  - { id: a, allow: identity.verified || tx.value > 5 }\n  - { id: b, allow: "true" }'
  const { unreached, uncovered } = coverage(rules, 'msg_value: 1')
  expect(unreached).toEqual(['b'])
  const conditions = uncovered.map(({ condition }) => condition)
  expect(conditions).toEqual(['identity.verified', 'identity.verified', 'tx.value > 5', 'true'])
})

test('a loop counts as one condition, and calls with tuples are decoded', () => {
  const rule = `call.function == "submit" && call.args.orders.exists(o, o.amount > 5 && o.amount < 9)`
  const found = coverageOf(
    compileSource(`name: P
abi: ['function submit((address maker, uint256 amount)[] orders)']
rules: [{ id: a, deny: '${rule}' }]
`).policy,
  )
  expect(found).toMatchObject({ rules: 1, unreached: ['a'], branches: 4 })
  expect(found.uncovered.at(-1)?.condition).toBe('call.args.orders.exists(o, o.amount > 5 && o.amount < 9)')
})
