import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { PolicyDocument } from './document.ts'
import type { EvaluationFacts } from './facts.ts'
import type { FactNeed } from './needs.ts'

/** Value of a rule's expression; null if it failed. */
export type RuleValue =
  | { readonly value: boolean; readonly failure: null }
  | { readonly value: null; readonly failure: unknown }

/** Deciding part of a policy, shared by policies that differ only in names, descriptions and tests. */
export interface PolicyProgram {
  readonly requires: readonly OptionalField[]
  readonly needs: readonly FactNeed[]
  /** @throws PolicyEvaluationError if a rule fails, which is never a verdict */
  evaluate(facts: EvaluationFacts): Verdict
  evaluateEach(facts: EvaluationFacts): readonly RuleValue[]
}

export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/** A revision for workers, parsed and with a verified hash. */
export interface SentRevision {
  readonly id: string
  /** PolicyDocument as JSON text, because a thread may hold 10,000; null if the revision is unusable. */
  readonly document: string | null
  /** Characters of the source, for the cache weight. */
  readonly size: number
}
