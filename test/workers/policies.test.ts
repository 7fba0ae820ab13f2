import { expect, test } from 'bun:test'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { createPolicies, type Definition, type Policies } from '../../workers/signing/policies.ts'
import { facts } from '../policy/support.ts'
import { revisionWith, TEST_POLICY, testTarget } from './support/policies.ts'

/** A clock that says how long a turn may be: each reading is that much later. */
const policiesOf = (maxEntries: number, stepMs = 0): Policies => {
  let nowMs = 0
  return createPolicies({
    maxEntries,
    monotonicMs: () => {
      nowMs += stepMs
      return nowMs
    },
  })
}

const found = (policies: Policies, targetId: string): Definition => {
  const definition = policies.find(targetId)
  if (definition === undefined || definition === 'preparing') throw new Error(`${targetId} is not at hand`)
  return definition
}

/** Too large for one turn of a clock as above. Each number is another policy: rules that are known are not compiled. */
const largePolicy = (first: number): string => `name: Large
rules: ${JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ id: `r${i}`, deny: `chain.id == ${first + i}` })))}`

test('finds what was defined, compiled once', () => {
  const policies = policiesOf(10)
  expect(policies.find('target_test')).toBeUndefined()
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  const first = found(policies, 'target_test')
  expect(first.target).toEqual(testTarget())
  // Another target of the same revision, defined with it again: the compiled policy stays.
  policies.define([testTarget({ id: 'other' })], [revisionWith('revision_test', TEST_POLICY)])
  expect(found(policies, 'other').policy).toBe(first.policy)
})

test('a target without its revision is not found', () => {
  const policies = policiesOf(10)
  policies.define([testTarget()], [])
  expect(policies.find('target_test')).toBeUndefined()
})

test('a target without the revision in its shadow is not found', () => {
  const policies = policiesOf(10)
  policies.define([testTarget({ shadowRevisionId: 'missing' })], [revisionWith('revision_test', TEST_POLICY)])
  expect(policies.find('target_test')).toBeUndefined()
})

test('what is used least is forgotten beyond the limit', () => {
  const policies = policiesOf(2)
  for (const id of ['a', 'b', 'c']) {
    policies.define([testTarget({ id, revisionId: id })], [revisionWith(id, TEST_POLICY)])
    policies.find('a')
  }
  expect(policies.find('a')).toBeDefined()
  expect(policies.find('b')).toBeUndefined()
  expect(policies.find('c')).toBeDefined()
})

test('a target defined anew replaces the old one', () => {
  const policies = policiesOf(2)
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  policies.define([testTarget({ quorum: 3 })], [])
  expect(found(policies, 'target_test').target.quorum).toBe(3)
})

test('a revision that does not compile, or could not be read, fails each time', () => {
  const policies = policiesOf(3)
  policies.define(
    [testTarget({ id: 'a', revisionId: 'broken' }), testTarget({ id: 'b', revisionId: 'unread' })],
    [
      { ...revisionWith('broken', 'name: B\nrules: [{ id: a, deny: "wallet.nothing" }]') },
      revisionWith('unread', 'rules: 7'),
    ],
  )
  for (const id of ['a', 'a', 'b', 'b']) expect(() => policies.find(id)).toThrow(PolicyUnusableError)
})

test('a large revision is compiled a turn at a time, and found once it is', () => {
  const policies = policiesOf(10, 1)
  policies.define([testTarget()], [revisionWith('revision_test', largePolicy(100))])
  expect(policies.find('target_test')).toBe('preparing')
  let turns = 0
  while (!policies.prepare()) {
    turns += 1
    // Asking does not speed it up.
    expect(policies.find('target_test')).toBe('preparing')
  }
  expect(turns).toBeGreaterThan(10)
  expect(
    found(policies, 'target_test').policy.evaluate(facts({ chain: { name: 'own', family: 'evm', chainId: 119 } }))
      .ruleId,
  ).toBe('r19')
})

test('one that is forgotten while it is compiled has to be defined anew', () => {
  const policies = policiesOf(1, 1)
  policies.define([testTarget()], [revisionWith('revision_test', largePolicy(200))])
  expect(policies.find('target_test')).toBe('preparing')
  policies.define([], [revisionWith('other', TEST_POLICY)])
  expect(policies.find('target_test')).toBeUndefined()
})

test('a large shadow is waited for; one that is of no use is not', () => {
  const policies = policiesOf(10, 1)
  const shadowed = (id: string, shadowRevisionId: string) => testTarget({ id, shadowRevisionId })
  policies.define(
    [shadowed('a', 'large'), shadowed('b', 'unread')],
    [
      revisionWith('revision_test', TEST_POLICY),
      revisionWith('large', largePolicy(300)),
      revisionWith('unread', 'rules: 7'),
    ],
  )
  while (policies.find('a') === 'preparing') policies.prepare()
  expect(found(policies, 'a').shadow).not.toBe('unusable')
  expect(found(policies, 'b').shadow).toBe('unusable')
})
