// Runs a policy on one request without deciding anything: what each rule says, what was known, and what the verdict would
// be. The verdict is the policy's own; the rules' values come from policies of one rule each, made of the same document.
import type { Verdict } from '../../domain/verdict.ts'
import { compilePolicy } from '../../policy/compile.ts'
import { dutyVerdict } from '../../policy/duties.ts'
import { PolicyEvaluationError } from '../../policy/errors.ts'
import { FactUnavailableError } from '../../policy/fact-unavailable.ts'
import type { PolicyRule, RuleKind } from '../../policy/types/document.ts'
import type { EvaluationFacts } from '../../policy/types/facts.ts'
import type { ListReader } from '../../policy/types/list-reader.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'

export interface RuleOutcome {
  readonly id: string
  readonly kind: RuleKind
  /** Value of the rule's expression; null when it fails. */
  readonly value: boolean | null
  /** The rule would end the evaluation: `allow` and `deny` that are true, `require` that is false. */
  readonly decisive: boolean
  /** An earlier one ended the evaluation, so this one is not asked for a verdict. */
  readonly reached: boolean
  readonly failure: string | null
}

export interface Simulation {
  /** Null: the policy fails on this request, which is then answered 503. */
  readonly verdict: Verdict | null
  readonly failure: string | null
  readonly rules: readonly RuleOutcome[]
}

const failureOf = (error: unknown): string => {
  if (!(error instanceof PolicyEvaluationError)) throw error
  const { cause } = error
  return cause instanceof FactUnavailableError ? cause.message : 'the expression fails on this request'
}

/** The rule alone: it decides, it does not, or it fails. */
const outcomeOf = (policy: CompiledPolicy, rule: PolicyRule, facts: EvaluationFacts) => {
  // The default is the other way round, so that a verdict by default and one by the rule can't be taken for each other.
  const alone = compilePolicy({
    ...policy.document,
    default: rule.kind === 'allow' ? 'deny' : 'allow',
    rules: [rule],
    tests: [],
  })
  try {
    const decisive = alone.evaluate(facts).ruleId !== null
    return { decisive, value: rule.kind === 'require' ? !decisive : decisive, failure: null }
  } catch (error) {
    return { decisive: false, value: null, failure: failureOf(error) }
  }
}

/** @param facts with `lists`: the organization's own two come first, as they do for real */
export const simulatePolicy = (
  policy: CompiledPolicy,
  facts: EvaluationFacts & { readonly lists: ListReader },
): Simulation => {
  const duty = dutyVerdict(facts.lists, facts.from, facts.onBehalf)
  let ended = duty !== null
  const rules = policy.document.rules.map((rule): RuleOutcome => {
    const { decisive, value, failure } = outcomeOf(policy, rule, facts)
    const reached = !ended
    ended ||= decisive || failure !== null
    return { id: rule.id, kind: rule.kind, value, decisive, reached, failure }
  })
  if (duty !== null) return { verdict: duty, failure: null, rules }
  try {
    return { verdict: policy.evaluate(facts), failure: null, rules }
  } catch (error) {
    return { verdict: null, failure: failureOf(error), rules }
  }
}
