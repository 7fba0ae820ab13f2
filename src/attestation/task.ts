// Answers one decoded v1 request. Source: spec A2, decisions §3.
import type { TaskRequest } from '../domain/attestation.ts'
import { FieldMissingError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { PoolAnswer } from '../pool/entry.ts'
import { EXPIRATION_UNKNOWN, type Job } from '../pool/protocol.ts'
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
    const decide = async (target: ResolvedTarget, expiration: number): Promise<PoolAnswer> => {
      // v1 has no field for the end user's address, so a policy that reads it can't be evaluated for v1.
      if (target.requires.includes('user_ip')) throw new FieldMissingError('user_ip')
      const job: Job = {
        kind: 'task',
        uuid: context.uuid,
        targetId: target.id,
        keyId: context.keyId,
        requestId: context.requestId,
        chainName: chain.name,
        chainFamily: chain.family,
        chainId: chain.chainId,
        from: request.from,
        onBehalf: request.onBehalf ?? '',
        to: request.to,
        value: request.msgValue,
        data: request.data,
        userIp: '',
        facts: '',
        requestedAtSeconds: nowSeconds,
        expiration,
        deadlineMs: context.deadlineMs,
      }
      return decideJob(dependencies, job, target, context, (field) => field === 'user_ip')
    }
    const answerOf = ({ body, compliant }: PoolAnswer, lifetimeSeconds: number): CallAnswer => ({
      body,
      compliant,
      chainName: chain.name,
      lifetimeSeconds,
    })

    const target = await resolve()
    const known = expiry.known(chain.name, nowSeconds, target.lifetimeSeconds)
    const answer = await decide(target, known?.expiration ?? EXPIRATION_UNKNOWN)
    if (answer.body !== '') return answerOf(answer, known?.lifetimeSeconds ?? target.lifetimeSeconds)
    // Only a signature needs the latest block. The policy may change while the chain is asked, so decide again.
    const expires = await expiry.after(chain.name, nowSeconds, target.lifetimeSeconds)
    return answerOf(await decide(await resolve(), expires.expiration), expires.lifetimeSeconds)
  }
