// Decides one session by a policy. Whatever is neither a clear yes nor a clear no waits for a person: a `review` rule, no
// rule at all, a rule that fails, a hit that is not cleared (invariants 1 and 12).
import { PolicyEvaluationError } from './errors.ts'
import { FactUnavailableError } from './fact-unavailable.ts'
import type { PolicyProgram } from './types/program.ts'
import type { SessionFacts } from './types/session-facts.ts'

export interface SessionVerdict {
  readonly outcome: 'completed' | 'rejected' | 'review'
  /** The deciding or failing rule; null where none decided. */
  readonly ruleId: string | null
  /** Where it is rejected: the rule's own words. */
  readonly code: string | null
  readonly message: string | null
  /** Why a person has to decide, where no rule says so: a fact that can't be had, a rule that fails, a hit that is not cleared. */
  readonly problem: string | null
}

const review = (ruleId: string | null, problem: string | null): SessionVerdict => ({
  outcome: 'review',
  ruleId,
  problem,
  code: null,
  message: null,
})

/** @throws what is no failure of a rule: a bug */
export const decideSession = (policy: PolicyProgram, session: SessionFacts): SessionVerdict => {
  try {
    const verdict = policy.evaluate({ session })
    const { ruleId } = verdict
    if (!verdict.compliant) {
      if (verdict.review === true) return review(ruleId, null)
      const { code = null, message = null } = verdict
      return { outcome: 'rejected', ruleId, code, message, problem: null }
    }
    // The store refuses the completion, too (requireHitsDecided); trials have only this check.
    if (session['checks.sanctions.uncleared'] === true) return review(ruleId, 'a hit is not cleared')
    return { outcome: 'completed', ruleId, code: null, message: null, problem: null }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) throw error
    const { cause } = error
    return review(error.ruleId, cause instanceof FactUnavailableError ? cause.message : 'the rule fails')
  }
}
