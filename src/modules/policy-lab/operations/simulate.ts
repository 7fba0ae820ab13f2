import { RULE_KIND } from '../../../admin/routes/policy-trials.ts'
import { closed, named, nullable, type Static, Type } from '../../../admin/schema.ts'
import type { AttestationRequest } from '../../../domain/attestation.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import { decideSession, type SessionVerdict } from '../../../policy/decide-session.ts'
import { listVerdict } from '../../../policy/evaluate.ts'
import { PolicyEvaluationError } from '../../../policy/evaluation-errors.ts'
import { FactUnavailableError } from '../../../policy/fact-unavailable.ts'
import type { EvaluationFacts, ListReader } from '../../../policy/types/facts.ts'
import type { CompiledPolicy } from '../../../policy/types/program.ts'
import type { SessionFacts } from '../../../policy/types/session-facts.ts'

export const RULE_OUTCOME = named(
  'RuleOutcome',
  closed({
    id: Type.String(),
    kind: RULE_KIND,
    value: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Value of the rule’s expression; null if it fails',
    }),
    decisive: Type.Boolean({ description: 'Whether this rule ended the evaluation' }),
    reached: Type.Boolean({ description: 'Whether the evaluation reached this rule' }),
    failure: nullable(Type.String()),
  }),
)

type RuleOutcome = Static<typeof RULE_OUTCOME>

export interface Simulation {
  /** Null if there is no verdict; a real request would get 400, 422 or 503. */
  readonly verdict: Verdict | null
  readonly failure: string | null
  readonly rules: readonly RuleOutcome[]
}

const failureOf = (cause: unknown): string =>
  cause instanceof FactUnavailableError ? cause.message : 'the expression fails for this request'

/** @param ended whether lists have decided, so that no rule is reached */
const rulesOf = (policy: CompiledPolicy, facts: EvaluationFacts, ended: boolean): readonly RuleOutcome[] => {
  let isOver = ended
  const values = policy.evaluateEach(facts)
  return policy.document.rules.map(({ id, kind }, index) => {
    const { value = null, failure = null } = values[index] ?? {}
    const reached = !isOver
    const decisive = reached && value !== null && value === (kind !== 'require')
    isOver ||= decisive || value === null
    return { id, kind, value, decisive, reached, failure: value === null ? failureOf(failure) : null }
  })
}

/**
 * The organization's deny and allow lists precede the policy, as in a real decision. @param refusal reason that the
 * request is not evaluated, such as a missing field; null if there is none
 */
export const simulatePolicy = (
  policy: CompiledPolicy,
  facts: EvaluationFacts & { readonly request: AttestationRequest; readonly lists: ListReader },
  refusal: string | null = null,
): Simulation => {
  if (refusal !== null) return { verdict: null, failure: refusal, rules: rulesOf(policy, facts, true) }
  const fromLists = listVerdict(facts.lists, facts.request.from, facts.request.onBehalf)
  const rules = rulesOf(policy, facts, fromLists !== null)
  if (fromLists !== null) return { verdict: fromLists, failure: null, rules }
  try {
    return { verdict: policy.evaluate(facts), failure: null, rules }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) throw error
    return { verdict: null, failure: failureOf(error.cause), rules }
  }
}

export const simulateSession = (
  policy: CompiledPolicy,
  session: SessionFacts,
): { readonly verdict: SessionVerdict; readonly rules: readonly RuleOutcome[] } => ({
  verdict: decideSession(policy, session),
  rules: rulesOf(policy, { session }, false),
})
