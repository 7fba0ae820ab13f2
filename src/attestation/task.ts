// One v1 request, from decoded to answered. Source: spec A2, decisions §3.
import type { TaskRequest } from '../domain/attestation.ts'
import { FieldMissingError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { TaskExpiry } from './expiry.ts'
import { type CallAnswer, type CallContext, decideJob, type JobDependencies, requireBinding } from './job.ts'

export interface TaskDependencies extends JobDependencies {
  readonly catalog: Catalog
  readonly clock: Clock
  readonly expiry: TaskExpiry
}

export type EvaluateTask = (request: TaskRequest, context: CallContext) => Promise<CallAnswer>

/** @throws PolicyMissingError, FieldMissingError, DependencyUnavailableError, and what Pool.submit throws. */
export const createEvaluateTask =
  (dependencies: TaskDependencies): EvaluateTask =>
  async (request, context) => {
    const { catalog, clock, expiry } = dependencies
    const { chain } = request
    const resolve = (): ResolvedTarget | Promise<ResolvedTarget> =>
      requireBinding(catalog, context.organizationId, chain.name, request.to, request.toAsSent)
    const nowSeconds = clock.unixSeconds()
    const { lifetimeSeconds } = await resolve()
    const expires = await expiry.after(chain.name, nowSeconds, lifetimeSeconds)
    // After the chain was asked: the policy may have changed while it was.
    const target = await resolve()
    // v1 has no field for the end user's address, so a policy that reads it can't be asked through v1.
    if (target.requires.includes('user_ip')) throw new FieldMissingError('user_ip')
    const answer = await decideJob(
      dependencies,
      {
        kind: 'task',
        uuid: context.uuid,
        targetId: target.id,
        keyId: context.keyId,
        requestId: context.requestId,
        chainName: chain.name,
        chainId: chain.chainId,
        from: request.from,
        to: request.to,
        value: request.msgValue,
        data: request.data,
        userIp: '',
        facts: '',
        requestedAtSeconds: nowSeconds,
        expiration: expires.expiration,
        deadlineMs: context.deadlineMs,
      },
      target,
      context,
      (field) => field === 'user_ip',
    )
    return {
      body: answer.body,
      compliant: answer.compliant,
      chainName: chain.name,
      lifetimeSeconds: expires.lifetimeSeconds,
    }
  }
