// The warm-up evaluates each rule, and stops at its time limit.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { WARM_UP, WARM_UP_FACTS, warmUpPolicies } from '../../src/policy/warm-up.ts'

test('evaluates every rule', () => {
  let clockReads = 0
  warmUpPolicies(() => {
    clockReads++
    return 0
  })
  expect(clockReads).toBeGreaterThan(300)
})

test('stops at its limit', () => {
  let clockReads = 0
  warmUpPolicies(() => 10 * ++clockReads, 40)
  expect(clockReads).toBeLessThan(7)
})

test.each([
  'call.function == "many" && call.args.accounts.size() == 20 && call.args.text.size() == 512',
  'call.args.matrix.size() == 8 && call.args.matrix[7].size() == 20',
  'call.args.orders.size() == 3 && call.args.orders[2].delta == 3',
])('decodes its call, with arrays and tuples: %s', (expression) => {
  const rules = [{ id: 'r', kind: 'require', expression, code: null, message: null }] as const
  const policy = compilePolicy({ ...WARM_UP, default: 'allow', rules })
  expect(policy.evaluate(WARM_UP_FACTS)).toEqual({ compliant: true, ruleId: null })
})
