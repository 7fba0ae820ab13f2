// The warm-up evaluates whole, and ends in time on a machine that is slow.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { WARM_UP, WARM_UP_FACTS, warmUpPolicies } from '../../src/policy/warm-up.ts'

test('every rule is evaluated: nothing in it fails', () => {
  let asked = 0
  warmUpPolicies(() => {
    asked++
    return 0
  })
  expect(asked).toBeGreaterThan(300)
})

test('it stops at its limit', () => {
  let nowMs = 0
  let asked = 0
  warmUpPolicies(() => {
    asked++
    nowMs += 10
    return nowMs
  }, 40)
  expect(asked).toBeLessThan(7)
})

test('its call is decoded, arrays and tuples too: else nothing of the decoder would be warm', () => {
  const conditions = [
    'call.function == "many" && call.args.accounts.size() == 20 && call.args.text.size() == 512',
    'call.args.matrix.size() == 8 && call.args.matrix[7].size() == 20',
    'call.args.orders.size() == 3 && call.args.orders[2].delta == 3',
  ]
  const rules = conditions.map((expression, index) => ({
    id: `r${index}`,
    kind: 'require' as const,
    expression,
    code: null,
    message: null,
  }))
  const policy = compilePolicy({ ...WARM_UP, default: 'allow', rules })
  expect(policy.evaluate(WARM_UP_FACTS)).toEqual({ compliant: true, ruleId: null })
})
