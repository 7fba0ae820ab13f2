// A compiled policy, and the form in which it is sent to the workers.
import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { PolicyDocument } from './document.ts'
import type { EvaluationFacts } from './facts.ts'
import type { FactNeed } from './needs.ts'

/** The result of one rule's expression. `value` is null if the evaluation failed. */
export type RuleValue =
  | { readonly value: boolean; readonly failure: null }
  | { readonly value: null; readonly failure: unknown }

/** The part of a policy that decides. Policies that differ only in names, descriptions and tests share one program. */
export interface PolicyProgram {
  /** Optional request fields that the rules read. */
  readonly requires: readonly OptionalField[]
  /** Facts beyond the request that the rules read. */
  readonly needs: readonly FactNeed[]
  /**
   * @throws PolicyEvaluationError if a rule fails (overflow, a wrong type at run time, an unavailable fact); a failure
   * is never a verdict
   */
  evaluate(facts: EvaluationFacts): Verdict
  /** Evaluates every rule separately, in the order of the document, for policy trials. */
  evaluateEach(facts: EvaluationFacts): readonly RuleValue[]
}

/** A document and its program. */
export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/** A revision in the form sent to workers. The main thread has parsed it and verified its hash. */
export interface SentRevision {
  readonly id: string
  /**
   * A PolicyDocument as JSON, without the parts that only the parser needs. A single string, because a thread may hold
   * 10,000 of them. Null if the revision is unusable.
   */
  readonly document: string | null
  /** Number of characters of the revision's text, used as the cache weight. */
  readonly size: number
}
