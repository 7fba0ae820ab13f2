// Decision records whose members depend on a number.
import type { DecisionRecord } from '../../../src/decision-log/types.ts'

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0')

export const uuidOf = (n: number): string => `${hex(n, 8)}-0000-4000-8000-${hex(n, 12)}`
export const walletOf = (n: number): string => `0x${hex(n, 40)}`

/** 2026-01-01T00:00:00Z. */
export const FIRST_MS = 1_767_225_600_000

export const decisionRecord = (n: number, changes: Partial<DecisionRecord> = {}): DecisionRecord => {
  const compliant = changes.compliant ?? true
  return {
    kind: 'attestation',
    uuid: uuidOf(n),
    at: FIRST_MS + n,
    organization: 'org_AAAAAAAAAAAAAAAA',
    project: 'project_AAAAAAAAAAAAAAAA',
    key: 'k00000000001',
    request: `request-${n}`,
    policy: 'policy_AAAAAAAAAAAAAAAA',
    revision: 'revision_AAAAAAAAAAAAAAAA',
    verification_hash: 'x-00000000000000000000000000000000',
    chain: 'base',
    from: walletOf(n),
    to: walletOf(0),
    value: '0',
    data_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    data_size: 0,
    compliant,
    rule: compliant ? 'everyone' : 'blocked',
    ...(compliant ? {} : { code: 'BLOCKED', message: 'This wallet may not.' }),
    expiration: compliant ? 1_767_225_900 : 0,
    attesters: compliant ? ['0x8bE4baC46fc9d5fEc816DA027BAAEAabB5AcB5eB'] : [],
    signatures: compliant ? [`0x${'ab'.repeat(65)}`] : [],
    policy_name: 'Everyone',
    ...changes,
  }
}
