// Coverage of a document's tests: the rules that they reach, and the outcomes of each condition.
import { expect, test } from 'bun:test'
import { compileSource } from '../../src/policy/cel/compile.ts'
import { coverageOf } from '../../src/policy/tools/coverage.ts'

const coverage = (rules: string, ...values: string[]) =>
  coverageOf(
    compileSource(`name: P
default: allow
rules:
${rules}
tests:
${values
  .map(
    (value, index) =>
      `  - { name: t${index}, request: { from: "0x00000000000000000000000000000000000000b2", ${value} }, verdict: allow }`,
  )
  .join('\n')}
`).policy,
  )

const missing = (...given: Parameters<typeof coverage>) =>
  coverage(...given).uncovered.map(({ condition, outcome }) => `${condition} ${outcome}`)

test('a rule after a decisive one is not reached', () => {
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

test('require decides if it is false', () => {
  const rules = '  - { id: a, require: tx.value > 5 }\n  - { id: b, allow: "true" }'
  expect(coverage(rules, 'msg_value: 1').unreached).toEqual(['b'])
  expect(coverage(rules, 'msg_value: 6').unreached).toEqual([])
})

test('a side of && or || that the other decides is not evaluated', () => {
  const and = '  - { id: a, allow: tx.value > 5 && chain.name == "base" }'
  expect(missing(and, 'msg_value: 1')).toEqual([
    'tx.value > 5 true',
    'chain.name == "base" true',
    'chain.name == "base" false',
  ])
  expect(missing(and, 'msg_value: 1', 'msg_value: 6', 'msg_value: 6, chain: base')).toEqual([])
  const or = '  - { id: a, allow: tx.value > 5 || chain.name == "base" }'
  expect(missing(or, 'msg_value: 6, chain: base')).toEqual([
    'tx.value > 5 false',
    'chain.name == "base" true',
    'chain.name == "base" false',
  ])
})

test('only the chosen branch of ?: is evaluated, and ! inverts', () => {
  const rules = `  - { id: a, allow: '!(tx.value > 5) ? chain.name == "base" : request.hour > 3' }`
  expect(missing(rules, 'msg_value: 1')).toEqual([
    'tx.value > 5 true',
    'chain.name == "base" true',
    'request.hour > 3 true',
    'request.hour > 3 false',
  ])
})

test('a condition that fails has no outcome, and a decisive other side overrides the failure', () => {
  const rules = '  - { id: a, allow: identity.verified || tx.value > 5 }\n  - { id: b, allow: "true" }'
  const given = coverage(rules, 'msg_value: 1')
  expect(given.unreached).toEqual(['b'])
  expect(given.uncovered.map(({ condition }) => condition)).toEqual([
    'identity.verified',
    'identity.verified',
    'tx.value > 5',
    'true',
  ])
})

test('a loop is one condition, and calls with tuples are read', () => {
  const found = coverageOf(
    compileSource(`name: P
abi: ['function submit((address maker, uint256 amount)[] orders)']
rules:
  - { id: a, deny: 'call.function == "submit" && call.args.orders.exists(o, o.amount > 5 && o.amount < 9)' }
`).policy,
  )
  expect(found).toMatchObject({ rules: 1, unreached: ['a'], branches: 4 })
  expect(found.uncovered.at(-1)?.condition).toBe('call.args.orders.exists(o, o.amount > 5 && o.amount < 9)')
})
