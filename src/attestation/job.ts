// The steps that A1 and A2 share on their way to the pool: who makes the request, and which target decides it.
import type { WalletAddress } from '../domain/address.ts'
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import { DeadlineExceededError, PolicyMissingError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import type { OnDispatch } from '../http/idempotency.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { PoolAnswer } from '../pool/entry.ts'
import type { Pool } from '../pool/pool.ts'
import type { Job } from '../pool/protocol.ts'
import type { StageTrace } from '../telemetry/request-trace.ts'
import { type CollectJobFacts, carriesFacts } from './job-facts.ts'

/** Who makes the request, and everything that stays the same over all tries of it. */
export interface CallContext {
  readonly organizationId: string
  readonly keyId: string
  readonly environment: ApiKeyEnvironment
  readonly requestId: string
  /** The attestation's uuid or the task's id (invariant 3). */
  readonly uuid: string
  /** Absolute, monotonic milliseconds (invariant 4). */
  readonly deadlineMs: number
  /** Called before the job goes to the pool; a returned promise is awaited. From then on the job may be signed. */
  readonly onDispatch: OnDispatch
  /** Null: the request is not traced. */
  readonly trace?: StageTrace | null
}

/** The complete body of a 200. */
export interface CallAnswer {
  readonly body: string
  readonly compliant: boolean
  readonly chainName: string
  /** How long the stored answer is repeated for its idempotency key. */
  readonly lifetimeSeconds: number
}

const required = (
  target: ResolvedTarget | null,
  by: 'address' | 'verification hash',
  value: string,
): ResolvedTarget => {
  if (target === null) throw new PolicyMissingError(by, value)
  return target
}

/**
 * Returns synchronously when the target is cached.
 * @throws PolicyMissingError (spec, Errors row 1), also for a target that another organization owns; thrown or rejected
 *   alike
 */
export const requireBinding = (
  catalog: Catalog,
  organizationId: string,
  chainName: string,
  address: WalletAddress,
  addressAsSent: string,
): ResolvedTarget | Promise<ResolvedTarget> => {
  const found = catalog.resolveBinding(organizationId, chainName, address)
  return found instanceof Promise
    ? found.then((target) => required(target, 'address', addressAsSent))
    : required(found, 'address', addressAsSent)
}

/** @throws PolicyMissingError, as requireBinding. */
export const requireProject = (
  catalog: Catalog,
  organizationId: string,
  verificationHash: string,
): ResolvedTarget | Promise<ResolvedTarget> => {
  const found = catalog.resolveProject(organizationId, verificationHash)
  return found instanceof Promise
    ? found.then((target) => required(target, 'verification hash', verificationHash))
    : required(found, 'verification hash', verificationHash)
}

export interface JobDependencies {
  readonly pool: Pick<Pool, 'submit'>
  readonly collectFacts: CollectJobFacts
}

const subjectOf = (job: Job, target: ResolvedTarget, { environment }: CallContext): FactSubject => ({
  organizationId: target.organizationId,
  projectId: target.projectId,
  environment,
  chainName: job.chainName,
  chainFamily: job.chainFamily,
  chainId: job.chainId,
  from: job.from,
  onBehalf: job.onBehalf,
  to: job.to,
  value: job.value,
  data: job.data,
  userIp: job.userIp,
  nowSeconds: job.requestedAtSeconds,
  deadlineMs: job.deadlineMs,
})

const submit = (
  pool: JobDependencies['pool'],
  job: Job,
  target: ResolvedTarget,
  trace: StageTrace | null,
): Promise<PoolAnswer> => pool.submit(trace === null ? job : { ...job, stages: trace.enterPool() }, target)

const decideOnFacts = async (
  { pool, collectFacts }: JobDependencies,
  job: Job,
  target: ResolvedTarget,
  subject: FactSubject,
  shadowless: boolean,
  { onDispatch, trace = null }: CallContext,
): Promise<PoolAnswer> => {
  trace?.enter('facts')
  const collected = collectFacts(target, subject, shadowless, trace?.asks)
  const facts = collected instanceof Promise ? await collected : collected
  try {
    const marked = onDispatch()
    if (marked !== undefined) await marked
    const answer = await submit(pool, { ...job, facts: facts.text }, target, trace)
    // If a compliant answer was not signed yet, the job is submitted again, and that time it counts.
    facts.settle(answer.compliant && answer.body !== '')
    return answer
  } catch (error) {
    // After the deadline the job may have been signed, and a retry may still get the signed answer: so it counts.
    facts.settle(error instanceof DeadlineExceededError)
    throw error
  }
}

/**
 * Has a job decided, with the facts that its policy needs. `isMissing` tells which optional fields the request lacks;
 * the fields that the active policy reads were checked before.
 * @throws what Pool.submit throws
 */
export const decideJob = (
  dependencies: JobDependencies,
  job: Job,
  target: ResolvedTarget,
  context: CallContext,
  isMissing: (field: OptionalField) => boolean,
): Promise<PoolAnswer> => {
  const { onDispatch, trace = null } = context
  trace?.decides(job.chainName, target.revisionId)
  if (!carriesFacts(target)) {
    const marked = onDispatch()
    if (marked === undefined) return submit(dependencies.pool, job, target, trace)
    return marked.then(() => submit(dependencies.pool, job, target, trace))
  }
  const shadowless = target.shadowRequires.some(isMissing)
  return decideOnFacts(dependencies, job, target, subjectOf(job, target, context), shadowless, context)
}
