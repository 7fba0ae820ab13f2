// Decides a session with a policy. Unclear cases are left to a person (invariants 1 and 12): a `review` rule, no
// matching rule, a failing rule, or an uncleared hit.
import { PolicyEvaluationError } from './evaluation-errors.ts'
import { FactUnavailableError } from './fact-unavailable.ts'
import type { PolicyProgram } from './types/program.ts'
import type { SessionFacts } from './types/session-facts.ts'

export interface SessionVerdict {
  readonly outcome: 'completed' | 'rejected' | 'review'
  readonly ruleId: string | null
  /** Code and message of the rule that rejected the session. */
  readonly code: string | null
  readonly message: string | null
  /** Reason for a review that no rule requested. */
  readonly problem: string | null
}

const review = (ruleId: string | null, problem: string | null): SessionVerdict => ({
  outcome: 'review',
  ruleId,
  problem,
  code: null,
  message: null,
})

/** @throws only errors that are bugs; failures of rules lead to a review */
export const decideSession = (policy: PolicyProgram, session: SessionFacts): SessionVerdict => {
  try {
    const verdict = policy.evaluate({ session })
    const { ruleId } = verdict
    if (!verdict.compliant) {
      if (verdict.review === true) return review(ruleId, null)
      const { code = null, message = null } = verdict
      return { outcome: 'rejected', ruleId, code, message, problem: null }
    }
    // The store also refuses this (requireHitsDecided), but trials have only this check.
    if (session['checks.sanctions.uncleared'] === true) return review(ruleId, 'a hit is not cleared')
    return { outcome: 'completed', ruleId, code: null, message: null, problem: null }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) throw error
    const { cause } = error
    return review(error.ruleId, cause instanceof FactUnavailableError ? cause.message : 'the rule failed')
  }
}
