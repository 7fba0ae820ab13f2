// Decides one job: evaluates the policy, signs a compliant verdict, and returns the decision record. A failure has
// neither a record nor a signature (invariant 1). Nothing is evaluated or signed after the deadline (invariant 4).
import type { DecisionRecord, ShadowVerdict } from '../../src/decision-log/types.ts'
import { DependencyUnavailableError, type ErrorCode } from '../../src/domain/errors.ts'
import type { WorkerStages } from '../../src/domain/job-stages.ts'
import type { Target } from '../../src/domain/target.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { listVerdict } from '../../src/policy/evaluate.ts'
import { PolicyEvaluationError, PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import type { CarriedFacts, EvaluationFacts, ListReaders } from '../../src/policy/types/facts.ts'
import type { Job, RuleFailure, SignableJob } from '../../src/pool/protocol.ts'
import type { DispatchedJob } from '../../src/pool/wire.ts'
import {
  AttesterMismatchError,
  SignerUnusableError,
  TokenUnavailableError,
  TokenUnusableError,
} from '../../src/signing/errors.ts'
import { createListJournal, recordedFactsOf, shadowFactsOf } from './facts.ts'
import type { Definition, Policies } from './policies.ts'
import { boundedFacts, recordOf } from './record.ts'
import { AttestersMissingError, type Sign, type Signatures } from './sign.ts'

export interface WorkerClock {
  monotonicMs(): number
  unixMs(): number
}

export type Decision =
  | { readonly status: 'decided'; readonly record: DecisionRecord }
  | { readonly status: 'target-not-cached' }
  /** The lease has ended. The worker must not decide until it is renewed. */
  | { readonly status: 'lease-ended' }
  /** Compliant, but the job has no expiration, so nothing was signed. */
  | { readonly status: 'unsigned' }
  /** The policy is being compiled. Decide the job when it is ready. */
  | { readonly status: 'preparing' }
  | Failure

export interface Failure {
  readonly status: 'failed'
  readonly code: ErrorCode
  readonly detail: string
  readonly errorClass: string | null
  readonly rule?: RuleFailure
}

export const TOO_LATE: Failure = {
  status: 'failed',
  code: 'DEADLINE_EXCEEDED',
  detail: 'validation took longer than the deadline; retry with exponential backoff',
  errorClass: null,
}

export interface DecideDependencies {
  readonly policies: Policies
  readonly lists: ListReaders
  /** A rotation may replace the function between two jobs. */
  readonly signer: { readonly sign: Sign }
  readonly clock: WorkerClock
}

const NOTHING_SIGNED: Signatures = { attesters: [], signatures: [] }

const hasExpiration = (job: Job): job is SignableJob => job.expiration !== null

const failed = (code: ErrorCode, detail: string, errorClass: string): Failure => ({
  status: 'failed',
  code,
  detail,
  errorClass,
})

/** Returns a failure with a message for the caller. Only the error's class is passed on, not its message. */
const failureOf = (error: unknown, target: Target | undefined): Failure => {
  const errorClass = errorClassOf(error)
  if (error instanceof PolicyEvaluationError) {
    const { code, detail, ruleId, reason, subject } = error
    const failure = failed(code, detail, errorClass)
    if (target === undefined) return failure
    return { ...failure, rule: { policy: target.policyId, revision: target.revisionId, rule: ruleId, reason, subject } }
  }
  if (error instanceof PolicyUnusableError) {
    return failed('DEPENDENCY_UNAVAILABLE', 'the policy could not be evaluated', errorClass)
  }
  if (error instanceof DependencyUnavailableError) return failed(error.code, error.detail, errorClass)
  if (error instanceof AttestersMissingError) return failed('DEPENDENCY_UNAVAILABLE', error.detail, errorClass)
  if (
    error instanceof TokenUnavailableError ||
    error instanceof TokenUnusableError ||
    error instanceof AttesterMismatchError
  ) {
    const detail = 'the attester key is in a hardware token that cannot sign now; retry with exponential backoff'
    return failed('DEPENDENCY_UNAVAILABLE', detail, `${error.name}: ${error.detail}`)
  }
  if (error instanceof SignerUnusableError) {
    return failed('DEPENDENCY_UNAVAILABLE', 'the attester key could not sign', errorClass)
  }
  return failed('INTERNAL', 'the request could not be processed', errorClass)
}

/** The organization's own lists take precedence, as for the active revision. */
const shadowVerdictOf = (
  { target, shadow }: Definition,
  facts: EvaluationFacts,
  carried: CarriedFacts | null,
  fromLists: Verdict | null,
): ShadowVerdict | null => {
  if (shadow === null || target.shadowRevisionId === null) return null
  const revision = target.shadowRevisionId
  if (fromLists !== null) return { revision, compliant: fromLists.compliant, rule: fromLists.ruleId }
  const none = { revision, compliant: null, rule: null }
  if (shadow === 'unusable') return { ...none, failure: 'this version cannot use the revision' }
  if (carried?.shadowless !== undefined) return { ...none, failure: carried.shadowless }
  try {
    const { compliant, ruleId } = shadow.evaluate(shadowFactsOf(facts, carried))
    return { revision, compliant, rule: ruleId }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) return { ...none, failure: errorClassOf(error) }
    return { ...none, rule: error.ruleId, failure: error.summary }
  }
}

