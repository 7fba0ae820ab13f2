// One job, from the request to its decision record: evaluate, and sign if compliant. A denial is a record like any other;
// a failure has none and carries no signature (invariant 1). Nothing is evaluated or signed past the deadline
// (invariant 4).
import type { DecisionRecord } from '../src/decisions/types.ts'
import type { ErrorCode } from '../src/domain/errors.ts'
import type { Target } from '../src/domain/target.ts'
import type { Verdict } from '../src/domain/verdict.ts'
import { PolicyEvaluationError, PolicyUnusableError } from '../src/policy/errors.ts'
import type { RequestFacts } from '../src/policy/types.ts'
import type { Job } from '../src/pool/protocol.ts'
import type { DispatchedJob } from '../src/pool/wire.ts'
import { SignerUnusableError } from '../src/signing/errors.ts'
import type { Policies } from './policies.ts'
import { AttestersMissingError, type Sign, type Signatures } from './sign.ts'

/** The worker's clocks: monotonic for deadlines, wall time for records. */
export interface WorkerClock {
  monotonicMs(): number
  unixMs(): number
}

export type Decision =
  | { readonly status: 'decided'; readonly record: DecisionRecord }
  | { readonly status: 'undefined-target' }
  | Failure

export interface Failure {
  readonly status: 'failed'
  readonly code: ErrorCode
  readonly detail: string
  /** Class of what went wrong, for the log. */
  readonly errorClass: string | null
}

export const TOO_LATE: Failure = {
  status: 'failed',
  code: 'DEADLINE_EXCEEDED',
  detail: 'validation took longer than the deadline; retry with exponential backoff',
  errorClass: null,
}

export interface DecideDependencies {
  readonly policies: Policies
  /** The present keys: a rotation replaces it between two jobs. */
  readonly sign: () => Sign
  readonly clock: WorkerClock
}

const NOTHING_SIGNED: Signatures = { attesters: [], signatures: [] }
const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

const factsOf = (job: Job): RequestFacts => ({
  chainName: job.chainName,
  chainFamily: job.chainId === 0 ? 'solana' : 'evm',
  chainId: job.chainId,
  from: job.from,
  to: job.to,
  value: job.value,
  data: job.data,
  userIp: job.userIp,
  // Of the request, not of this try: a second one must not decide otherwise.
  nowSeconds: job.requestedAtSeconds,
})

const recordOf = (job: Job, target: Target, verdict: Verdict, signed: Signatures, at: number): DecisionRecord => {
  const { data } = job
  const record: DecisionRecord = {
    kind: job.kind,
    uuid: job.uuid,
    at,
    organization: target.organizationId,
    project: target.projectId,
    key: job.keyId,
    request: job.requestId,
    policy: target.policyId,
    revision: target.revisionId,
    verification_hash: target.verificationHash,
    chain: job.chainName,
    from: job.from,
    to: job.to,
    value: job.value,
    data_sha256: data === '0x' ? SHA256_OF_NOTHING : Bun.SHA256.hash(Uint8Array.fromHex(data.slice(2)), 'hex'),
    data_size: (data.length - 2) / 2,
    compliant: verdict.compliant,
    rule: verdict.ruleId,
    expiration: verdict.compliant ? job.expiration : 0,
    attesters: signed.attesters,
    signatures: signed.signatures,
    policy_name: target.policyName,
  }
  if (verdict.compliant || (verdict.code === undefined && verdict.message === undefined)) return record
  const { code, message } = verdict
  return { ...record, ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) }
}

const failed = (code: ErrorCode, detail: string, errorClass: string): Failure => ({
  status: 'failed',
  code,
  detail,
  errorClass,
})

/** Chosen words for the caller; of the error itself only its class goes further. */
const failureOf = (error: unknown): Failure => {
  const errorClass = error instanceof Error ? error.name : typeof error
  if (error instanceof PolicyEvaluationError || error instanceof PolicyUnusableError) {
    return failed('DEPENDENCY_UNAVAILABLE', 'the policy could not be evaluated', errorClass)
  }
  if (error instanceof AttestersMissingError) return failed('DEPENDENCY_UNAVAILABLE', error.detail, errorClass)
  if (error instanceof SignerUnusableError) {
    return failed('DEPENDENCY_UNAVAILABLE', 'the attester key could not sign', errorClass)
  }
  return failed('INTERNAL', 'the request could not be processed', errorClass)
}

/** Never throws. */
export const createDecide = ({ policies, sign, clock }: DecideDependencies): ((job: DispatchedJob) => Decision) => {
  const isTooLate = (job: DispatchedJob): boolean => clock.monotonicMs() >= job.deadlineMs
  return (job) => {
    if (isTooLate(job)) return TOO_LATE
    try {
      const definition = policies.find(job.targetId)
      if (definition === undefined) return { status: 'undefined-target' }
      const { target, policy } = definition
      const verdict = policy.evaluate(factsOf(job))
      if (verdict.compliant && isTooLate(job)) return TOO_LATE
      const signed = verdict.compliant ? sign()(job, target) : NOTHING_SIGNED
      return { status: 'decided', record: recordOf(job, target, verdict, signed, clock.unixMs()) }
    } catch (error) {
      return failureOf(error)
    }
  }
}
