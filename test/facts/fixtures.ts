// What tests of facts have in common: the request that facts are collected for.
import type { AskContext } from '../../src/facts/asker.ts'
import type { FactSubject } from '../../src/policy/types/needs.ts'

export const WALLET = `0x${'a1'.repeat(20)}`
export const CONTRACT = `0x${'c0'.repeat(20)}`

export const subjectOf = (overrides: Partial<FactSubject> = {}): FactSubject => ({
  chainName: 'base',
  chainFamily: 'evm',
  chainId: 8453,
  from: WALLET,
  onBehalf: '',
  to: CONTRACT,
  value: '7',
  data: '0x',
  userIp: '203.0.113.9',
  nowSeconds: 1_700_000_000,
  organizationId: 'org_1',
  projectId: 'project_1',
  environment: 'live',
  deadlineMs: 25_000,
  ...overrides,
})

/** For tests of what is asked on chains. */
export const NOTHING_ELSE: Pick<AskContext, 'geography' | 'identityOf'> = {
  geography: null,
  identityOf: () => {
    throw new Error('nobody asks whom a wallet belongs to')
  },
}
