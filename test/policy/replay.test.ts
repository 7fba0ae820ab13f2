// A policy applied to recorded decisions: changes, and decisions whose record lacks a fact.
import { describe, expect, test } from 'bun:test'
import { createChainTable } from '../../src/domain/chain.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import {
  createReplayTally,
  type ReplayableDecision,
  type ReplayOptions,
  replayDecision,
} from '../../src/policy/tools/replay.ts'
import { EVM_WALLET, EVM_ZERO } from './support.ts'

const decision = (changes: Partial<ReplayableDecision> = {}): ReplayableDecision => ({
  kind: 'attestation',
  revision: 'reads-all',
  uuid: 'u1',
  at: 1_767_225_600_999,
  chain: 'base',
  from: EVM_WALLET,
  to: EVM_ZERO,
  value: '5',
  data_size: 0,
  compliant: true,
  rule: 'only',
  ...changes,
})
const OPTIONS: ReplayOptions = {
  chain: createChainTable().byName,
  lists: null,
  required: { 'reads-all': ['data', 'msg_value'] },
}
const replay = (expression: string, changes: Partial<ReplayableDecision> = {}, options = OPTIONS) =>
  replayDecision(
    compilePolicy(`name: P\nrules: ${JSON.stringify([{ id: 'only', allow: expression }])}`),
    decision(changes),
    options,
  )

const BEFORE = '2025-12-31T23:59:59Z'
const SAME = { status: 'same' } as const
const DENIED = { status: 'changed', verdict: { compliant: false, ruleId: null } } as const
const ALLOWED = { status: 'changed', verdict: { compliant: true, ruleId: 'only' } } as const
const unknown = (fact: string) => ({ status: 'unknown', fact }) as const

describe('a decision', () => {
  test.each<[string, string, Partial<ReplayableDecision>, ReturnType<typeof replay>]>([
    ['recorded fields', 'tx.value == 5 && chain.id == 8453 && chain.family == "evm"', {}, SAME],
    ['another verdict', 'tx.value > 5', {}, DENIED],
    ['the same verdict from another rule', 'true', { rule: 'other' }, ALLOWED],
    ['the same denial', 'tx.value > 5', { compliant: false, rule: null }, SAME],
    ['the time of the record', 'request.time == timestamp("2026-01-01T00:00:00Z")', {}, SAME],
    ['the time of the record in a time zone', 'request.time.getHours("America/Denver") == 17', {}, SAME],
    [
      'the time of the request',
      `request.time == timestamp("${BEFORE}")`,
      { requested: Date.parse(BEFORE) / 1000 },
      SAME,
    ],
    ['no data', 'tx.data_size == 0', {}, SAME],
    ['recorded data', 'tx.selector == "0xaabbccdd"', { data: '0xAABBCCDD00', data_size: 5 }, SAME],
    ['data that is too long for the record', 'tx.data_size == 2000', { data_size: 2000 }, unknown('the call data')],
    ['data that no evaluated condition reads', 'tx.value == 5 || tx.data_size == 0', { data_size: 2000 }, SAME],
    ['the client', 'client.ip == "192.0.2.1"', {}, unknown('client.ip')],
    ['the identity', 'identity.verified', { facts: {} }, unknown('identity.verified')],
    ['recorded geography', 'client.country == "CH"', { facts: { geography: { country: 'CH' } } }, SAME],
    ['unrecorded geography', 'client.located', {}, unknown('client.located')],
    ['a screener', 'screener("a").score == 3', { facts: { screeners: { a: { score: 3 } } } }, SAME],
    ['velocity', 'velocity.count(hours(1)) == 2', { facts: { velocity: { '3600': { count: 2, value: '0' } } } }, SAME],
    ['the id of a removed chain', 'chain.id == 1', { chain: 'gone' }, unknown('the chain')],
    ['the family of a removed chain', 'chain.family == "evm"', { chain: 'gone' }, unknown('the chain')],
    ['the name of a removed chain', 'chain.name == "gone"', { chain: 'gone' }, SAME],
    ['an earlier name of a chain', 'chain.name == "ethereum-sepolia"', { chain: 'ethereum-sepolia' }, SAME],
    ['Solana', 'chain.family == "solana" && chain.id == 0', { chain: 'solana' }, SAME],
    ['a failing rule', 'tx.value - 6 == 0', {}, { status: 'failed', ruleId: 'only' }],
    ['the organization’s lists', 'false', { rule: 'list:deny' }, { status: 'by-lists' }],
  ])('by %s', (_name, expression, changes, expected) => expect(replay(expression, changes)).toEqual(expected))
})

