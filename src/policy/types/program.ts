import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { PolicyDocument } from './document.ts'
import type { EvaluationFacts } from './facts.ts'
import type { FactNeed } from './needs.ts'

/** Value of a rule's expression; null if the evaluation failed. */
export type RuleValue =
  | { readonly value: boolean; readonly failure: null }
  | { readonly value: null; readonly failure: unknown }

/** The deciding part of a policy. Policies that differ only in names, descriptions and tests share one program. */
export interface PolicyProgram {
  readonly requires: readonly OptionalField[]
  readonly needs: readonly FactNeed[]
  /**
   * @throws PolicyEvaluationError if a rule fails (overflow, wrong type, unavailable fact), which is never a verdict
   */
  evaluate(facts: EvaluationFacts): Verdict
  evaluateEach(facts: EvaluationFacts): readonly RuleValue[]
}

export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/** A revision in the form for workers. The main thread has parsed it and verified its hash. */
export interface SentRevision {
  readonly id: string
  /**
   * PolicyDocument as JSON, without the parts that only the parser needs. A string, because a thread may hold 10,000 of
   * them. Null if the revision is unusable.
   */
  readonly document: string | null
  /** Number of characters of the source, used as cache weight. */
  readonly size: number
}
