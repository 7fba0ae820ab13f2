// Policies that say the same in their rules share what was compiled, and nothing else.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import { facts } from './support.ts'

interface Words {
  readonly name?: string
  readonly limit?: number
  readonly fallback?: 'allow' | 'deny'
  readonly kind?: 'deny' | 'require'
  readonly code?: string
  readonly id?: string
  readonly list?: string
}

const policyOf = (words: Words): CompiledPolicy => {
  const { name = 'P', limit = 5, fallback = 'allow', kind = 'deny', code = 'A', id = 'r', list = 'a' } = words
  return compilePolicy(`name: ${name}
default: ${fallback}
constants:
  limit: { type: uint256, value: ${limit} }
rules:
  - { id: ${id}, ${kind}: 'tx.value > constants.limit', code: ${code} }
  - { id: listed, deny: 'tx.value == 77 && in_list(wallet.address, "${list}")' }
`)
}
const verdict = (policy: CompiledPolicy, value: string) => policy.evaluate(facts({ value }))

test('each has its own name, rules, words and default', () => {
  const [first, second, third] = [
    policyOf({}),
    policyOf({ name: 'Q', fallback: 'deny', code: 'B', id: 's' }),
    policyOf({ kind: 'require' }),
  ]
  expect(verdict(first, '6')).toEqual({ compliant: false, ruleId: 'r', code: 'A' })
  expect(verdict(second, '6')).toEqual({ compliant: false, ruleId: 's', code: 'B' })
  expect(verdict(first, '5')).toEqual({ compliant: true, ruleId: null })
  expect(verdict(second, '5')).toEqual({ compliant: false, ruleId: null })
  expect(verdict(third, '5')).toEqual({ compliant: false, ruleId: 'r', code: 'A' })
  expect([first.document.name, second.document.name]).toEqual(['P', 'Q'])
})

test('what rules read is part of what they say', () => {
  const [five, six] = [policyOf({ limit: 5 }), policyOf({ limit: 6 })]
  expect(verdict(five, '6').compliant).toBe(false)
  expect(verdict(six, '6').compliant).toBe(true)
  const [a, b] = [policyOf({ list: 'a' }), policyOf({ list: 'b' })]
  expect(a.needs).toMatchObject([{ kind: 'list', list: 'a' }])
  expect(b.needs).toMatchObject([{ kind: 'list', list: 'b' }])
})

test('the same arguments of other functions are other rules', () => {
  const call = (abi: string): CompiledPolicy =>
    compilePolicy(`{ name: P, abi: ["${abi}"], rules: [{ id: r, deny: call.decoded }] }`)
  const data = `0xa9059cbb${'11'.padStart(64, '0')}${'5'.padStart(64, '0')}`
  const [transfer, approve] = [
    call('function transfer(address to, uint256 amount)'),
    call('function approve(address to, uint256 amount)'),
  ]
  expect(transfer.evaluate(facts({ data })).ruleId).toBe('r')
  expect(approve.evaluate(facts({ data })).ruleId).toBeNull()
})

test('a failure in one leaves the others as they were', () => {
  const [first, second] = [policyOf({}), policyOf({ name: 'Q' })]
  expect(() => verdict(first, '77')).not.toThrow()
  const broken = facts({ value: 'not a number' })
  expect(() => first.evaluate(broken)).toThrow()
  expect(verdict(second, '6').compliant).toBe(false)
})

test('policies of other names alone have one program', () => {
  const [first, second, other] = [policyOf({}), policyOf({ name: 'Q' }), policyOf({ code: 'B' })]
  expect(second.evaluate).toBe(first.evaluate)
  expect(other.evaluate).not.toBe(first.evaluate)
})