test('a request that may have omitted a field of the policy has no verdict', () => {
  const other = { revision: 'reads-nothing' }
  const omitted = (field: string) => unknown(`whether the request contained ${field} (without it, the response is 400)`)
  expect(replay('tx.data_size == 0', other)).toEqual(omitted('data'))
  expect(replay('tx.data_size == 0', { ...other, kind: 'task' })).toEqual(SAME)
  expect(replay('tx.data_size == 2', { ...other, data: '0xaabb', data_size: 2 })).toEqual(SAME)
  expect(replay('tx.value == 0', { ...other, value: '0' })).toEqual(omitted('msg_value'))
  expect(replay('tx.value == 0', { value: '0' })).toEqual(SAME)
  expect(replay('tx.value == 5', other)).toEqual(SAME)
})

describe('lists', () => {
  const expression = 'in_list(wallet.address, "a", hours(1))'
  const looked = (age: number, members: string[], others: string[]) => {
    return { facts: { lists: { a: { age, in: members, out: others } } } }
  }
  const now = (isIn: boolean): ReplayOptions => {
    return { ...OPTIONS, lists: { contains: () => isIn, ageSeconds: (name) => (name === 'a' ? 0 : null) } }
  }

  test('are used as recorded', () => {
    expect(replay(expression, looked(60, [EVM_WALLET], []), now(false))).toEqual(SAME)
    expect(replay(expression, looked(60, [], [EVM_WALLET]), now(true))).toEqual(DENIED)
    expect(replay(expression, looked(7_200, [EVM_WALLET], []))).toMatchObject({ status: 'unknown' })
  })

  test.each([{}, looked(0, [], [])])('are used in their current state if the record lacks the wallet: %j', (record) => {
    expect(replay(expression, record, now(true))).toEqual(SAME)
    expect(replay(expression, record)).toEqual(unknown('list a'))
  })
})

test('a tally groups changes by rule, most frequent first', () => {
  const tally = createReplayTally()
  const add = (uuid: string, compliant: boolean, rule: string | null) =>
    tally.add(decision({ uuid, compliant, rule }), {
      status: 'changed',
      verdict: { compliant: false, ruleId: 'limit' },
    })
  add('u1', true, 'a')
  for (const uuid of ['u2', 'u3', 'u4', 'u5']) add(uuid, true, 'b')
  add('u6', false, null)
  const others = [SAME, unknown('client.ip'), { status: 'failed', ruleId: 'x' }, { status: 'by-lists' }] as const
  for (const outcome of others) tally.add(decision(), outcome)
  const to = { compliant: false, rule: 'limit' }
  expect(tally.summary()).toEqual({
    decisions: 10,
    same: 1,
    changes: [
      { from: { compliant: true, rule: 'b' }, to, count: 4, examples: ['u2', 'u3', 'u4'] },
      { from: { compliant: true, rule: 'a' }, to, count: 1, examples: ['u1'] },
      { from: { compliant: false, rule: null }, to, count: 1, examples: ['u6'] },
    ],
    unknown: [{ fact: 'client.ip', count: 1 }],
    failed: [{ rule: 'x', count: 1 }],
    byLists: 1,
  })
})
