// Evaluates the rules in order; the first decisive rule wins, otherwise the document's default (decisions §4). A rule
// that fails is an error, never a verdict (invariant 1). Failures inside a rule follow CEL: `a || b` is true if either
// is true, even if the other fails; `&&`, `exists` and `all` behave accordingly.
import type { Verdict } from '../domain/verdict.ts'
import type { CompiledExpression } from './cel/expression.ts'
import { PolicyEvaluationError } from './errors.ts'
import type { Evaluation } from './evaluation.ts'
import type { PolicyDocument, PolicyRule } from './types/document.ts'
import type { EvaluationFacts } from './types/facts.ts'
import { ALLOW_LIST, DENY_LIST, type ListReader } from './types/facts.ts'
import type { PolicyProgram, RuleValue } from './types/program.ts'

export interface EvaluableRule {
  readonly rule: PolicyRule
  readonly evaluate: CompiledExpression['evaluate']
}

const reviewBy = (ruleId: string | null): Verdict => Object.freeze({ compliant: false, ruleId, review: true })

/**
 * Returns the value at which a rule is decisive, and its verdict: `allow` and `deny` decide if true, `require` if
 * false. A true `review` leaves a session to a person.
 */
const decisionOf = ({ id, kind, code, message }: PolicyRule): { decisive: boolean; verdict: Verdict } => {
  if (kind === 'allow') return { decisive: true, verdict: Object.freeze({ compliant: true, ruleId: id }) }
  if (kind === 'review') return { decisive: true, verdict: reviewBy(id) }
  const words = { ...(code === null ? {} : { code }), ...(message === null ? {} : { message }) }
  return { decisive: kind === 'deny', verdict: Object.freeze({ compliant: false, ruleId: id, ...words }) }
}

/**
 * Creates the functions that evaluate a policy with rules that read `evaluation`. They are synchronous and retain no
 * request data.
 */
export const createEvaluator = (
  rules: readonly EvaluableRule[],
  fallback: PolicyDocument['default'],
  evaluation: Evaluation,
): Pick<PolicyProgram, 'evaluate' | 'evaluateEach'> => {
  const steps = rules.map(({ rule, evaluate }) => ({ id: rule.id, evaluate, ...decisionOf(rule) }))
  const defaultVerdict: Verdict =
    fallback === 'review' ? reviewBy(null) : Object.freeze({ compliant: fallback === 'allow', ruleId: null })

  const firstDecision = (): Verdict => {
    for (const { id, evaluate, decisive, verdict } of steps) {
      let value: unknown
      evaluation.unavailable = null
      try {
        value = evaluate()
      } catch (error) {
        throw new PolicyEvaluationError(id, error, evaluation.unavailable)
      }
      if (value === decisive) return verdict
      // The type check rules this out, but a verdict must not depend on that check alone.
      if (typeof value !== 'boolean') throw new PolicyEvaluationError(id, 'the value of the rule is not a boolean')
    }
    return defaultVerdict
  }

  const readValue = ({ evaluate }: Pick<EvaluableRule, 'evaluate'>): RuleValue => {
    try {
      return { value: evaluate() === true, failure: null }
    } catch (failure) {
      return { value: null, failure }
    }
  }

  const bound = <Result>(facts: EvaluationFacts, read: () => Result): Result => {
    evaluation.bind(facts)
    try {
      return read()
    } finally {
      evaluation.release()
    }
  }

  return {
    evaluate: (facts) => bound(facts, firstDecision),
    evaluateEach: (facts) => bound(facts, () => steps.map(readValue)),
  }
}

// An organization's own lists take precedence over its policies, and deny over allow (decisions §4, Duties). A request
// on behalf of a user names two addresses. A deny entry for either denies. An allow entry decides only if both
// addresses have one: an allowed relayer must not exempt an unlisted user from the policy, and vice versa.

/** Not a valid id for a rule of a document. */
export const DENY_LIST_RULE = 'list:deny'
export const ALLOW_LIST_RULE = 'list:allow'

const DENIED: Verdict = Object.freeze({ compliant: false, ruleId: DENY_LIST_RULE })
const ALLOWED: Verdict = Object.freeze({ compliant: true, ruleId: ALLOW_LIST_RULE })

/**
 * Returns the verdict of the lists on a wallet and the user that it represents (empty if none). Returns null if the
 * policy decides.
 * @throws the reader's error if a list cannot be read; nothing may then be decided
 */
export const listVerdict = (lists: ListReader, wallet: string, onBehalf: string): Verdict | null => {
  if (lists.contains(DENY_LIST, wallet)) return DENIED
  if (onBehalf === '') return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null
  if (lists.contains(DENY_LIST, onBehalf)) return DENIED
  return lists.contains(ALLOW_LIST, wallet) && lists.contains(ALLOW_LIST, onBehalf) ? ALLOWED : null
}
