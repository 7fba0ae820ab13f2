// The user whom a relayer represents, in policies and in the organization's lists.
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
    ['user on both lists', { deny: [USER], allow: [USER, EVM_WALLET] }, 'list:deny'],
    ['unlisted user behind an allowed relayer', { allow: [EVM_WALLET] }, undefined],
    ['allowed user behind an unlisted relayer', { allow: [USER] }, undefined],
    ['allowed user behind an allowed relayer', { allow: [USER, EVM_WALLET] }, 'list:allow'],
    ['neither on a list', {}, undefined],
  ] as const)('%s', (_, lists, rule) => expect(listVerdict(listsOf(lists), EVM_WALLET, USER)?.ruleId).toBe(rule))

  test.each([
    [{ allow: [EVM_WALLET] }, 'list:allow'],
    [{ deny: [EVM_WALLET] }, 'list:deny'],
    [{ deny: [EVM_WALLET], allow: [EVM_WALLET] }, 'list:deny'],
    [{ deny: [''], allow: [''] }, undefined],
  ])('decide about the wallet if it represents no user: %j', (lists, rule) => {
    expect(listVerdict(listsOf(lists), EVM_WALLET, '')?.ruleId).toBe(rule)
  })
})

describe('a policy', () => {
  const lists = listsOf({ friends: [USER] })
  const screener = { flagged: false, score: 1, categories: null }
  const external = {
    identity: { verified: false, type: null, level: 0, verifiedAtSeconds: null },
    onBehalfIdentity: { verified: true, type: 'business', level: 2, verifiedAtSeconds: 5 },
    screeners: { risk: screener, 'onBehalf.risk': { ...screener, flagged: true } },
  } as const

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

  test('requires sources about the user', () => {
    const conditions = [
      'identity.verified',
      ...['risk", onBehalf.address', 'risk"'].map((text) => `screener("${text}).flagged`),
    ]
    const { needs, requires } = policyOf(['onBehalf.verified', ...conditions].join(' && '))
    expect(requires).toEqual([])
    expect(needs).toEqual([
      { kind: 'identity' },
      { kind: 'on-behalf-identity' },
      { kind: 'screener', screener: 'risk', onBehalf: true },
      { kind: 'screener', screener: 'risk' },
    ])
  })

  test.each([
    'screener("risk", target.address).flagged',
    'screener("risk", onBehalf.address, wallet.address).flagged',
    'screener(onBehalf.address).flagged',
    '[onBehalf.address].exists(onBehalf, screener("risk", onBehalf.address).flagged)',
  ])('%s is refused', (expression) => expect(issuesOf(() => policyOf(expression)).length).toBeGreaterThan(0))

  test('can be tested with a represented user', () => {
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
