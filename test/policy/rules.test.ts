// Ordered rules: the first decisive rule determines the verdict (decisions §4). A failing rule is an error, never a verdict.
import { describe, expect, test } from 'bun:test'
import type { Verdict } from '../../src/domain/verdict.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { PolicyEvaluationError } from '../../src/policy/evaluation-errors.ts'
import { chainOf } from '../support/request.ts'
import { EVM_WALLET, type FactChanges, facts, holds, policyOf, SOLANA, thrownBy, verdictOf } from './support.ts'

/** The verdict of rules that are written as `kind expression`. Their ids are their positions. */
const verdict = (fallback: 'allow' | 'deny', ...texts: string[]): Verdict => {
  const rules = texts.map((text, i) => {
    const [kind = '', ...expression] = text.split(' ')
    return { id: `r${i}`, [kind]: expression.join(' '), code: `CODE_${i}`, message: `message ${i}` }
  })
  return verdictOf(`name: P\ndefault: ${fallback}\nrules: ${JSON.stringify(rules)}`)
}
const allowedBy = (ruleId: string | null): Verdict => ({ compliant: true, ruleId })
const deniedBy = (i: number): Verdict => {
  return { compliant: false, ruleId: `r${i}`, code: `CODE_${i}`, message: `message ${i}` }
}

describe('the deciding rule', () => {
  test.each([
    ['no rules, default deny', verdict('deny'), { compliant: false, ruleId: null }],
    ['no rules, default allow', verdict('allow'), allowedBy(null)],
    ['allow true', verdict('deny', 'allow true'), allowedBy('r0')],
    ['allow false continues', verdict('deny', 'allow false'), { compliant: false, ruleId: null }],
    ['deny true', verdict('allow', 'deny true'), deniedBy(0)],
    ['deny false continues', verdict('allow', 'deny false'), allowedBy(null)],
    ['require false', verdict('allow', 'require false'), deniedBy(0)],
    ['require true continues', verdict('deny', 'require true'), { compliant: false, ruleId: null }],
    ['the first of two denials', verdict('allow', 'deny false', 'deny true', 'deny true'), deniedBy(1)],
    ['allow before deny', verdict('deny', 'allow true', 'deny true'), allowedBy('r0')],
    ['deny before allow', verdict('allow', 'deny true', 'allow true'), deniedBy(0)],
    ['require before allow', verdict('allow', 'require false', 'allow true'), deniedBy(0)],
    ['require true before allow', verdict('deny', 'require true', 'allow true'), allowedBy('r1')],
    ['undecided rules before default', verdict('allow', 'allow false', 'deny false', 'require true'), allowedBy(null)],
  ] as const)('%s', (_name, actual, expected) => expect(actual).toEqual(expected as Verdict))

  test.each([
    ['', {}],
    [', code: NO', { code: 'NO' }],
    [', message: why', { message: 'why' }],
  ])('is denied with only the texts of the rule%s', (fields, expected) => {
    const denial = verdictOf(`name: P\nrules:\n  - {id: a, deny: "true"${fields}}\n`)
    expect(denial).toStrictEqual({ compliant: false, ruleId: 'a', ...expected })
  })

  test('prevents evaluation of later rules', () => {
    expect(verdict('deny', 'allow true', 'deny tx.value - 1 > 0')).toEqual(allowedBy('r0'))
  })

  test('yields an immutable verdict', () => {
    const policy = policyOf('true')
    const first = policy.evaluate(facts())
    expect(() => Object.assign(first, { compliant: false })).toThrow()
    expect(policy.evaluate(facts()).compliant).toBe(true)
  })
})

