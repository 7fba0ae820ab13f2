import { expect, test } from 'bun:test'
import { PolicyUnusableError } from '../../src/policy/errors.ts'
import { createPolicies } from '../../workers/policies.ts'
import { revisionWith, TEST_POLICY, testTarget } from './support/policies.ts'

test('finds what was defined, compiled once', () => {
  const policies = createPolicies(10)
  expect(policies.find('target_test')).toBeUndefined()
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  const found = policies.find('target_test')
  expect(found?.target).toEqual(testTarget())
  expect(found?.policy.document.name).toBe('Test policy')
  // Another target of the same revision, defined with it again: the compiled policy stays.
  policies.define([testTarget({ id: 'other' })], [revisionWith('revision_test', TEST_POLICY)])
  expect(policies.find('other')?.policy).toBe(found?.policy as never)
})

test('a target without its revision is not found', () => {
  const policies = createPolicies(10)
  policies.define([testTarget()], [])
  expect(policies.find('target_test')).toBeUndefined()
})

test('what is used least is forgotten beyond the limit', () => {
  const policies = createPolicies(2)
  for (const id of ['a', 'b', 'c']) {
    policies.define([testTarget({ id, revisionId: id })], [revisionWith(id, TEST_POLICY)])
    policies.find('a')
  }
  expect(policies.find('a')).toBeDefined()
  expect(policies.find('b')).toBeUndefined()
  expect(policies.find('c')).toBeDefined()
})

test('a target defined anew replaces the old one', () => {
  const policies = createPolicies(2)
  policies.define([testTarget()], [revisionWith('revision_test', TEST_POLICY)])
  policies.define([testTarget({ quorum: 3 })], [])
  expect(policies.find('target_test')?.target.quorum).toBe(3)
})

test('a revision that does not compile, or is not what was saved, fails each time', () => {
  const policies = createPolicies(2)
  const altered = { ...revisionWith('altered', TEST_POLICY), source: `${TEST_POLICY}\n# altered` }
  policies.define(
    [testTarget({ id: 'a', revisionId: 'broken' }), testTarget({ id: 'b', revisionId: 'altered' })],
    [revisionWith('broken', 'rules: 7'), altered],
  )
  for (const id of ['a', 'a', 'b', 'b']) expect(() => policies.find(id)).toThrow(PolicyUnusableError)
})
