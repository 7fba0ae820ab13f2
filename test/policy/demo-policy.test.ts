// The quick start's policy denies one wallet, allows the rest, and can be evaluated for every request.
import { expect, test } from 'bun:test'
import { zeroAddressOf } from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import { facts } from './support.ts'

const policy = compilePolicy(DEMO_POLICY)
const DENIED = '0x000000000000000000000000000000000000dead'

test.each(BUILT_IN_CHAINS.map((chain) => [chain.name, chain] as const))('on %s', (_name, chain) => {
  const address = zeroAddressOf(chain.family)
  expect(policy.evaluate(facts({ chain, from: address, to: address }))).toEqual({ compliant: true, ruleId: null })
  if (chain.family !== 'evm') return
  expect(policy.evaluate(facts({ chain, from: DENIED }))).toEqual({
    compliant: false,
    ruleId: 'demo-denied-wallet',
    code: 'DEMO_DENIED',
    message: 'This wallet is denied by the demo policy.',
  })
})

test('it requires no optional field', () => {
  expect(policy.requires).toEqual([])
})
