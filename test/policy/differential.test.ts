// Our policies and @bufbuild/cel agree on random expressions; `bun test/long/rounds.ts policies` compares 100,000.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chainOf } from '../support/request.ts'
import { expressions, ours, requests, theirs } from './differential.ts'

test('what both define has one answer', () => {
  const seen = { true: 0, false: 0, error: 0 }
  fc.assert(
    fc.property(expressions, requests, (expression, request) => {
      const outcome = ours(expression, request)
      // Too large for a policy: the generator does not know our limits.
      if (outcome === null) return
      seen[`${outcome}`]++
      expect(theirs(expression, request)).toBe(outcome)
    }),
    { numRuns: 300 },
  )
  expect(Math.min(seen.true, seen.false, seen.error)).toBeGreaterThan(15)
}, 300_000)

test('and what we do differently is known', () => {
  const request = { ...fc.sample(requests, 1)[0]!, chain: chainOf('ethereum') }
  // CEL takes any number of these; we refuse what policies have no use for, when a policy is saved.
  for (const expression of ['1.5 > 0.5', '"a" + "b" == "ab"', '"aa".matches("a+")', '[1].all(x, [1].all(y, x == y))']) {
    expect(ours(expression, request)).toBeNull()
    expect(theirs(expression, request)).toBe(true)
  }
  // CEL's timestamps end with the year 9999.
  const late = `timestamp("9999-12-31T00:00:00Z") + ${Array(8).fill('duration("876000h")').join(' + ')} > request.time`
  expect(ours(late, request)).toBe(true)
  expect(theirs(late, request)).toBe('error')
})
