// Runs a policy on one request or session without deciding anything: what each rule says, what was known, and what the
// verdict would be. The verdict comes from the policy itself; each rule's value comes from a policy that has this rule only.

import type { AttestationRequest } from '../../domain/attestation.ts'
import type { Verdict } from '../../domain/verdict.ts'
import { compilePolicy } from '../../policy/cel/compile.ts'
import { decideSession, type SessionVerdict } from '../../policy/decide-session.ts'
import { PolicyEvaluationError } from '../../policy/errors.ts'
import { FactUnavailableError } from '../../policy/fact-unavailable.ts'
import { listVerdict } from '../../policy/list-verdict.ts'
import type { PolicyRule, RuleKind } from '../../policy/types/document.ts'
import type { EvaluationFacts } from '../../policy/types/facts.ts'
import type { ListReader } from '../../policy/types/list-reader.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import type { SessionFacts } from '../../policy/types/session-facts.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'

export const RULE_KIND = oneOf(['allow', 'deny', 'require', 'review'])

/** RuleOutcome, as it is answered. */
export const RULE_OUTCOME = named(
  'RuleOutcome',
  closed({
    id: Type.String(),
    kind: RULE_KIND,
    value: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Value of the rule’s expression; null when it fails',
    }),
    decisive: Type.Boolean(),
    reached: Type.Boolean({ description: 'No rule before it ended the evaluation' }),
    failure: nullable(Type.String()),
  }),
)

export interface RuleOutcome {
  readonly id: string
  readonly kind: RuleKind
  /** Value of the rule's expression; null when the evaluation fails. */
  readonly value: boolean | null
  /** The rule would end the evaluation: a true `allow` or `deny`, or a false `require`. */
  readonly decisive: boolean
  /** False when an earlier rule ended the evaluation. */
  readonly reached: boolean
  readonly failure: string | null
}

export interface Simulation {
  /** Null when the policy fails on this request; a real request is then answered 503. */
  readonly verdict: Verdict | null
  readonly failure: string | null
  readonly rules: readonly RuleOutcome[]
}

const failureOf = (error: unknown): string => {
  if (!(error instanceof PolicyEvaluationError)) throw error
  const { cause } = error
  return cause instanceof FactUnavailableError ? cause.message : 'the expression fails on this request'
}

/** Evaluates one rule alone. */
const outcomeOf = (policy: CompiledPolicy, rule: PolicyRule, facts: EvaluationFacts) => {
  // The default is the opposite of what the rule decides, so that the verdict shows which of them decided.
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

/** @param ended nothing is reached: it was decided before */
const rulesOf = (policy: CompiledPolicy, facts: EvaluationFacts, ended: boolean): readonly RuleOutcome[] => {
  let isOver = ended
  return policy.document.rules.map((rule) => {
    const { decisive, value, failure } = outcomeOf(policy, rule, facts)
    const reached = !isOver
    isOver ||= decisive || failure !== null
    return { id: rule.id, kind: rule.kind, value, decisive, reached, failure }
  })
}

/** @param facts with `lists`: the organization's lists deny and allow come before the policy, as in a real decision */
export const simulatePolicy = (
  policy: CompiledPolicy,
  facts: EvaluationFacts & { readonly request: AttestationRequest; readonly lists: ListReader },
): Simulation => {
  const fromLists = listVerdict(facts.lists, facts.request.from, facts.request.onBehalf)
  const rules = rulesOf(policy, facts, fromLists !== null)
  if (fromLists !== null) return { verdict: fromLists, failure: null, rules }
  try {
    return { verdict: policy.evaluate(facts), failure: null, rules }
  } catch (error) {
    return { verdict: null, failure: failureOf(error), rules }
  }
}

export const simulateSession = (
  policy: CompiledPolicy,
  session: SessionFacts,
): { readonly verdict: SessionVerdict; readonly rules: readonly RuleOutcome[] } => ({
  verdict: decideSession(policy, session),
  rules: rulesOf(policy, { session }, false),
})
