// Decides one decoded request, v2 (spec A1, decisions §2) or v1 (spec A2, decisions §3). Collecting facts can take
// seconds, so key, target and identity facts are then checked again: a revoked key or replaced policy never leads to a
// signature.
import type { AttestationRequest } from '../domain/attestation.ts'
import { type Chain, isTestNetwork } from '../domain/chain.ts'
import { FieldMissingError, TestKeyOnLiveChainError } from '../domain/errors.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { Pool } from '../pool/pool.ts'
import type { Job } from '../pool/protocol.ts'
import { JobOutdatedError, type PoolAnswer } from '../pool/settlement.ts'
import type { Principal } from '../server/authenticate.ts'
import type { AdmittedRequest } from '../server/gate.ts'
import { mayHaveSigned, type OnDispatch } from '../server/idempotency.ts'
import type { StageTrace } from '../telemetry/request-trace.ts'
import { findTarget, type TargetDependencies } from './find-target.ts'
import type { CollectJobFacts, JobFacts } from './job-facts.ts'
import type { DecodedRequest } from './schema.ts'

export interface Caller extends Pick<AdmittedRequest, 'requestId' | 'confirmKey'> {
  readonly principal: Pick<Principal, 'organizationId' | 'keyId' | 'environment'>
}

export interface CallContext {
  readonly caller: Caller
  /** UUID of the attestation, or id of the task (invariant 3). */
  readonly uuid: string
  /** Absolute, monotonic milliseconds (invariant 4). */
  readonly deadlineMs: number
  /** Awaited before the job is submitted to the pool. After that, the attestation may be signed. */
  readonly onDispatch: OnDispatch
  readonly trace?: StageTrace | null
}

export interface CallAnswer {
  readonly body: string
  readonly compliant: boolean
  /** Time for which the stored answer is repeated for its idempotency key. */
  readonly lifetimeSeconds: number
}

export type AttestHandler = (decoded: DecodedRequest, context: CallContext) => Promise<CallAnswer>

export interface JobDependencies extends TargetDependencies {
  readonly pool: Pick<Pool, 'submit' | 'changes'>
  readonly collectFacts: CollectJobFacts
}

export interface JobTerms {
  readonly expiration: Job['expiration']
  readonly lifetimeSeconds: number
}

export type TermsOf = (request: AttestationRequest, target: ResolvedTarget) => JobTerms | Promise<JobTerms>

const NO_FACTS: JobFacts = { text: '', confirm: null, finishCount: () => undefined }

/** Maximum attempts for a job whose key or target changes while it is in flight. */
const ATTEMPTS = 3

export type DecideRequest = (
  kind: Job['kind'],
  decoded: DecodedRequest,
  context: CallContext,
  termsOf: TermsOf,
) => Promise<CallAnswer>

/**
 * A test key uses sandbox identities, which any holder of a test key can create. Its signatures must not be valid on a
 * live chain, because test and live keys share the attesters. A task doesn't contain a chain. @throws
 * TestKeyOnLiveChainError
 */
const requireTestNetwork = (kind: Job['kind'], chain: Chain): void => {
  if (kind === 'task' || !isTestNetwork(chain)) throw new TestKeyOnLiveChainError()
}

/**
 * Waits for the latest state. Returns the pool's change count from before the read. @throws JobOutdatedError; key
 * errors of the gate
 */
const requireUnchanged = async (
  dependencies: JobDependencies,
  decoded: DecodedRequest,
  context: CallContext,
  target: ResolvedTarget,
): Promise<number> => {
  const changes = dependencies.pool.changes()
  const latest = await findTarget(dependencies, decoded, context.caller.principal.organizationId)
  await context.caller.confirmKey()
  if (latest.id !== target.id) throw new JobOutdatedError()
  return changes
}

const isLoading = (pending: unknown): boolean => {
  // The next attempt awaits the same load and throws its rejection.
  if (pending instanceof Promise) pending.catch(() => undefined)
  return pending instanceof Promise
}

/** Returns false if the key or the target is not cached. */
const isCurrent = (
  dependencies: JobDependencies,
  decoded: DecodedRequest,
  context: CallContext,
  target: ResolvedTarget,
): boolean => {
  try {
    const confirmed = context.caller.confirmKey()
    const latest = findTarget(dependencies, decoded, context.caller.principal.organizationId)
    return !isLoading(confirmed) && !isLoading(latest) && (latest as ResolvedTarget).id === target.id
  } catch {
    return false
  }
}

export const carriesFacts = ({ needs, shadowNeeds, requires, shadowRequires }: ResolvedTarget): boolean =>
  needs.length > 0 || shadowNeeds.length > 0 || shadowRequires.length > 0 || requires.includes('user_ip')

