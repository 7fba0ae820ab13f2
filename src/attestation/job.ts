// The steps that A1 and A2 share on their way to the pool. Facts, chains and stores can take seconds: afterwards the key,
// the target and the facts about identities are checked again, so that nothing is signed for a revoked key or identity
// or under a replaced policy.
import type { AttestationRequest } from '../domain/attestation.ts'
import { FieldMissingError, PolicyMissingError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import { JobOutdatedError, type PoolAnswer } from '../pool/entry.ts'
import type { Pool } from '../pool/pool.ts'
import type { Job } from '../pool/protocol.ts'
import type { Principal } from '../server/authenticate.ts'
import type { AdmittedRequest } from '../server/gate.ts'
import { mayHaveSigned, type OnDispatch } from '../server/idempotency.ts'
import type { StageTrace } from '../telemetry/request-trace.ts'
import { type CollectJobFacts, carriesFacts, type JobFacts } from './job-facts.ts'

/** A decoded call: the request, and what is needed only until its target is found. */
export interface DecodedRequest {
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
  readonly confirmKey: AdmittedRequest['confirmKey']
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

export type AttestHandler = (call: DecodedRequest, context: CallContext) => Promise<CallAnswer>

export interface JobDependencies {
  readonly catalog: Pick<Catalog, 'resolveBinding' | 'resolveProject'>
  readonly pool: Pick<Pool, 'submit' | 'changes'>
  readonly collectFacts: CollectJobFacts
}

/** What a job signs if its verdict is compliant. */
export interface JobTerms {
  readonly expiration: Job['expiration']
  /** How long the signature can be used. */
  readonly lifetimeSeconds: number
}

/** How often a job is tried whose key or target changes on its way. */
const ATTEMPTS = 3

const required = (target: ResolvedTarget | null, { targetBy, targetText }: DecodedRequest): ResolvedTarget => {
  if (target === null) throw new PolicyMissingError(targetBy, targetText)
  return target
}

const jobOf = (
  kind: Job['kind'],
  { request }: DecodedRequest,
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

/** Decides a call under the revision that is active when a worker gets its job. */
export type Decide = (
  kind: Job['kind'],
  call: DecodedRequest,
  context: CallContext,
  termsOf: (target: ResolvedTarget) => JobTerms | Promise<JobTerms>,
) => Promise<CallAnswer>

export const createDecide = ({ catalog, pool, collectFacts }: JobDependencies): Decide => {
  /**
   * Returns synchronously when the target is cached.
   * @throws PolicyMissingError (spec, Errors row 1), also for a target that another organization owns; thrown or
   *   rejected alike
   */
  const findTarget = (call: DecodedRequest, { principal }: CallContext): ResolvedTarget | Promise<ResolvedTarget> => {
    const { request, targetBy, targetText } = call
    const { organizationId } = principal
    const found =
      targetBy === 'address'
        ? catalog.resolveBinding(organizationId, request.chain.name, request.to)
        : catalog.resolveProject(organizationId, targetText)
    return found instanceof Promise ? found.then((target) => required(target, call)) : required(found, call)
  }

  /**
   * Waits for the latest state. Returns the number of changes before it was read.
   * @throws JobOutdatedError; for the key, what the gate throws
   */
  const requireCurrent = async (
    call: DecodedRequest,
    context: CallContext,
    target: ResolvedTarget,
  ): Promise<number> => {
    const changes = pool.changes()
    const latest = await findTarget(call, context)
    await context.confirmKey()
    if (latest.id !== target.id) throw new JobOutdatedError()
    return changes
  }

  /** Whether the caches confirm the key and the target; false if one is not cached. */
  const isCurrent = (call: DecodedRequest, context: CallContext, target: ResolvedTarget): boolean => {
    // The next attempt waits for what is loading, and throws what it rejects with.
    const isLoading = (pending: unknown): boolean => {
      if (pending instanceof Promise) pending.catch(() => undefined)
      return pending instanceof Promise
    }
    try {
      const confirmed = context.confirmKey()
      const latest = findTarget(call, context)
      return !isLoading(confirmed) && !isLoading(latest) && (latest as ResolvedTarget).id === target.id
    } catch {
      return false
    }
  }

  const submit = (
    call: DecodedRequest,
    context: CallContext,
    target: ResolvedTarget,
    job: Job,
    changes: number,
    confirmFacts: JobFacts['confirm'] = null,
  ): Promise<PoolAnswer> => {
    const { trace = null } = context
    const traced = trace === null ? job : { ...job, stages: trace.enterPool() }
    if (confirmFacts === null) return pool.submit(traced, target, changes, () => isCurrent(call, context, target))
    // The pool does not count changes of facts, because sessions change hundreds of times a second.
    return pool.submit(
      traced,
      target,
      undefined,
      () => confirmFacts() === true && (pool.changes() === changes || isCurrent(call, context, target)),
    )
  }

  const decideOnFacts = async (
    call: DecodedRequest,
    context: CallContext,
    target: ResolvedTarget,
    job: Job,
    usableSeconds: number,
  ): Promise<PoolAnswer> => {
    const { onDispatch, trace = null } = context
    const shadowless = target.shadowRequires.some((field) => call.missing.includes(field))
    trace?.enter('facts')
    const collected = collectFacts(target, subjectOf(job, target, context), shadowless, trace?.asks)
    const facts = collected instanceof Promise ? await collected : collected
    let submitted = false
    try {
      const marked = onDispatch(usableSeconds)
      if (marked !== undefined) await marked
      const changes = await requireCurrent(call, context, target)
      const confirmed = facts.confirm?.() ?? true
      if (!(confirmed instanceof Promise ? await confirmed : confirmed)) throw new JobOutdatedError()
      submitted = true
      const answer = await submit(call, context, target, { ...job, facts: facts.text }, changes, facts.confirm)
      // If a compliant answer was not signed yet, the job is submitted again, and that time it counts.
      facts.settle(answer.compliant && answer.body !== '')
      return answer
    } catch (error) {
      // A retry may still get an answer that was signed before the failure.
      facts.settle(submitted && mayHaveSigned(error))
      throw error
    }
  }

  const decideJob = (
    call: DecodedRequest,
    context: CallContext,
    target: ResolvedTarget,
    job: Job,
    usableSeconds: number,
    changes: number,
  ): Promise<PoolAnswer> => {
    for (const field of target.requires) if (call.missing.includes(field)) throw new FieldMissingError(field)
    context.trace?.decides(job.request.chain.name, target.revisionId)
    if (carriesFacts(target)) return decideOnFacts(call, context, target, job, usableSeconds)
    const marked = context.onDispatch(usableSeconds)
    if (marked === undefined) return submit(call, context, target, job, changes)
    return marked
      .then(() => requireCurrent(call, context, target))
      .then((latest) => submit(call, context, target, job, latest))
  }

  /**
   * @throws PolicyMissingError; FieldMissingError when the active policy reads a field that the request lacks: it can't
   *   be evaluated, which is an error and never a verdict (decisions §2); what `termsOf` and Pool.submit throw; for the
   *   key, what the gate throws
   */
  return async (kind, call, context, termsOf) => {
    for (let attempt = 1; ; attempt++) {
      let changes = pool.changes()
      const found = findTarget(call, context)
      const target = found instanceof Promise ? await found : found
      const confirmed = context.confirmKey()
      if (confirmed !== undefined) await confirmed
      try {
        const asked = termsOf(target)
        const { expiration, lifetimeSeconds } = asked instanceof Promise ? await asked : asked
        if (asked instanceof Promise) changes = await requireCurrent(call, context, target)
        const job = jobOf(kind, call, target, context, expiration)
        const { body, compliant } = await decideJob(call, context, target, job, lifetimeSeconds, changes)
        return { body, compliant, lifetimeSeconds }
      } catch (error) {
        if (!(error instanceof JobOutdatedError) || attempt === ATTEMPTS) throw error
      }
    }
  }
}
