// A policy as it is compiled and carried to the workers.
import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { PolicyDocument } from './document.ts'
import type { EvaluationFacts } from './facts.ts'
import type { FactNeed } from './needs.ts'

/** What decides: policies that differ in their names, descriptions and tests alone share one. */
export interface PolicyProgram {
  /** Optional request fields that some rule reads. */
  readonly requires: readonly OptionalField[]
  /** Facts beyond the request that some rule reads. */
  readonly needs: readonly FactNeed[]
  /**
   * @throws PolicyEvaluationError when a rule fails (overflow, a wrong type at run time, a fact that can't be had): a
   *   failure, never a verdict.
   */
  evaluate(facts: EvaluationFacts): Verdict
}

/** A document and what it compiles to. */
export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/** A revision as workers are sent it: read on the main thread, where its text was held against its hash. */
export interface SentRevision {
  readonly id: string
  /**
   * A PolicyDocument as JSON, without what only reading it is for: one text, which costs a thread that holds ten thousand
   * of them little. Null where the revision can't be used.
   */
  readonly document: string | null
  /** Characters of its text: what keeping it weighs. */
  readonly size: number
}
