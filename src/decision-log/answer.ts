// Builds responses of the attestation API from decision records alone, so that an answer recovered after a worker's
// death is identical to the lost answer. Source: spec, "Attestation response (v2)", "Task request and response (v1)".
import type { DecisionRecord } from './types.ts'

/** A missing code or message becomes empty, for clients that validate the shape. */
const reasonOf = (record: DecisionRecord): { code: string; message: string } | undefined =>
  record.compliant || (record.code === undefined && record.message === undefined)
    ? undefined
    : { code: record.code ?? '', message: record.message ?? '' }

/** v2. A denial has expiration 0 and an empty attester and signature. */
const attestationAnswer = (record: DecisionRecord): string =>
  JSON.stringify({
    policy_id: record.policy,
    policy_name: record.policy_name,
    verification_hash: record.verification_hash,
    is_compliant: record.compliant,
    attestation: {
      uuid: record.uuid,
      expiration: record.expiration,
      attester: record.attesters[0] ?? '',
      signature: record.signatures[0] ?? '',
    },
    reason: reasonOf(record),
  })

/** v1 always has five keys. A denial has empty lists and expiry 0. */
const taskAnswer = (record: DecisionRecord): string =>
  JSON.stringify({
    is_compliant: record.compliant,
    signers: record.attesters,
    signature: record.signatures,
    expiry_block: record.expiration,
    task_id: record.uuid,
  })

export const answerOf = (record: DecisionRecord): string =>
  record.kind === 'task' ? taskAnswer(record) : attestationAnswer(record)
