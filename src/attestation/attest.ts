// Answers one decoded v2 request: finds the target, checks that the request has every field that the policy reads,
// fixes everything that must not differ between two tries, and hands the job to the pool. Source: spec A1, decisions
// §2.
import { EVM_ZERO_ADDRESS, SOLANA_ZERO_ADDRESS } from '../domain/address.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import { FieldMissingError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import type { Clock } from '../domain/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import {
  type CallAnswer,
  type CallContext,
  decideJob,
  type JobDependencies,
  requireBinding,
  requireProject,
} from './job.ts'

export interface AttestDependencies extends JobDependencies {
  readonly catalog: Catalog
  readonly clock: Clock
}

const isMissing = (request: AttestationRequest, field: OptionalField): boolean => {
  if (field === 'data') return request.data === null
  return field === 'msg_value' ? request.msgValue === null : request.userIp === null
}

export type Attest = (request: AttestationRequest, context: CallContext) => Promise<CallAnswer>

/** @throws PolicyMissingError, FieldMissingError, and what Pool.submit throws. */
export const createAttest =
  (dependencies: AttestDependencies): Attest =>
  async (request, context) => {
    const { catalog, clock } = dependencies
    const { chain, to } = request
    const { organizationId } = context
    const found =
      to === null
        ? requireProject(catalog, organizationId, request.verificationHash ?? '')
        : requireBinding(catalog, organizationId, chain.name, to, request.toAsSent ?? to)
    const target = found instanceof Promise ? await found : found
    // A policy that reads a field which the caller left out can't be evaluated: an error, never a verdict (decisions
    // §2).
    for (const field of target.requires) if (isMissing(request, field)) throw new FieldMissingError(field)
    const nowSeconds = clock.unixSeconds()
    const answer = await decideJob(
      dependencies,
      {
        kind: 'attestation',
        uuid: context.uuid,
        targetId: target.id,
        keyId: context.keyId,
        requestId: context.requestId,
        chainName: chain.name,
        chainFamily: chain.family,
        chainId: chain.family === 'evm' ? chain.chainId : 0,
        from: request.from,
        onBehalf: request.onBehalf ?? '',
        to: to ?? (chain.family === 'evm' ? EVM_ZERO_ADDRESS : SOLANA_ZERO_ADDRESS),
        value: request.msgValue ?? '0',
        data: request.data ?? '0x',
        userIp: request.userIp ?? '',
        facts: '',
        requestedAtSeconds: nowSeconds,
        expiration: nowSeconds + target.lifetimeSeconds,
        deadlineMs: context.deadlineMs,
      },
      target,
      context,
      (field) => isMissing(request, field),
    )
    return {
      body: answer.body,
      compliant: answer.compliant,
      chainName: chain.name,
      lifetimeSeconds: target.lifetimeSeconds,
    }
  }
