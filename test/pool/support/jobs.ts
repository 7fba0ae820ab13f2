// Jobs and targets for the pool's tests.
import type { Target } from '../../../src/domain/target.ts'
import type { SentRevision } from '../../../src/policy/types/program.ts'
import type { SignableJob } from '../../../src/pool/protocol.ts'
import { requestOf } from '../../support/request.ts'

/** Returns a uuid that ends with the number of the job. */
export const uuidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

export const targetOf = (overrides: Partial<Target> = {}): Target => ({
  id: 'target_1',
  organizationId: 'org_1',
  projectId: 'project_1',
  verificationHash: 'x-00112233445566778899aabbccddeeff',
  policyId: 'policy_1',
  policyName: 'Test policy',
  revisionId: 'revision_1',
  shadowRevisionId: null,
  quorum: 1,
  lifetimeSeconds: 300,
  requires: [],
  ...overrides,
})

export const revisionOf = (id: string): SentRevision => ({ id, document: null, size: 0 })

export const jobOf = (number: number, overrides: Partial<SignableJob> = {}): SignableJob => ({
  kind: 'attestation',
  uuid: uuidOf(number),
  targetId: 'target_1',
  keyId: 'key1',
  requestId: `request-${number}`,
  request: requestOf(),
  facts: '',
  expiration: 1_800_000_300,
  deadlineMs: Number.MAX_SAFE_INTEGER,
  ...overrides,
})
