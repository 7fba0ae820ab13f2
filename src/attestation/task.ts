// One v1 request, from decoded to answered. Source: spec A2, decisions §3.
import type { TaskRequest } from '../domain/attestation.ts'
import { FieldMissingError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'
import type { Catalog } from '../policy/catalog.ts'
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
    const target = await requireBinding(catalog, context.organizationId, chain.name, request.to, request.toAsSent)
    // v1 has no field for the end user's address, so a policy that reads it can't be asked through v1.
    if (target.requires.includes('user_ip')) throw new FieldMissingError('user_ip')
    const nowSeconds = clock.unixSeconds()
    const expiration = await expiry.after(chain.name, nowSeconds, target.lifetimeSeconds)
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
        expiration,
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
      lifetimeSeconds: target.lifetimeSeconds,
    }
  }
