// Policies with equal rules share one compiled program but no other state.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import { facts } from './support.ts'

const DEFAULTS = { name: 'P', limit: 5, fallback: 'allow', kind: 'deny', code: 'A', id: 'r', list: 'a' }

const policyOf = (changes: Partial<typeof DEFAULTS> = {}): CompiledPolicy => {
  const { name, limit, fallback, kind, code, id, list } = { ...DEFAULTS, ...changes }
  return compilePolicy(`name: ${name}
default: ${fallback}
constants: { limit: { type: uint256, value: ${limit} } }
rules:
  - { id: ${id}, ${kind}: 'tx.value > constants.limit', code: ${code} }
  - { id: listed, deny: 'tx.value == 77 && in_list(wallet.address, "${list}")' }
`)
}
const verdict = (policy: CompiledPolicy, value: string) => policy.evaluate(facts({ value }))

test('each policy has its own name, rules, texts and default', () => {
  const first = policyOf()
  const second = policyOf({ name: 'Q', fallback: 'deny', code: 'B', id: 's' })
  expect(verdict(first, '6')).toEqual({ compliant: false, ruleId: 'r', code: 'A' })
  expect(verdict(second, '6')).toEqual({ compliant: false, ruleId: 's', code: 'B' })
  expect(verdict(first, '5')).toEqual({ compliant: true, ruleId: null })
  expect(verdict(second, '5')).toEqual({ compliant: false, ruleId: null })
  expect(verdict(policyOf({ kind: 'require' }), '5')).toEqual({ compliant: false, ruleId: 'r', code: 'A' })
  expect([first.document.name, second.document.name]).toEqual(['P', 'Q'])
})

test('policies with different constants or lists have different rules', () => {
  expect([5, 6].map((limit) => verdict(policyOf({ limit }), '6').compliant)).toEqual([false, true])
  for (const list of ['a', 'b']) expect(policyOf({ list }).needs).toMatchObject([{ kind: 'list', list }])
})

test('policies with equal arguments of different functions have different rules', () => {
  const deciding = (name: string) => {
    const abi = `["function ${name}(address to, uint256 amount)"]`
    const data = `0xa9059cbb${'11'.padStart(64, '0')}${'5'.padStart(64, '0')}`
    const policy = compilePolicy(`{ name: P, abi: ${abi}, rules: [{ id: r, deny: call.decoded }] }`)
    return policy.evaluate(facts({ data })).ruleId
  }
  expect([deciding('transfer'), deciding('approve')]).toEqual(['r', null])
})

test('a failure does not affect another policy', () => {
  const [first, second] = [policyOf(), policyOf({ name: 'Q' })]
  expect(() => verdict(first, 'not a number')).toThrow()
  expect(verdict(second, '6').compliant).toBe(false)
})

test('policies that differ only in their name share one program', () => {
  const [first, second, other] = [policyOf(), policyOf({ name: 'Q' }), policyOf({ code: 'B' })]
  expect(second.evaluate).toBe(first.evaluate)
  expect(other.evaluate).not.toBe(first.evaluate)
})
