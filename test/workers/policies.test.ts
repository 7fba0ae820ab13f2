// The policies of a worker: definition, compilation in steps, and eviction.
import { expect, test } from 'bun:test'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { createPolicies, type Definition, type Policies } from '../../workers/signing/policies.ts'
import { facts } from '../policy/support.ts'
import { revisionWith, TEST_POLICY, testTarget } from './support/policies.ts'

/** @param stepMs milliseconds by which each reading advances the clock, which limits the work of a turn */
const policiesOf = (maxEntries: number, stepMs = 0): Policies => {
  let nowMs = 0
  return createPolicies({ maxEntries, monotonicMs: () => (nowMs += stepMs) })
}

const find = (policies: Policies, targetId: string): Definition => {
  const definition = policies.find(targetId)
  if (definition === undefined || definition === 'preparing') throw new Error(`${targetId} is not available`)
  return definition
}

/** Exceeds a turn of a clock with steps of 1 ms. The number makes the rules unique, because known rules are not compiled. */
const largePolicy = (first: number): string => `name: Large
rules: ${JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ id: `r${i}`, deny: `chain.id == ${first + i}` })))}`

test('finds a defined target, and compiles its revision once', () => {
  const policies = policiesOf(10)
  expect(policies.find('target_test')).toBeUndefined()
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  const first = find(policies, 'target_test')
  expect(first.target).toEqual(testTarget())
  // Another target with the same revision keeps the compiled policy.
  policies.define([testTarget({ id: 'other' })], [revisionWith('revision_test', TEST_POLICY)])
  expect(find(policies, 'other').policy).toBe(first.policy)
})

test('a target without its revision or its shadow revision is not found', () => {
  const policies = policiesOf(10)
  policies.define([testTarget()], [])
  expect(policies.find('target_test')).toBeUndefined()
  policies.define([testTarget({ shadowRevisionId: 'missing' })], [revisionWith('revision_test', TEST_POLICY)])
  expect(policies.find('target_test')).toBeUndefined()
})

test('the least recently used target is evicted', () => {
  const policies = policiesOf(2)
  for (const id of ['a', 'b', 'c']) {
    policies.define([testTarget({ id, revisionId: id })], [revisionWith(id, TEST_POLICY)])
    policies.find('a')
  }
  expect(['a', 'b', 'c'].map((id) => policies.find(id) !== undefined)).toEqual([true, false, true])
})

test('a second definition of a target replaces the first', () => {
  const policies = policiesOf(2)
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  policies.define([testTarget({ quorum: 3 })], [])
  expect(find(policies, 'target_test').target.quorum).toBe(3)
})

test('a revision that cannot be compiled or read fails each time', () => {
  const policies = policiesOf(3)
  policies.define(
    [testTarget({ id: 'a', revisionId: 'broken' }), testTarget({ id: 'b', revisionId: 'unread' })],
    [revisionWith('broken', 'name: B\nrules: [{ id: a, deny: "wallet.nothing" }]'), revisionWith('unread', 'rules: 7')],
  )
  for (const id of ['a', 'a', 'b', 'b']) expect(() => policies.find(id)).toThrow(PolicyUnusableError)
})

test('a large revision is compiled over several turns', () => {
  const policies = policiesOf(10, 1)
  policies.define([testTarget()], [revisionWith('revision_test', largePolicy(100))])
  expect(policies.find('target_test')).toBe('preparing')
  let turns = 0
  while (!policies.prepare()) {
    turns += 1
    // `find` does not compile.
    expect(policies.find('target_test')).toBe('preparing')
  }
  expect(turns).toBeGreaterThan(10)
  const chain = { name: 'own', family: 'evm', chainId: 119 } as const
  expect(find(policies, 'target_test').policy.evaluate(facts({ chain })).ruleId).toBe('r19')
})

test('a revision that is evicted during its compilation is not found', () => {
  const policies = policiesOf(1, 1)
  policies.define([testTarget()], [revisionWith('revision_test', largePolicy(200))])
  expect(policies.find('target_test')).toBe('preparing')
  policies.define([], [revisionWith('other', TEST_POLICY)])
  expect(policies.find('target_test')).toBeUndefined()
})

test('a target waits for the compilation of its shadow, unless the shadow is unusable', () => {
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
  expect(find(policies, 'a').shadow).not.toBe('unusable')
  expect(find(policies, 'b').shadow).toBe('unusable')
})
