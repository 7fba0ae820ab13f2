// The steps that A1 and A2 share on their way to the pool: who makes the request, and which target decides it.
import type { AttestationRequest } from '../domain/attestation.ts'
import { FieldMissingError, PolicyMissingError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import type { Principal } from '../http/authenticate.ts'
import { mayHaveSigned, type OnDispatch } from '../http/idempotency.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { PoolAnswer } from '../pool/entry.ts'
import type { Pool } from '../pool/pool.ts'
import type { Job } from '../pool/protocol.ts'
import type { StageTrace } from '../telemetry/request-trace.ts'
import { type CollectJobFacts, carriesFacts } from './job-facts.ts'

/** A decoded call: the request, and what is needed only until its target is found. */
export interface DecodedCall {
  readonly request: AttestationRequest
  readonly targetBy: 'address' | 'verification hash'
  /** `to` as the caller spelled it, for the text of Errors row 1 only, or the verification hash. */
  readonly targetText: string
  /** Optional fields that the caller left out; the request has their defaults. */
  readonly missing: readonly OptionalField[]
}

/** Who makes the request, and everything that stays the same over all tries of it. */
export interface CallContext {
  readonly principal: Pick<Principal, 'organizationId' | 'keyId' | 'environment'>
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
  /** How long the stored answer is repeated for its idempotency key. */
  readonly lifetimeSeconds: number
}

export type Perform = (call: DecodedCall, context: CallContext) => Promise<CallAnswer>

const required = (target: ResolvedTarget | null, { targetBy, targetText }: DecodedCall): ResolvedTarget => {
  if (target === null) throw new PolicyMissingError(targetBy, targetText)
  return target
}

/**
 * Returns synchronously when the target is cached.
 * @throws PolicyMissingError (spec, Errors row 1), also for a target that another organization owns; thrown or rejected
 *   alike
 */
export const requireTarget = (
  catalog: Catalog,
  { organizationId }: CallContext['principal'],
  call: DecodedCall,
): ResolvedTarget | Promise<ResolvedTarget> => {
  const { request, targetBy, targetText } = call
  const found =
    targetBy === 'address'
      ? catalog.resolveBinding(organizationId, request.chain.name, request.to)
      : catalog.resolveProject(organizationId, targetText)
  return found instanceof Promise ? found.then((target) => required(target, call)) : required(found, call)
}

export interface JobDependencies {
  readonly pool: Pick<Pool, 'submit'>
  readonly collectFacts: CollectJobFacts
}

export const jobOf = (
  kind: Job['kind'],
  { request }: DecodedCall,
  target: ResolvedTarget,
  { principal, requestId, uuid, deadlineMs }: CallContext,
  expiration: Job['expiration'],
): Job => ({
  kind,
  uuid,
  targetId: target.id,
  keyId: principal.keyId,
  requestId,
  request,
  facts: '',
  expiration,
  deadlineMs,
})

const subjectOf = ({ request, deadlineMs }: Job, target: ResolvedTarget, { principal }: CallContext): FactSubject => ({
  request,
  organizationId: target.organizationId,
  projectId: target.projectId,
  environment: principal.environment,
  deadlineMs,
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
  usableSeconds: number,
  { onDispatch, trace = null }: CallContext,
): Promise<PoolAnswer> => {
  trace?.enter('facts')
  const collected = collectFacts(target, subject, shadowless, trace?.asks)
  const facts = collected instanceof Promise ? await collected : collected
  let submitted = false
  try {
    const marked = onDispatch(usableSeconds)
    if (marked !== undefined) await marked
    submitted = true
    const answer = await submit(pool, { ...job, facts: facts.text }, target, trace)
    // If a compliant answer was not signed yet, the job is submitted again, and that time it counts.
    facts.settle(answer.compliant && answer.body !== '')
    return answer
  } catch (error) {
    // A retry may still get an answer that was signed before the failure.
    facts.settle(submitted && mayHaveSigned(error))
    throw error
  }
}

/**
 * Has a job decided, with the facts that its policy needs.
 * @param usableSeconds how long the signature can be used
 * @param missing optional fields that the request lacks
 * @throws FieldMissingError when the active policy reads one of them: it can't be evaluated, which is an error and never
 *   a verdict (decisions §2); and what Pool.submit throws
 */
export const decideJob = (
  dependencies: JobDependencies,
  job: Job,
  target: ResolvedTarget,
  usableSeconds: number,
  context: CallContext,
  missing: DecodedCall['missing'],
): Promise<PoolAnswer> => {
  for (const field of target.requires) if (missing.includes(field)) throw new FieldMissingError(field)
  const { onDispatch, trace = null } = context
  trace?.decides(job.request.chain.name, target.revisionId)
  if (!carriesFacts(target)) {
    const marked = onDispatch(usableSeconds)
    if (marked === undefined) return submit(dependencies.pool, job, target, trace)
    return marked.then(() => submit(dependencies.pool, job, target, trace))
  }
  const shadowless = target.shadowRequires.some((field) => missing.includes(field))
  return decideOnFacts(dependencies, job, target, subjectOf(job, target, context), shadowless, usableSeconds, context)
}
