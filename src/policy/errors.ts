// Errors of policies: mistakes in a policy's text, each with its position, and failures of one evaluation. A failed
// evaluation is never a verdict (invariant 1).

import { EvaluationError as CelEvaluationError } from '@marcbachmann/cel-js'
import { CountersignError } from '../domain/errors.ts'
import { counted } from '../lib/counted.ts'
import { errorClassOf } from '../lib/named-error.ts'
import { FactAbsentError, FactUnavailableError } from './fact-unavailable.ts'
import { ArithmeticRangeError } from './values.ts'

/** One mistake in a policy's text. Lines and columns count from 1; columns count UTF-16 code units. */
export interface PolicyIssue {
  readonly line: number
  readonly column: number
  /** One sentence in plain language. */
  readonly message: string
  /**
   * JSON pointer (RFC 6901) to the position in the document, for example `/rules/2/deny`. Empty for the whole document.
   */
  readonly pointer: string
}

/** Maximum number of issues reported at once. Compilation stops at this number. */
export const ISSUES_MAX = 100
/** Maximum length of a displayed line. A longer line is shown as an excerpt around the column. */
const MAX_EXCERPT = 120

const excerpt = (sourceLine: string, column: number): string => {
  const from = column > MAX_EXCERPT - 20 ? column - (MAX_EXCERPT - 40) : 0
  const shown = sourceLine.slice(from, from + MAX_EXCERPT)
  // Keep tabs in the padding, so that the caret is below the column for any tab width.
  const padding = sourceLine.slice(from, Math.max(from, column - 1)).replace(/[^\t]/g, ' ')
  return `${shown}\n${padding}^`
}

/** Formats each issue with its source line and a caret below its position. */
export const renderIssues = (source: string, issues: readonly PolicyIssue[]): string => {
  const lastLine = Math.max(0, ...issues.map(({ line }) => line))
  const lines = source.split(/\r?\n/, lastLine)
  return issues
    .map(({ line, column, message, pointer }) => {
      const head = `${line}:${column} ${pointer === '' ? '' : `${pointer} `}${message}`
      const sourceLine = lines[line - 1]
      if (sourceLine === undefined || sourceLine.trim() === '') return head
      return `${head}\n${excerpt(sourceLine, column).replace(/^/gm, '    ')}`
    })
    .join('\n')
}

export const inReadingOrder = (a: PolicyIssue, b: PolicyIssue): number => a.line - b.line || a.column - b.column

/**
 * A policy that cannot be saved. `issues` contains every mistake in reading order; `message` shows each with its source
 * line and a caret. `detail` contains no part of the source, because people other than the author may read it.
 */
export class PolicyInvalidError extends CountersignError {
  readonly issues: readonly PolicyIssue[]
  /** Warnings, if only the document's tests fail. */
  readonly warnings: readonly PolicyIssue[]

  constructor(source: string, issues: readonly PolicyIssue[], warnings: readonly PolicyIssue[] = []) {
    super('INVALID_REQUEST', `the policy has ${counted(issues.length, 'mistake', 'mistakes')}`)
    this.issues = [...issues].sort(inReadingOrder).slice(0, ISSUES_MAX)
    this.warnings = warnings
    this.message = renderIssues(source, this.issues)
  }
}

/**
 * Why a rule failed. A fact is `unavailable` if its source did not answer, and `absent` if the request does not have it.
 * `expression` is arithmetic out of range, a division by zero or an index past the end.
 */
export type RuleFailureReason = 'unavailable' | 'absent' | 'expression' | 'other'

const reasonOf = (cause: unknown): RuleFailureReason => {
  if (cause instanceof FactAbsentError) return 'absent'
  if (cause instanceof FactUnavailableError) return 'unavailable'
  return cause instanceof ArithmeticRangeError || cause instanceof CelEvaluationError ? 'expression' : 'other'
}

/** Contains names of the policy and fixed texts, but no values of the request. */
const detailOf = (cause: unknown): string => {
  if (cause instanceof FactUnavailableError) return cause.fact
  if (cause instanceof ArithmeticRangeError) return cause.message
  return cause instanceof CelEvaluationError ? cause.code : errorClassOf(cause)
}

const PERMANENT = 'a rule of the policy fails for this request; a retry fails too, until the policy is corrected'

const FAILURE_DETAILS: Readonly<Record<RuleFailureReason, string>> = {
  unavailable: 'a fact that the policy needs is not available',
  absent: PERMANENT,
  expression: PERMANENT,
  other: 'the policy could not be evaluated',
}

/**
 * A rule could not be evaluated, so there is no verdict. `POLICY_FAILED` if a retry fails in the same way: the author
 * has to correct the rule. The cause is not shown to callers.
 */
export class PolicyEvaluationError extends CountersignError {
  /** Id of the failed rule, for logs and metrics. */
  readonly ruleId: string
  readonly reason: RuleFailureReason
  /** The fact or the kind of failure, for the log. */
  readonly subject: string

  /** @param unavailable a fact that the rule read and that may be available in a retry */
  constructor(ruleId: string, failure: unknown, unavailable: FactUnavailableError | null = null) {
    const cause = unavailable ?? failure
    const reason = reasonOf(cause)
    const detail = FAILURE_DETAILS[reason]
    super(detail === PERMANENT ? 'POLICY_FAILED' : 'DEPENDENCY_UNAVAILABLE', detail, { cause })
    this.ruleId = ruleId
    this.reason = reason
    this.subject = detailOf(cause)
  }
}

/**
 * A stored revision that cannot be evaluated: it is missing, was altered or does not compile. There is no verdict
 * and no signature until it is repaired.
 */
export class PolicyUnusableError extends CountersignError {
  constructor(cause: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the policy of this project cannot be used at the moment', {
      cause,
      retryAfterSeconds: 5,
    })
  }
}
