import type {
  Attestation,
  AttestationAnswer,
  AttestationRequest,
  DeniedAnswer,
  TaskAnswer,
  TaskRequest,
} from './attestation-types.ts'
import { AnswerInvalidError } from './errors.ts'
import { type Fields, readFields, UUID_FORM } from './json-fields.ts'
import type { Answer } from './transport.ts'

const EVM_ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/
const ATTESTER_FORM = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/
const ATTESTATION_SIGNATURE_FORM = /^0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})$/
const TASK_SIGNATURE_FORM = /^0x[0-9a-fA-F]{130}$/

/** Returns the body of `POST /v2/attestation`. JSON.stringify omits undefined fields. */
export const attestationBody = (request: AttestationRequest): Readonly<Record<string, unknown>> => ({
  from: request.from,
  chain: request.chain,
  to: request.to,
  verification_hash: request.verificationHash,
  data: request.data,
  msg_value: request.msgValue?.toString(),
  user_ip: request.userIp,
  on_behalf: request.onBehalf,
})

const readAttestation = (fields: Fields): Attestation => ({
  uuid: fields.matching('uuid', UUID_FORM),
  expiration: fields.count('expiration'),
  attester: fields.matching('attester', ATTESTER_FORM),
  signature: fields.matching('signature', ATTESTATION_SIGNATURE_FORM),
})

const readReason = (fields: Fields): DeniedAnswer['reason'] => {
  if (!fields.has('reason')) return null
  const reason = fields.object('reason')
  return { code: reason.optionalText('code') ?? '', message: reason.optionalText('message') ?? '' }
}

export const readEvaluation = (fields: Fields, requestId: string): AttestationAnswer => {
  const evaluation = {
    policyId: fields.text('policy_id'),
    policyName: fields.text('policy_name'),
    verificationHash: fields.text('verification_hash'),
    requestId,
  }
  const attestation = fields.object('attestation')
  if (fields.flag('is_compliant')) {
    return { ...evaluation, isCompliant: true, attestation: readAttestation(attestation) }
  }
  const uuid = attestation.matching('uuid', UUID_FORM)
  return { ...evaluation, isCompliant: false, uuid, reason: readReason(fields) }
}

export const readAttestationAnswer = ({ body, requestId }: Answer): AttestationAnswer =>
  readEvaluation(readFields(body, requestId), requestId)

export const taskBody = (request: TaskRequest): Readonly<Record<string, unknown>> => ({
  from: request.from,
  to: request.to,
  data: request.data,
  msg_value: request.msgValue.toString(),
  chain_id: request.chainId,
  on_behalf: request.onBehalf,
})

export const readTaskAnswer = ({ body, requestId }: Answer): TaskAnswer => {
  const fields = readFields(body, requestId)
  const taskId = fields.matching('task_id', UUID_FORM)
  if (!fields.flag('is_compliant')) return { isCompliant: false, taskId, requestId }
  const signers = fields.texts('signers', EVM_ADDRESS_FORM) as `0x${string}`[]
  const signatures = fields.texts('signature', TASK_SIGNATURE_FORM) as `0x${string}`[]
  if (signers.length === 0 || signers.length !== signatures.length) {
    throw new AnswerInvalidError('signers and signature must have the same length', requestId)
  }
  return { isCompliant: true, taskId, signers, signatures, expiryBlock: fields.count('expiry_block'), requestId }
}
