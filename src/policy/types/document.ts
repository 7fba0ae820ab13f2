// The document that people write. Source: decisions §4.
import type { EvaluationFacts, ExternalFacts } from './facts.ts'
import type { AbiFunctionItem, ReadDefinition, ReadType } from './reads.ts'

/**
 * What a policy decides: attestations of requests, or sessions that were handed in. A session has one more verdict:
 * `review` leaves it to a person.
 */
export const POLICY_SUBJECTS = ['requests', 'sessions'] as const
export type PolicySubject = (typeof POLICY_SUBJECTS)[number]

export type RuleKind = 'allow' | 'deny' | 'require' | 'review'

export interface PolicyRule {
  readonly id: string
  readonly kind: RuleKind
  /** A CEL expression of type bool. */
  readonly expression: string
  readonly code: string | null
  readonly message: string | null
}

/** `constants.<name>`: one value, or a list of values, of one type. */
export interface PolicyConstant {
  readonly name: string
  /** As the document says it, for example "address" or "ether". */
  readonly type: string
  /** As written; exactly one value unless it is a list. */
  readonly values: readonly string[]
  readonly isList: boolean
}

/** `reads.<name>`: on-chain state. */
export interface PolicyRead {
  readonly name: string
  /** In the policy language. */
  readonly type: ReadType
  readonly definition: ReadDefinition
}

/** The content of a list in a test. */
export interface TestList {
  /** Canonical. */
  readonly addresses: readonly string[]
  readonly ageSeconds: number
}

/** What a test expects. `ruleId` null means the default, undefined means any rule. */
export interface TestExpectation {
  /** `failure`: the rule can't be evaluated, so there is no verdict. */
  readonly outcome: 'allow' | 'deny' | 'review' | 'failure'
  readonly ruleId: string | null | undefined
}

/** A request or session with facts, and the expected verdict. Saving a policy runs its tests. */
export interface PolicyTest extends Pick<EvaluationFacts, 'request' | 'session'> {
  readonly name: string
  readonly external: ExternalFacts
  readonly lists: Readonly<Record<string, TestList>>
  readonly expected: TestExpectation
}

export interface PolicyDocument {
  readonly name: string
  readonly description: string
  /** Default: `requests`. */
  readonly decides: PolicySubject
  /** The verdict when no rule decides. Default: `deny`; always `review` where sessions are decided. */
  readonly default: 'allow' | 'deny' | 'review'
  /** v1: how many attester keys must sign. Default: 1. */
  readonly quorum: number
  readonly constants: readonly PolicyConstant[]
  /** Functions of EVM contracts whose calls the rules may read. */
  readonly abi: readonly AbiFunctionItem[]
  /** The content of an Anchor IDL file, for a Solana program's calls; null without one. */
  readonly idl: unknown
  readonly reads: readonly PolicyRead[]
  readonly rules: readonly PolicyRule[]
  readonly tests: readonly PolicyTest[]
}