const asksForLists = ({ policy, shadow }: Definition): boolean =>
  policy.needs.some(({ kind }) => kind === 'list') ||
  (shadow !== null && shadow !== 'unusable' && shadow.needs.some(({ kind }) => kind === 'list'))

/** The returned function never throws. */
export const createDecide = (dependencies: DecideDependencies): ((job: DispatchedJob) => Decision) => {
  const { policies, lists, signer, clock } = dependencies
  const reach = ({ stages }: DispatchedJob, stage: keyof WorkerStages): void => {
    if (stages !== undefined) stages.worker[stage] = clock.monotonicMs()
  }
  const isTooLate = (job: DispatchedJob): boolean => clock.monotonicMs() >= job.deadlineMs

  const decide = (job: DispatchedJob, definition: Definition): Decision => {
    const { target, policy } = definition
    reach(job, 'evaluatingMs')
    const reader = lists.of(target.organizationId)
    const carried = job.facts === '' ? null : (JSON.parse(job.facts) as CarriedFacts)
    const journal = asksForLists(definition) ? createListJournal(reader) : null
    const { request } = job
    const facts: EvaluationFacts = { request, external: carried ?? undefined, lists: journal ?? undefined }
    const fromLists = listVerdict(reader, request.from, request.onBehalf)
    const verdict = fromLists ?? policy.evaluate(facts)
    if (verdict.compliant && isTooLate(job)) return TOO_LATE
    const signable = verdict.compliant && hasExpiration(job) ? job : null
    if (verdict.compliant && signable === null) return { status: 'unsigned' }
    const shadow = shadowVerdictOf(definition, facts, carried, fromLists)
    reach(job, 'signingMs')
    const signed = signable === null ? NOTHING_SIGNED : signer.sign(signable, target)
    if (signable !== null) reach(job, 'decidedMs')
    const expiration = signable?.expiration ?? 0
    const recorded = carried === null && journal === null ? null : recordedFactsOf(carried, journal)
    const bounded = recorded === null ? null : boundedFacts(recorded)
    const record = recordOf({ job, target, verdict, signed, expiration, facts: bounded, shadow, at: clock.unixMs() })
    return { status: 'decided', record }
  }

  return (job) => {
    if (isTooLate(job)) return TOO_LATE
    let definition: Definition | 'preparing' | undefined
    try {
      definition = policies.find(job.targetId)
      if (definition === undefined) return { status: 'target-not-cached' }
      return definition === 'preparing' ? { status: 'preparing' } : decide(job, definition)
    } catch (error) {
      return failureOf(error, definition === 'preparing' ? undefined : definition?.target)
    }
  }
}
