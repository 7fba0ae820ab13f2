// The exact response bodies of the attestation API, built from a decision record and nothing else, so that an answer recovered
// after a worker's death is byte for byte the one that the worker would have sent (spec, "Attestation response (v2)"
// and "Task request and response (v1)").
import type { DecisionRecord } from './types.ts'

/**
 * Present only on a denial whose rule has a code or a message. Both fields are texts for clients that check the shape:
 * the one that the rule lacks is empty.
 */
const reasonOf = (record: DecisionRecord): { code: string; message: string } | undefined =>
  record.compliant || (record.code === undefined && record.message === undefined)
    ? undefined
    : { code: record.code ?? '', message: record.message ?? '' }

/** The v2 body. On a denial: expiration 0, attester and signature empty. */
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

/** The v1 body: exactly five keys, compliant or not. On a denial: empty lists and expiry 0. */
const taskAnswer = (record: DecisionRecord): string =>
  JSON.stringify({
    is_compliant: record.compliant,
    signers: record.attesters,
    signature: record.signatures,
    expiry_block: record.expiration,
    task_id: record.uuid,
  })

/** The body for the record's kind. */
export const answerOf = (record: DecisionRecord): string =>
  record.kind === 'task' ? taskAnswer(record) : attestationAnswer(record)
