// Answers one decoded v2 request: finds the target, fixes everything that must not differ between two tries, and hands
// the job to the pool. Source: spec A1, decisions §2.
import type { Catalog } from '../policy/catalog.ts'
import { decideJob, type JobDependencies, jobOf, type Perform, requireTarget } from './job.ts'

export interface AttestDependencies extends JobDependencies {
  readonly catalog: Catalog
}

/** @throws PolicyMissingError, FieldMissingError, and what Pool.submit throws. */
export const createAttest =
  (dependencies: AttestDependencies): Perform =>
  async (call, context) => {
    const found = requireTarget(dependencies.catalog, context.principal, call)
    const target = found instanceof Promise ? await found : found
    const { lifetimeSeconds } = target
    const job = jobOf('attestation', call, target, context, call.request.nowSeconds + lifetimeSeconds)
    const { body, compliant } = await decideJob(dependencies, job, target, lifetimeSeconds, context, call.missing)
    return { body, compliant, lifetimeSeconds }
  }
