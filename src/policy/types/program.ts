// A compiled policy, and the form in which it travels to the workers.
import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { PolicyDocument } from './document.ts'
import type { EvaluationFacts } from './facts.ts'
import type { FactNeed } from './needs.ts'

/** What one rule's expression yields: `value` is null if the evaluation failed. */
export type RuleValue =
  | { readonly value: boolean; readonly failure: null }
  | { readonly value: null; readonly failure: unknown }

/** The part of a policy that decides. Policies that differ only in their names, descriptions and tests share one. */
export interface PolicyProgram {
  /** Optional request fields that some rule reads. */
  readonly requires: readonly OptionalField[]
  /** Facts beyond the request that some rule reads. */
  readonly needs: readonly FactNeed[]
  /**
   * @throws PolicyEvaluationError when a rule fails (overflow, a wrong type at run time, a fact that can't be had): a
   *   failure, never a verdict
   */
  evaluate(facts: EvaluationFacts): Verdict
  /** Evaluates every rule by itself, in the order of the document, for people who try a policy. */
  evaluateEach(facts: EvaluationFacts): readonly RuleValue[]
}

/** A document and what it compiles to. */
export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/**
 * A revision in the form that is sent to workers. The main thread has parsed it and checked its text against its hash.
 */
export interface SentRevision {
  readonly id: string
  /**
   * A PolicyDocument as JSON, without the parts that only the parser needs. It is one text, because a thread may hold
   * ten thousand of them and a text costs little. Null when the revision can't be used.
   */
  readonly document: string | null
  /** Characters of the revision's text, as the cache weight. */
  readonly size: number
}