const collect = (
  { collectFacts }: JobDependencies,
  { request, missing }: DecodedRequest,
  { caller, deadlineMs, trace }: CallContext,
  target: ResolvedTarget,
): JobFacts | Promise<JobFacts> => {
  const { organizationId, projectId } = target
  const { environment } = caller.principal
  const shadowLacks = target.shadowRequires.find((field) => missing.includes(field)) ?? null
  trace?.enter('facts')
  return collectFacts(target, { request, organizationId, projectId, environment, deadlineMs }, shadowLacks, trace?.asks)
}

const submit = (
  dependencies: JobDependencies,
  job: Job,
  target: ResolvedTarget,
  changes: number,
  decoded: DecodedRequest,
  context: CallContext,
  confirmFacts: JobFacts['confirm'],
): Promise<PoolAnswer> => {
  const { pool } = dependencies
  const confirms = (): boolean => isCurrent(dependencies, decoded, context, target)
  if (confirmFacts === null) return pool.submit(job, target, changes, confirms)
  // The pool doesn't count changes of facts, because sessions change hundreds of times per second.
  const isStillCurrent = (): boolean => confirmFacts() === true && (pool.changes() === changes || confirms())
  return pool.submit(job, target, undefined, isStillCurrent)
}

/**
 * Starts again if the key, the target or a fact changes in the meantime. @param attempt counts from 1
 * @throws TestKeyOnLiveChainError; PolicyMissingError; FieldMissingError if the policy reads a field that the request
 * lacks (decisions §2); JobOutdatedError after the last attempt; the errors of `termsOf` and Pool.submit; key errors of
 * the gate
 */
const decide = async (
  dependencies: JobDependencies,
  kind: Job['kind'],
  decoded: DecodedRequest,
  context: CallContext,
  termsOf: TermsOf,
  attempt: number,
): Promise<CallAnswer> => {
  const { request, missing } = decoded
  const { caller, uuid, deadlineMs, trace } = context
  const { organizationId, keyId, environment } = caller.principal
  if (environment === 'test') requireTestNetwork(kind, request.chain)
  let changes = dependencies.pool.changes()
  const found = findTarget(dependencies, decoded, organizationId)
  const target = found instanceof Promise ? await found : found
  const confirmed = caller.confirmKey()
  if (confirmed !== undefined) await confirmed
  for (const field of target.requires) if (missing.includes(field)) throw new FieldMissingError(field)
  trace?.decides(request.chain.name, target.revisionId)
  let facts = NO_FACTS
  let submitted = false
  try {
    const asked = termsOf(request, target)
    const { expiration, lifetimeSeconds } = asked instanceof Promise ? await asked : asked
    if (asked instanceof Promise) changes = await requireUnchanged(dependencies, decoded, context, target)
    const collected = carriesFacts(target) ? collect(dependencies, decoded, context, target) : NO_FACTS
    facts = collected instanceof Promise ? await collected : collected
    const marked = context.onDispatch(lifetimeSeconds)
    if (marked !== undefined) await marked
    if (collected instanceof Promise || marked !== undefined)
      changes = await requireUnchanged(dependencies, decoded, context, target)
    if (facts.confirm !== null && !(await facts.confirm())) throw new JobOutdatedError()
    const job: Job = {
      kind,
      uuid,
      targetId: target.id,
      keyId,
      requestId: caller.requestId,
      request,
      facts: facts.text,
      expiration,
      deadlineMs,
      stages: trace?.enterPool(),
    }
    submitted = true
    const { body, compliant } = await submit(dependencies, job, target, changes, decoded, context, facts.confirm)
    // A compliant answer without a signature is submitted again, and the second submission counts.
    facts.finishCount(compliant && body !== '')
    return { body, compliant, lifetimeSeconds }
  } catch (error) {
    // A retry may still receive an answer that was signed before the failure.
    facts.finishCount(submitted && mayHaveSigned(error))
    if (!(error instanceof JobOutdatedError) || attempt === ATTEMPTS) throw error
  }
  return decide(dependencies, kind, decoded, context, termsOf, attempt + 1)
}

export const createDecideRequest =
  (dependencies: JobDependencies): DecideRequest =>
  (kind, decoded, context, termsOf) =>
    decide(dependencies, kind, decoded, context, termsOf, 1)

const attestationTerms: TermsOf = ({ nowSeconds }, { lifetimeSeconds }) => ({
  expiration: nowSeconds + lifetimeSeconds,
  lifetimeSeconds,
})

export const createAttest =
  (decide: DecideRequest): AttestHandler =>
  (decoded, context) =>
    decide('attestation', decoded, context, attestationTerms)
