// Answers one decoded v1 request. Source: spec A2, decisions §3.
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { PoolAnswer } from '../pool/entry.ts'
import type { TaskExpiry } from './expiry.ts'
import { decideJob, type JobDependencies, jobOf, type Perform, requireTarget } from './job.ts'

export interface TaskDependencies extends JobDependencies {
  readonly catalog: Catalog
  readonly expiry: TaskExpiry
}

/** @throws PolicyMissingError, FieldMissingError, DependencyUnavailableError, and what Pool.submit throws. */
export const createEvaluateTask =
  (dependencies: TaskDependencies): Perform =>
  async (call, context) => {
    const { catalog, expiry } = dependencies
    const { chain, nowSeconds } = call.request
    const decide = (target: ResolvedTarget, expiration: number | null, usableSeconds: number): Promise<PoolAnswer> => {
      const job = jobOf('task', call, target, context, expiration)
      return decideJob(dependencies, job, target, usableSeconds, context, call.missing)
    }

    const target = await requireTarget(catalog, context.principal, call)
    const known = expiry.known(chain.name, nowSeconds, target.lifetimeSeconds)
    const knownSeconds = known?.lifetimeSeconds ?? target.lifetimeSeconds
    const { body, compliant } = await decide(target, known?.expiration ?? null, knownSeconds)
    if (body !== '') return { body, compliant, lifetimeSeconds: knownSeconds }
    // Only a signature needs the latest block. The policy may change while the chain is asked, so decide again.
    const { expiration, lifetimeSeconds } = await expiry.after(chain.name, nowSeconds, target.lifetimeSeconds)
    const latest = await requireTarget(catalog, context.principal, call)
    const signed = await decide(latest, expiration, lifetimeSeconds)
    return { body: signed.body, compliant: signed.compliant, lifetimeSeconds }
  }
