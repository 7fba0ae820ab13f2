import { EvaluationError as CelEvaluationError } from '@marcbachmann/cel-js'
import { CountersignError, ERRORS } from '../domain/errors.ts'
import { errorClassOf } from '../lib/named-error.ts'
import { FactAbsentError, FactUnavailableError } from './fact-unavailable.ts'
import { ArithmeticRangeError } from './values.ts'

/** `unavailable`: the source didn't answer. `absent`: the request lacks the fact. `expression`: such as overflow. */
export type RuleFailureReason = 'unavailable' | 'absent' | 'expression' | 'other'

const reasonOf = (cause: unknown): RuleFailureReason => {
  if (cause instanceof FactAbsentError) return 'absent'
  if (cause instanceof FactUnavailableError) return 'unavailable'
  return cause instanceof ArithmeticRangeError || cause instanceof CelEvaluationError ? 'expression' : 'other'
}

/** Contains no values from the request. */
const detailOf = (cause: unknown): string => {
  if (cause instanceof FactUnavailableError) return cause.fact
  if (cause instanceof ArithmeticRangeError) return cause.message
  return cause instanceof CelEvaluationError ? cause.code : errorClassOf(cause)
}

const PERMANENT = 'a policy rule fails for this request; retries will fail until the policy is corrected'

const FAILURE_DETAILS: Readonly<Record<RuleFailureReason, string>> = {
  unavailable: 'a fact that the policy needs is unavailable',
  absent: PERMANENT,
  expression: PERMANENT,
  other: 'the policy could not be evaluated',
}

/** A rule could not be evaluated. `POLICY_FAILED` if a retry would fail too. */
export class PolicyEvaluationError extends CountersignError {
  readonly ruleId: string
  readonly reason: RuleFailureReason
  /** Fact or kind of failure, for the log. */
  readonly subject: string

  /** @param unavailable fact that the rule read, and that a retry may find available */
  constructor(ruleId: string, failure: unknown, unavailable: FactUnavailableError | null = null) {
    const cause = unavailable ?? failure
    const reason = reasonOf(cause)
    const permanent = reason === 'absent' || reason === 'expression'
    super(permanent ? 'POLICY_FAILED' : 'DEPENDENCY_UNAVAILABLE', FAILURE_DETAILS[reason], { cause })
    this.ruleId = ruleId
    this.reason = reason
    this.subject = detailOf(cause)
  }

  /** Fact or kind of failure, with the status of the response. Contains no values from the request. */
  get summary(): string {
    const { cause } = this
    return `${cause instanceof FactUnavailableError ? cause.message : this.subject} (${ERRORS[this.code].status})`
  }
}

/** A stored revision is missing, altered, or doesn't compile. */
export class PolicyUnusableError extends CountersignError {
  constructor(cause: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the project’s policy cannot be used', {
      cause,
      retryAfterSeconds: 5,
    })
  }
}
