// The optional request fields that a policy requires: those that its rules read, found without evaluation (decisions §2).
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { policyOf } from './support.ts'

describe('an expression requires', () => {
  test.each([
    ['true', []],
    ['wallet.address == target.address', []],
    ['chain.id == 1 && chain.name == "a" && chain.family == "evm"', []],
    ['request.time > timestamp("2026-01-01T00:00:00Z")', []],
    ['tx.value > 0', ['msg_value']],
    ['tx.data_size > 0', ['data']],
    ['tx.selector == ""', ['data']],
    ['client.ip == ""', ['user_ip']],
    ['client.located', ['user_ip']],
    ['client.ip == "" || tx.value > 0 || tx.data_size > 0 || tx.selector == ""', ['data', 'msg_value', 'user_ip']],
    // This includes branches that may not be evaluated.
    ['false && tx.value > 0', ['msg_value']],
    ['true ? true : client.ip == ""', ['user_ip']],
    ['[1].exists(x, tx.value == x)', ['msg_value']],
    ['[tx.value].exists(x, x == 1)', ['msg_value']],
    ['[1].map(x, chain.id == x, client.ip).size() == 1', ['user_ip']],
    ['size(client.ip) == 0', ['user_ip']],
    ['client.ip.size() == 0', ['user_ip']],
    ['uint256(tx.data_size) == 0', ['data']],
    ['[1, 2][tx.data_size] == 1', ['data']],
    ['!(-tx.data_size == 0)', ['data']],
    ['ether(1) in [tx.value]', ['msg_value']],
    // A text or a variable with the name of a fact does not read the fact.
    ['chain.name == "tx.value"', []],
    ['[1].exists(value, value == 1)', []],
  ] as const)('%s → %p', (expression, expected) => expect(policyOf(expression).requires).toEqual([...expected]))
})

test('a policy requires the fields of all its rules', () => {
  const rules = ['client.ip == "192.0.2.1"', 'true', 'tx.value > 0'].map((deny, i) => ({ id: `r${i}`, deny }))
  expect(compilePolicy(JSON.stringify({ name: 'P', rules })).requires).toEqual(['msg_value', 'user_ip'])
})
