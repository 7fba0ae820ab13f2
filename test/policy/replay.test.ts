// A policy over recorded decisions: what would change, and what can't be told from the record.
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

const SAME = { status: 'same' } as const
const DENIED = { status: 'changed', verdict: { compliant: false, ruleId: null } } as const

describe('a decision', () => {
  test.each([
    ['what the request was', 'tx.value == 5 && chain.id == 8453 && chain.family == "evm"', {}, SAME],
    ['another verdict', 'tx.value > 5', {}, DENIED],
    [
      'the same verdict by another rule',
      'true',
      { rule: 'other' },
      { status: 'changed', verdict: { compliant: true, ruleId: 'only' } },
    ],
    ['a denial that stays', 'tx.value > 5', { compliant: false, rule: null }, SAME],
    ['the time of the record', 'request.time == timestamp("2026-01-01T00:00:00Z")', {}, SAME],
    ['the time of the record in a time zone', 'request.time.getHours("America/Denver") == 17', {}, SAME],
    [
      'the time of the request',
      'request.time == timestamp("2025-12-31T23:59:59Z")',
      { requested: 1_767_225_599 },
      SAME,
    ],
    ['no data', 'tx.data_size == 0', {}, SAME],
    ['recorded data', 'tx.selector == "0xaabbccdd"', { data: '0xAABBCCDD00', data_size: 5 }, SAME],
    [
      'data too long to be recorded',
      'tx.data_size == 2000',
      { data_size: 2000 },
      { status: 'unknown', fact: 'the call data' },
    ],
    ['data that no rule comes to', 'tx.value == 5 || tx.data_size == 0', { data_size: 2000 }, SAME],
    ['the client', 'client.ip == "192.0.2.1"', {}, { status: 'unknown', fact: 'client.ip' }],
    ['the identity', 'identity.verified', { facts: {} }, { status: 'unknown', fact: 'identity.verified' }],
    ['geography that was asked for', 'client.country == "CH"', { facts: { geography: { country: 'CH' } } }, SAME],
    ['geography that was not', 'client.located', {}, { status: 'unknown', fact: 'client.located' }],
    ['a screener', 'screener("a").score == 3', { facts: { screeners: { a: { score: 3 } } } }, SAME],
    ['velocity', 'velocity.count(hours(1)) == 2', { facts: { velocity: { '3600': { count: 2, value: '0' } } } }, SAME],
    ['a chain that is gone', 'chain.id == 1', { chain: 'gone' }, { status: 'unknown', fact: 'the chain' }],
    ['its family', 'chain.family == "evm"', { chain: 'gone' }, { status: 'unknown', fact: 'the chain' }],
    ['its name', 'chain.name == "gone"', { chain: 'gone' }, SAME],
    ['a chain under the name that it had', 'chain.name == "ethereum-sepolia"', { chain: 'ethereum-sepolia' }, SAME],
    ['Solana', 'chain.family == "solana" && chain.id == 0', { chain: 'solana' }, SAME],
    ['a rule that fails', 'tx.value - 6 == 0', {}, { status: 'failed', ruleId: 'only' }],
    ['the organization’s lists', 'false', { rule: 'list:deny' }, { status: 'by-lists' }],
  ] as [string, string, Partial<ReplayableDecision>, unknown][])('by %s', (_name, expression, changes, expected) => {
    expect(replay(expression, changes)).toEqual(expected as never)
  })
})

test('a request that may have omitted a field that the policy reads has no verdict', () => {
  const other = { revision: 'reads-nothing' }
  const omitted = (field: string) => ({
    status: 'unknown' as const,
    fact: `whether the request contained ${field} (without it, the response is 400)`,
  })
  expect(replay('tx.data_size == 0', other)).toEqual(omitted('data'))
  expect(replay('tx.data_size == 0', { ...other, kind: 'task' })).toEqual(SAME)
  expect(replay('tx.data_size == 2', { ...other, data: '0xaabb', data_size: 2 })).toEqual(SAME)
  expect(replay('tx.value == 0', { ...other, value: '0' })).toEqual(omitted('msg_value'))
  expect(replay('tx.value == 0', { value: '0' })).toEqual(SAME)
  expect(replay('tx.value == 5', other)).toEqual(SAME)
})

describe('lists', () => {
  const expression = 'in_list(wallet.address, "a", hours(1))'
  const looked = (age: number, isIn: boolean) => ({
    facts: { lists: { a: { age, in: isIn ? [EVM_WALLET] : [], out: isIn ? [] : [EVM_WALLET] } } },
  })
  const now = (isIn: boolean): ReplayOptions => ({
    ...OPTIONS,
    lists: { contains: () => isIn, ageSeconds: (name) => (name === 'a' ? 0 : null) },
  })

  test('are as they were when they were looked up', () => {
    expect(replay(expression, looked(60, true), now(false))).toEqual(SAME)
    expect(replay(expression, looked(60, false), now(true))).toEqual(DENIED)
    expect(replay(expression, looked(7_200, true))).toMatchObject({ status: 'unknown' })
  })

  test('are as they are now when nobody looked', () => {
    expect(replay(expression, {}, now(true))).toEqual(SAME)
    expect(replay(expression, { facts: { lists: { a: { age: 0, in: [], out: [] } } } }, now(true))).toEqual(SAME)
    expect(replay(expression)).toEqual({ status: 'unknown', fact: 'list a' })
    expect(replay(expression, { facts: { lists: { a: { age: 0, in: [], out: [] } } } })).toEqual({
      status: 'unknown',
      fact: 'list a',
    })
  })
})

test('a tally groups changes by rule, the most frequent first', () => {
  const tally = createReplayTally()
  for (const [uuid, compliant, rule] of [
    ['u1', true, 'a'],
    ['u2', true, 'b'],
    ['u3', true, 'b'],
    ['u4', true, 'b'],
    ['u5', true, 'b'],
    ['u6', false, null],
  ] as const) {
    const one = decision({ uuid, compliant, rule })
    tally.add(one, { status: 'changed', verdict: { compliant: false, ruleId: 'limit' } })
  }
  tally.add(decision(), { status: 'same' })
  tally.add(decision(), { status: 'unknown', fact: 'client.ip' })
  tally.add(decision(), { status: 'failed', ruleId: 'x' })
  tally.add(decision(), { status: 'by-lists' })
  expect(tally.summary()).toEqual({
    decisions: 10,
    same: 1,
    changes: [
      {
        from: { compliant: true, rule: 'b' },
        to: { compliant: false, rule: 'limit' },
        count: 4,
        examples: ['u2', 'u3', 'u4'],
      },
      { from: { compliant: true, rule: 'a' }, to: { compliant: false, rule: 'limit' }, count: 1, examples: ['u1'] },
      { from: { compliant: false, rule: null }, to: { compliant: false, rule: 'limit' }, count: 1, examples: ['u6'] },
    ],
    unknown: [{ fact: 'client.ip', count: 1 }],
    failed: [{ rule: 'x', count: 1 }],
    byLists: 1,
  })
})
