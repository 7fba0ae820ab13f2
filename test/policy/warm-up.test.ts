// The warm-up evaluates whole, and ends in time on a machine that is slow.
import { expect, test } from 'bun:test'
import { warmUpPolicies } from '../../src/policy/warm-up.ts'

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
