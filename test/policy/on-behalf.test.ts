// The user whom a relayer represents: as policies and the organization's own lists see them.
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { listVerdict } from '../../src/policy/evaluate.ts'
import { runPolicyTests } from '../../src/policy/tools/policy-tests.ts'
import type { ListReader } from '../../src/policy/types/facts.ts'
import { EVM_WALLET, holds, issuesOf, policyOf } from './support.ts'

const USER = `0x${'c3'.repeat(20)}`

const listsOf = (lists: Readonly<Record<string, readonly string[]>>): ListReader => ({
  contains: (name, address) => lists[name]?.includes(address) ?? false,
  ageSeconds: () => 0,
})

describe('an organization’s own lists', () => {
  test.each([
    ['denied user behind a clean relayer', { deny: [USER] }, 'list:deny'],
    ['denied relayer of a clean user', { deny: [EVM_WALLET] }, 'list:deny'],
    ['denied user behind an allowed relayer', { deny: [USER], allow: [EVM_WALLET] }, 'list:deny'],
    ['denied relayer of an allowed user', { deny: [EVM_WALLET], allow: [USER] }, 'list:deny'],
    ['user of both lists', { deny: [USER], allow: [USER, EVM_WALLET] }, 'list:deny'],
    ['unlisted user behind an allowed relayer', { allow: [EVM_WALLET] }, undefined],
    ['allowed user behind an unlisted relayer', { allow: [USER] }, undefined],
    ['allowed user behind an allowed relayer', { allow: [USER, EVM_WALLET] }, 'list:allow'],
    ['neither on a list', {}, undefined],
  ] as const)('%s', (_, lists, rule) => {
    expect(listVerdict(listsOf(lists), EVM_WALLET, USER)?.ruleId).toBe(rule)
  })

  test('nobody represented: the wallet alone decides', () => {
    expect(listVerdict(listsOf({ allow: [EVM_WALLET] }), EVM_WALLET, '')?.ruleId).toBe('list:allow')
    expect(listVerdict(listsOf({ deny: [EVM_WALLET] }), EVM_WALLET, '')?.ruleId).toBe('list:deny')
    expect(listVerdict(listsOf({ deny: [EVM_WALLET], allow: [EVM_WALLET] }), EVM_WALLET, '')?.ruleId).toBe('list:deny')
    expect(listVerdict(listsOf({ deny: [''], allow: [''] }), EVM_WALLET, '')).toBeNull()
  })
})

describe('a policy', () => {
  const lists = listsOf({ friends: [USER] })
  const identity = { verified: true, type: 'business', level: 2, verifiedAtSeconds: 5 } as const
  const stranger = { verified: false, type: null, level: 0, verifiedAtSeconds: null } as const
  const external = {
    identity: stranger,
    onBehalfIdentity: identity,
    screeners: {
      risk: { flagged: false, score: 1, categories: null },
      'onBehalf.risk': { flagged: true, score: 2, categories: null },
    },
  }

  test.each([
    ['onBehalf.present', true, false],
    [`onBehalf.address == address("${USER}")`, true, false],
    ['onBehalf.address == wallet.address', false, true],
    ['in_list(onBehalf.address, "friends")', true, false],
    ['in_list(wallet.address, "friends")', false, false],
    ['onBehalf.verified && !identity.verified', true, true],
    ['onBehalf.type == "business" && onBehalf.level == 2', true, true],
    ['onBehalf.verified_at < timestamp("2000-01-01T00:00:00Z")', true, true],
    ['screener("risk", onBehalf.address).flagged && !screener("risk").flagged', true, true],
    ['!screener("risk", wallet.address).flagged', true, true],
  ] as const)('%s: with and without a represented user', (expression, represented, alone) => {
    expect(holds(expression, { onBehalf: USER, lists, external })).toBe(represented)
    expect(holds(expression, { lists, external })).toBe(alone)
  })

  test('names the sources that it asks about the user', () => {
    const { needs, requires } = policyOf(
      'onBehalf.verified && identity.verified && screener("risk", onBehalf.address).flagged && screener("risk").flagged',
    )
    expect(needs).toEqual([
      { kind: 'identity' },
      { kind: 'on-behalf-identity' },
      { kind: 'screener', screener: 'risk', onBehalf: true },
      { kind: 'screener', screener: 'risk' },
    ])
    expect(requires).toEqual([])
  })

  test.each([
    'screener("risk", target.address).flagged',
    'screener("risk", onBehalf.address, wallet.address).flagged',
    'screener(onBehalf.address).flagged',
    '[onBehalf.address].exists(onBehalf, screener("risk", onBehalf.address).flagged)',
  ])('%s is refused', (expression) => {
    expect(issuesOf(() => policyOf(expression)).length).toBeGreaterThan(0)
  })

  test('tests its rules with a represented user', () => {
    const policy = compilePolicy(`name: Relayed
rules:
  - { id: relayed-only, require: onBehalf.present }
  - { id: known, allow: onBehalf.verified }
tests:
  - { name: alone, request: { from: "${EVM_WALLET}" }, verdict: deny, rule: relayed-only }
  - name: relayed
    request: { from: "${EVM_WALLET}", on_behalf: "${USER}" }
    facts: { onBehalf: { verified: true } }
    verdict: allow
    rule: known
`)
    expect(runPolicyTests(policy).map(({ failure }) => failure)).toEqual([null, null])
  })
})