describe('facts', () => {
  test.each<[string, FactChanges]>([
    ['wallet.address == address("0xABabABabABabABabABabABabABabABabABabABab")', {}],
    ['target.address == address("0x0000000000000000000000000000000000000000")', {}],
    ['chain.name == "base" && chain.id == 8453 && chain.family == "evm"', { chain: chainOf('base') }],
    ['chain.family == "solana" && chain.id == 0', SOLANA],
    [`tx.value == uint256("${2n ** 256n - 1n}")`, { value: `${2n ** 256n - 1n}` }],
    ['tx.data_size == 0 && tx.selector == ""', {}],
    ['tx.data_size == 3 && tx.selector == ""', { data: '0xa9059c' }],
    ['tx.data_size == 4 && tx.selector == "0xa9059cbb"', { data: '0xA9059CBB' }],
    ['tx.data_size == 36 && tx.selector == "0xa9059cbb"', { data: `0xa9059cBB${'FF'.repeat(32)}` }],
    ['client.ip == "203.0.113.9"', { userIp: '203.0.113.9' }],
    ['client.ip == ""', {}],
    ['request.time == timestamp("2026-01-01T00:00:00Z")', {}],
    ['request.time.getFullYear() == 2026 && request.time.getMonth() == 0 && request.time.getDate() == 1', {}],
    ['request.time.getDayOfWeek() == 4 && request.time.getHours() == 0', {}],
    ['request.time - timestamp("2025-12-31T22:00:00-01:00") == duration("1h")', {}],
    ['request.time + duration("36h") > timestamp("2026-01-02T11:59:59Z")', {}],
  ])('%s', (expression, changes) => expect(holds(expression, changes)).toBe(true))

  test.each(['chain.id == 0', 'tx.value == 0', 'wallet.address == target.address'])(
    'fail without a request: %s',
    (expression) => {
      const error = thrownBy(() => policyOf(expression).evaluate({}))
      expect(error).toBeInstanceOf(PolicyEvaluationError)
      expect(error).toMatchObject({ cause: { fact: 'the request' } })
    },
  )

  test('belong to one evaluation', () => {
    const { evaluate } = policyOf('tx.value > 5 && wallet.address == target.address')
    const right = facts({ value: '6', to: EVM_WALLET })
    const others = [facts({ value: '5', to: EVM_WALLET }), facts({ value: '6' })]
    for (const other of others) {
      expect([right, other, right, other].map((request) => evaluate(request).compliant)).toEqual([
        true,
        false,
        true,
        false,
      ])
    }
  })

  test('belong to one policy', () => {
    const [first, second] = [policyOf('tx.value == 1'), policyOf('tx.value == 2')]
    expect([first, second].map(({ evaluate }) => evaluate(facts({ value: '1' })).compliant)).toEqual([true, false])
    expect([first, second].map(({ evaluate }) => evaluate(facts({ value: '2' })).compliant)).toEqual([false, true])
  })
})

describe('a failing rule', () => {
  test.each([
    'tx.value - 1 == tx.value',
    `1 + tx.value + uint256("${2n ** 256n - 1n}") > 1 || false`,
    'ether(1) / tx.value > 1',
    'ether(1) % tx.value > 1',
    '1 / tx.data_size > 1',
    '1 % tx.data_size > 1',
    '9223372036854775807 + chain.id > 0',
    '[1, 2][2] == 1',
    '[1, 2][chain.id + 5] == 1',
    'uint256(0 - chain.id) > 0',
    'tx.value > 0 - chain.id',
    'true && 1 / tx.data_size > 1',
    '1 / tx.data_size > 1 && true',
    'false || 1 / tx.data_size > 1',
    '[0, 1].all(x, 1 / x > 0)',
    '[0, 1].exists(x, 1 / x > 5)',
    '[0, 1].exists_one(x, 1 / x == 1)',
    '[0, 1].map(x, 1 / x).size() == 2',
  ])('fails the evaluation: %s', (expression) => {
    for (const kind of ['allow', 'deny', 'require']) {
      const policy = compilePolicy(`name: P\nrules: [{id: culprit, ${kind}: ${JSON.stringify(expression)}}]`)
      const error = thrownBy(() => policy.evaluate(facts()))
      expect(error).toBeInstanceOf(PolicyEvaluationError)
      const detail = 'a policy rule fails for this request; retries will fail until the policy is corrected'
      expect(error).toMatchObject({ ruleId: 'culprit', code: 'POLICY_FAILED', reason: 'expression', detail })
    }
  })

  test('does not affect the next request', () => {
    const policy = policyOf('1 / tx.data_size == 1')
    expect(() => policy.evaluate(facts())).toThrow(PolicyEvaluationError)
    expect(policy.evaluate(facts({ data: '0x00' })).compliant).toBe(true)
    expect(() => policy.evaluate(facts())).toThrow(PolicyEvaluationError)
  })

  test('fails the evaluation even if a later rule would decide', () => {
    expect(() => verdict('allow', 'deny 1 / tx.data_size > 1', 'deny true')).toThrow(PolicyEvaluationError)
  })

  // As in CEL, a side that determines the result alone overrides a failure of the other side.
  test.each([
    ['1 / tx.data_size > 1 || true', true],
    ['true || 1 / tx.data_size > 1', true],
    ['1 / tx.data_size > 1 && false', false],
    ['false && 1 / tx.data_size > 1', false],
    ['tx.value - 1 > 0 || true', true],
    ['[0, 1].exists(x, 1 / x == 1)', true],
    ['[0, 2].all(x, 1 / x == 1)', false],
    ['true ? true : 1 / tx.data_size > 1', true],
  ] as const)('is overridden: %s is %p', (expression, expected) => expect(holds(expression)).toBe(expected))
})
