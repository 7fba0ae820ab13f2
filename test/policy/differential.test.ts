// Policies compared with @bufbuild/cel on random expressions. `bun test/long/rounds.ts policies` compares 100,000.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chainOf } from '../support/request.ts'
import { expressions, ours, requests, theirs } from './differential.ts'

test('both implementations agree on their common language', () => {
  const seen = { true: 0, false: 0, error: 0 }
  fc.assert(
    fc.property(expressions, requests, (expression, request) => {
      const outcome = ours(expression, request)
      // The generator does not know the limits of policies.
      if (outcome === null) return
      seen[`${outcome}`]++
      expect(theirs(expression, request)).toBe(outcome)
    }),
    { numRuns: 300 },
  )
  expect(Math.min(seen.true, seen.false, seen.error)).toBeGreaterThan(15)
}, 300_000)

test('the known differences persist', () => {
  const request = { ...fc.sample(requests, 1)[0]!, chain: chainOf('ethereum') }
  // Policies cannot contain these expressions.
  for (const expression of ['1.5 > 0.5', '"a" + "b" == "ab"', '"aa".matches("a+")', '[1].all(x, [1].all(y, x == y))']) {
    expect(ours(expression, request)).toBeNull()
    expect(theirs(expression, request)).toBe(true)
  }
  // CEL's timestamps end with the year 9999.
  const late = `timestamp("9999-12-31T00:00:00Z") + ${Array(8).fill('duration("876000h")').join(' + ')} > request.time`
  expect(ours(late, request)).toBe(true)
  expect(theirs(late, request)).toBe('error')
})
