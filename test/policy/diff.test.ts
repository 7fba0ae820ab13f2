// Differences between two policies, compared by meaning rather than spelling.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { describePolicy, diffPolicies } from '../../src/policy/document/diff.ts'

const BASE = `name: P
default: deny
constants: { limit: { type: ether, value: 1 } }
rules:
  - { id: a, deny: tx.value > constants.limit, code: TOO_MUCH }
  - { id: b, allow: "true" }
  - { id: c, deny: "true" }
tests:
  - { name: one, request: { from: "0x00000000000000000000000000000000000000b2" }, verdict: allow }
`
const diff = (to: string) => diffPolicies(compilePolicy(BASE), compilePolicy(to))

test('ignores spelling', () => {
  const respelt = `# a comment\n${BASE.replace('{ id: b, allow: "true" }', '{"allow": "true", "id": "b"}')}`
  expect(diff(respelt)).toEqual([])
})

test('describes every part of a first revision', () => {
  const whole = `name: P
description: For partners.
decides: requests
quorum: 2
constants: { limit: { type: ether, value: 1 } }
abi:
  - function pay(address to)
idl: { instructions: [{ name: pay, discriminator: [1, 2, 3, 4, 5, 6, 7, 8], accounts: [], args: [] }] }
reads:
  tier:
    kind: view
    contract: "0x00000000000000000000000000000000000000c7"
    function: function tierOf(address who) view returns (uint8)
    arguments: [wallet.address]
rules:
  - { id: a, deny: tx.value > constants.limit, code: TOO_MUCH }
  - { id: b, allow: reads.tier > 1 }
tests:
  - { name: one, request: { from: "0x00000000000000000000000000000000000000b2" }, facts: { reads: { tier: 2 } }, verdict: allow }
`
  const described = describePolicy(compilePolicy(whole))
  const stated = (what: string) => described.find((each) => each.kind === 'changed' && each.what === what)
  for (const [what, to] of Object.entries({
    name: 'P',
    description: 'For partners.',
    decides: 'requests',
    default: 'deny',
    quorum: '2',
    'constants/limit': 'ether 1',
  })) {
    expect(stated(what)).toMatchObject({ from: null, to })
  }
  expect(JSON.stringify(stated('reads/tier'))).toContain('0x00000000000000000000000000000000000000c7')
  for (const what of ['abi', 'idl', 'requires', 'needs']) expect(stated(what)).toBeDefined()
  expect(described.filter(({ kind }) => kind !== 'changed')).toEqual([
    { kind: 'rule-added', rule: 'a', place: 1, from: null, to: 'deny: tx.value > constants.limit\ncode: TOO_MUCH' },
    { kind: 'rule-added', rule: 'b', place: 2, from: null, to: 'allow: reads.tier > 1' },
    { kind: 'test-added', test: 'one' },
  ])
})

test('leaves absent parts out of a description', () => {
  const changes = describePolicy(compilePolicy(BASE)).flatMap((each) => (each.kind === 'changed' ? [each.what] : []))
  expect(changes).toEqual('name decides default quorum constants/limit requires'.split(' '))
})

test('reports each difference once', () => {
  const to = `name: P
default: allow
constants: { limit: { type: ether, value: [1, 2] }, wallet: { type: address, value: "0x00000000000000000000000000000000000000b2" } }
rules:
  - { id: c, deny: "true" }
  - { id: a, require: tx.value in constants.limit && client.located, message: No. }
  - { id: d, allow: "false" }
tests:
  - { name: one, request: { from: "0x00000000000000000000000000000000000000b3" }, verdict: failure }
  - { name: two, request: { from: "0x00000000000000000000000000000000000000b2" }, verdict: failure }
`
  const [from, required] = [
    'deny: tx.value > constants.limit',
    'require: tx.value in constants.limit && client.located',
  ]
  expect(diff(to)).toEqual([
    { kind: 'changed', what: 'default', from: 'deny', to: 'allow' },
    { kind: 'changed', what: 'constants/limit', from: 'ether 1', to: 'ether [1, 2]' },
    { kind: 'changed', what: 'constants/wallet', from: null, to: 'address 0x00000000000000000000000000000000000000b2' },
    { kind: 'rule-removed', rule: 'b', place: 2, from: 'allow: true', to: null },
    { kind: 'rule-added', rule: 'd', place: 3, from: null, to: 'allow: false' },
    { kind: 'rules-reordered', from: ['a', 'c'], to: ['c', 'a'] },
    { kind: 'changed', what: 'rules/a', from, to: required },
    { kind: 'changed', what: 'rules/a/code', from: 'TOO_MUCH', to: null },
    { kind: 'changed', what: 'rules/a/message', from: null, to: 'No.' },
    { kind: 'test-changed', test: 'one' },
    { kind: 'test-added', test: 'two' },
    { kind: 'changed', what: 'requires', from: '["msg_value"]', to: '["msg_value","user_ip"]' },
    { kind: 'changed', what: 'needs', from: '[]', to: '[{"kind":"geography"}]' },
  ])
})

test('distinguishes all sets of texts', () => {
  const values = ['a', 'b', 'a, b', 'a","b', '[a]', '["a"]', '["a", "b"]', '[]']
  const lists = [...values.map((value) => [value]), ...values.flatMap((one) => values.map((other) => [one, other]))]
  const policies = [...values, ...lists].map((value) => {
    const operator = Array.isArray(value) ? 'in' : '=='
    return compilePolicy(`name: P
constants: { closed: { type: string, value: ${JSON.stringify(value)} } }
rules: [{ id: a, deny: 'chain.name ${operator} constants.closed' }]`)
  })
  for (const [at, from] of policies.entries()) {
    for (const to of policies.slice(at + 1)) {
      const changed = diffPolicies(from, to).filter(({ kind }) => kind === 'changed')
      expect(changed.map((each) => each.kind === 'changed' && each.what)).toContain('constants/closed')
    }
  }
})
