// Policies and targets for tests of workers.
import type { Target } from '../../../src/domain/target.ts'
import { finish } from '../../../src/policy/cel/steps.ts'
import { readPolicyDocument } from '../../../src/policy/document/document.ts'
import type { SentRevision } from '../../../src/policy/types/program.ts'

/** Denies one wallet with a reason and another without, fails for values over 10^18, and allows all other requests. */
export const TEST_POLICY = `name: Test policy
default: allow
rules:
  - id: denied-with-words
    deny: wallet.address == address("0x000000000000000000000000000000000000dEaD")
    code: TEST_DENIED
    message: This wallet is denied.
  - id: denied-without-words
    deny: wallet.address == address("0x000000000000000000000000000000000000bEEF")
  - id: fails-on-large-values
    require: tx.value <= uint256("1000000000000000000") || tx.value - tx.value - uint256("1") == uint256("0")
`

export const DENIED_WALLET = '0x000000000000000000000000000000000000dead'
/** A value for which a rule underflows. */
export const FAILING_VALUE = '1000000000000000001'

/** Returns a revision as the main thread sends it; its document is null if the text is not a valid policy. */
export const revisionWith = (id: string, source: string): SentRevision => {
  const { document, issues } = finish(readPolicyDocument(source))
  return { id, document: issues.length === 0 ? JSON.stringify(document) : null, size: source.length }
}

export const testTarget = (overrides: Partial<Target> = {}): Target => ({
  id: 'target_test',
  organizationId: 'org_test',
  projectId: 'project_test',
  verificationHash: 'x-00112233445566778899aabbccddeeff',
  policyId: 'policy_test',
  policyName: 'Test policy',
  revisionId: 'revision_test',
  shadowRevisionId: null,
  quorum: 1,
  lifetimeSeconds: 300,
  requires: [],
  ...overrides,
})
