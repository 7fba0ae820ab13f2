// Fixtures of the tests of facts: requests, and the context of fetchers.
import { expect } from 'bun:test'
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

/** Changes of a velocity subject: fields of the request, and its owner. */
export type VelocityChanges = RequestChanges & Partial<Omit<VelocitySubject, 'request'>>

export const velocitySubjectOf = (changes: VelocityChanges): VelocitySubject => {
  const { organizationId = 'org', projectId = 'project', environment = 'live', ...others } = changes
  return { organizationId, projectId, environment, request: requestOf({ from: '0x01', value: '10', ...others }) }
}

/** The context of fetchers that only query chains. */
export const NOTHING_ELSE: Pick<FetchContext, 'geography' | 'identityOf' | 'identityDetailsOf' | 'identityChanges'> = {
  geography: null,
  identityChanges: () => 0,
  identityOf: () => expect.unreachable(),
  identityDetailsOf: () => expect.unreachable(),
}
