// The policy document (decisions §4).
import type { EvaluationFacts, ExternalFacts } from './facts.ts'
import type { AbiFunctionItem, ReadDefinition, ReadType } from './reads.ts'

/**
 * Subject of a policy: attestation requests or submitted sessions. Only sessions have the verdict `review`, which
 * leaves them to a person.
 */
export const POLICY_SUBJECTS = ['requests', 'sessions'] as const
export type PolicySubject = (typeof POLICY_SUBJECTS)[number]

export type RuleKind = 'allow' | 'deny' | 'require' | 'review'

export interface PolicyRule {
  readonly id: string
  readonly kind: RuleKind
  /** CEL expression of type bool. */
  readonly expression: string
  readonly code: string | null
  readonly message: string | null
}

/** `constants.<name>` */
export interface PolicyConstant {
  readonly name: string
  /** Type in the document, for example "address" or "ether". */
  readonly type: string
  /** As written in the document. Exactly one value unless it is a list. */
  readonly values: readonly string[]
  readonly isList: boolean
}

/** `reads.<name>`: on-chain state. */
export interface PolicyRead {
  readonly name: string
  readonly type: ReadType
  readonly definition: ReadDefinition
}

export interface TestList {
  readonly addresses: readonly string[]
  readonly ageSeconds: number
}

/** `ruleId`: null means the default, undefined means any rule. */
export interface TestExpectation {
  /** `failure`: a rule cannot be evaluated, so there is no verdict. */
  readonly outcome: 'allow' | 'deny' | 'review' | 'failure'
  readonly ruleId: string | null | undefined
}

/** Saving a policy runs its tests. */
export interface PolicyTest extends Pick<EvaluationFacts, 'request' | 'session'> {
  readonly name: string
  readonly external: ExternalFacts
  readonly lists: Readonly<Record<string, TestList>>
  readonly expected: TestExpectation
}

export interface PolicyDocument {
  readonly name: string
  readonly description: string
  /** Defaults to `requests`. */
  readonly decides: PolicySubject
  /** Verdict if no rule decides. Defaults to `deny`; always `review` for sessions. */
  readonly default: 'allow' | 'deny' | 'review'
  /** v1: required number of attester signatures. Defaults to 1. */
  readonly quorum: number
  readonly constants: readonly PolicyConstant[]
  /** EVM functions whose calls rules can read. */
  readonly abi: readonly AbiFunctionItem[]
  /** Content of an Anchor IDL file. Null if omitted. */
  readonly idl: unknown
  readonly reads: readonly PolicyRead[]
  readonly rules: readonly PolicyRule[]
  readonly tests: readonly PolicyTest[]
}
