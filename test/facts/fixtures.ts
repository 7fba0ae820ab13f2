// What tests of facts have in common: the request that facts are collected for.
import type { FetchContext } from '../../src/facts/fact-fetcher.ts'
import type { VelocitySubject } from '../../src/facts/velocity.ts'
import type { FactSubject } from '../../src/policy/types/needs.ts'
import { requestOf as anyRequestOf, chainOf, type RequestChanges } from '../support/request.ts'

export const WALLET = `0x${'a1'.repeat(20)}`
export const CONTRACT = `0x${'c0'.repeat(20)}`

const REQUEST = { chain: chainOf('base'), from: WALLET, to: CONTRACT, value: '7', userIp: '203.0.113.9' }

export const requestOf = (changes: RequestChanges = {}) => anyRequestOf({ ...REQUEST, ...changes })

export const subjectOf = (changes: RequestChanges = {}): FactSubject => ({
  request: requestOf(changes),
  organizationId: 'org_1',
  projectId: 'project_1',
  environment: 'live',
  deadlineMs: 25_000,
})

/** What a test of velocity changes: the request's fields, and whose it is. */
export type VelocityChanges = RequestChanges & Partial<Omit<VelocitySubject, 'request'>>

export const velocitySubjectOf = ({
  organizationId = 'org',
  projectId = 'project',
  environment = 'live',
  ...changes
}: VelocityChanges): VelocitySubject => ({
  organizationId,
  projectId,
  environment,
  request: requestOf({ from: '0x01', value: '10', ...changes }),
})

/** For tests of what is asked on chains. */
export const NOTHING_ELSE: Pick<FetchContext, 'geography' | 'identityOf' | 'identityDetailsOf' | 'identityChanges'> = {
  geography: null,
  identityChanges: () => 0,
  identityOf: () => {
    throw new Error('nobody asks whom a wallet belongs to')
  },
  identityDetailsOf: () => {
    throw new Error('nobody asks how old a person is')
  },
}
