// One v2 request, from decoded to answered: find the target, check that the policy has what it reads, fix everything
// that a second try must not change, and hand it to the pool. Source: spec A1, decisions §2.
import { EVM_ZERO_ADDRESS, SOLANA_ZERO_ADDRESS } from '../domain/address.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import { FieldMissingError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import type { Clock } from '../domain/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { Pool } from '../pool/pool.ts'
import { type CallAnswer, type CallContext, requireBinding, requireProject } from './job.ts'

export interface AttestDependencies {
  readonly catalog: Catalog
  readonly pool: Pool
  readonly clock: Clock
}

/** A policy that reads what the caller left out can't be evaluated: an error, never a verdict (decisions §2). */
const requireFields = (target: Target, request: AttestationRequest): void => {
  for (const field of target.requires) {
    if (field === 'data' && request.data === null) throw new FieldMissingError('data')
    if (field === 'msg_value' && request.msgValue === null) throw new FieldMissingError('msg_value')
    if (field === 'user_ip' && request.userIp === null) throw new FieldMissingError('user_ip')
  }
}

export type Attest = (request: AttestationRequest, context: CallContext) => Promise<CallAnswer>

/** @throws PolicyMissingError, FieldMissingError, and what Pool.submit throws. */
export const createAttest =
  ({ catalog, pool, clock }: AttestDependencies): Attest =>
  async (request, context) => {
    const { chain, to } = request
    const { organizationId } = context
    const target =
      to === null
        ? await requireProject(catalog, organizationId, request.verificationHash ?? '')
        : await requireBinding(catalog, organizationId, chain.name, to, request.toAsSent ?? to)
    requireFields(target, request)
    const nowSeconds = clock.unixSeconds()
    const answer = await pool.submit(
      {
        kind: 'attestation',
        uuid: context.uuid,
        targetId: target.id,
        keyId: context.keyId,
        requestId: context.requestId,
        chainName: chain.name,
        chainId: chain.family === 'evm' ? chain.chainId : 0,
        from: request.from,
        to: to ?? (chain.family === 'evm' ? EVM_ZERO_ADDRESS : SOLANA_ZERO_ADDRESS),
        value: request.msgValue ?? '0',
        data: request.data ?? '0x',
        userIp: request.userIp ?? '',
        requestedAtSeconds: nowSeconds,
        expiration: nowSeconds + target.lifetimeSeconds,
        deadlineMs: context.deadlineMs,
      },
      target,
    )
    return {
      body: answer.body,
      compliant: answer.compliant,
      chainName: chain.name,
      lifetimeSeconds: target.lifetimeSeconds,
    }
  }
