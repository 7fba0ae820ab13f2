// Evaluates the rules in order; the first decisive one wins (decisions §4). `allow` that is true ends compliant; `deny`
// that is true and `require` that is false end non-compliant; `review` that is true leaves a session to a person. When no
// rule decides, the document's default does. A rule that fails is an error, never a verdict (invariant 1).
//
// Failures inside a rule follow CEL: `a || b` is true when either is true, even if the other fails, and `a && b` is
// false when either is false; the same holds for `exists` and `all` over a list. Any other failure ends the rule.
import type { Verdict } from '../domain/verdict.ts'
import type { CompiledExpression } from './cel/expression.ts'
import { PolicyEvaluationError } from './errors.ts'
import type { Evaluation } from './evaluation.ts'
import type { PolicyDocument, PolicyRule } from './types/document.ts'
import type { EvaluationFacts } from './types/facts.ts'
import type { PolicyProgram, RuleValue } from './types/program.ts'

export interface EvaluableRule {
  readonly rule: PolicyRule
  readonly evaluate: CompiledExpression['evaluate']
}

const reviewBy = (ruleId: string | null): Verdict => Object.freeze({ compliant: false, ruleId, review: true })

/**
 * The value at which a rule decides, and the verdict that it then gives. Created once, because the verdict is always
 * the same.
 */
const decisionOf = ({ id, kind, code, message }: PolicyRule): { decisive: boolean; verdict: Verdict } => {
  if (kind === 'allow') return { decisive: true, verdict: Object.freeze({ compliant: true, ruleId: id }) }
  if (kind === 'review') return { decisive: true, verdict: reviewBy(id) }
  const words = { ...(code === null ? {} : { code }), ...(message === null ? {} : { message }) }
  return { decisive: kind === 'deny', verdict: Object.freeze({ compliant: false, ruleId: id, ...words }) }
}

/**
 * Creates the functions that evaluate a policy whose rules read `evaluation`. They are synchronous and keep nothing of
 * a request.
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
      try {
        value = evaluate()
      } catch (error) {
        throw new PolicyEvaluationError(id, error)
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
