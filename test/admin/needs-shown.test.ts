// The facts that a policy needs, as shown to a person who simulates it: each has a description and valid example facts.
import { describe, expect, test } from 'bun:test'
import { exampleFactsOf, wordsOf } from '../../src/admin/policies/needs-shown.ts'
import { simulatePolicy } from '../../src/modules/policy-lab/operations/simulate.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import type { FactField } from '../../src/policy/fact-field.ts'
import { FACT_SOURCES } from '../../src/policy/sources/all.ts'
import { WARM_UP_FACTS } from '../../src/policy/warm-up.ts'

/** Comparisons that make a fact of a type a condition. */
const COMPARED: Readonly<Record<string, string>> = { bool: '', int: ' > 5', uint256: ' > ether(1)', string: ' != ""' }

const RULES = [
  'screener("risk").flagged || screener("risk", onBehalf.address).score > 5 || reads.tier > 3',
  'velocity.count(hours(24)) > 9 || velocity.value(hours(1)) > ether(1) || in_list(wallet.address, "vip")',
  ...FACT_SOURCES.map(({ group, facts }) => {
    const [[name, { type }]] = Object.entries(facts) as [[string, FactField]]
    return `${group}.${name}${COMPARED[type] ?? ''}`
  }),
]

const compiled = compilePolicy(`name: Everything
reads:
  tier: { kind: view, contract: "0x00000000000000000000000000000000000000a1", function: "function tierOf(address who) view returns (uint8)", arguments: [wallet.address] }
rules: ${JSON.stringify(RULES.map((deny, index) => ({ id: `r${index}`, deny })))}
`)

describe('the example facts', () => {
  const { lists = {}, ...external } = exampleFactsOf(compiled.needs) as {
    lists?: Readonly<Record<string, { readonly addresses: readonly string[]; readonly age_seconds: number }>>
  }

  test('exist for every source', () => {
    expect(Object.keys(external).sort()).toEqual(
      [...FACT_SOURCES.map(({ part }) => part), 'reads', 'screeners', 'velocity'].sort(),
    )
    expect(Object.keys(lists)).toEqual(['vip'])
  })

  test('are sufficient to evaluate every rule', () => {
    const reader = {
      ageSeconds: (name: string) => lists[name]?.age_seconds ?? null,
      contains: (name: string, address: string) => lists[name]?.addresses.includes(address) ?? false,
    }
    const { failure, rules } = simulatePolicy(compiled, { ...WARM_UP_FACTS, external, lists: reader })
    expect(failure).toBeNull()
    expect(rules.map((rule) => rule.failure)).toEqual(RULES.map(() => null))
  })
})

test('each need has a description', () => {
  expect(compiled.needs.map(wordsOf)).toEqual([
    'list vip',
    ...FACT_SOURCES.map(({ words }) => words),
    'screener onBehalf.risk',
    'screener risk',
    'read tier',
    'recent decisions of the wallet',
    'recent decisions of the wallet',
  ])
})
