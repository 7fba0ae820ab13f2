// The policy document (decisions §4).
import type { EvaluationFacts, ExternalFacts } from './facts.ts'
import type { AbiFunctionItem, ReadDefinition, ReadType } from './reads.ts'

/** Requests are decided automatically; `sessions` may also have the verdict `review`, which leaves them to a person. */
export const POLICY_SUBJECTS = ['requests', 'sessions'] as const
export type PolicySubject = (typeof POLICY_SUBJECTS)[number]

export type RuleKind = 'allow' | 'deny' | 'require' | 'review'

export interface PolicyRule {
  readonly id: string
  readonly kind: RuleKind
  readonly expression: string
  readonly code: string | null
  readonly message: string | null
}

/** Constant that rules read as `constants.<name>`. */
export interface PolicyConstant {
  readonly name: string
  /** Type in the document, such as "address" or "ether". */
  readonly type: string
  /** Values as written. Exactly one unless it is a list. */
  readonly values: readonly string[]
  readonly isList: boolean
}

/** On-chain state that rules read as `reads.<name>`. */
export interface PolicyRead {
  readonly name: string
  readonly type: ReadType
  readonly definition: ReadDefinition
}

export interface TestList {
  readonly addresses: readonly string[]
  readonly ageSeconds: number
}

/** `ruleId`: null for the default, undefined for any rule. */
export interface TestExpectation {
  /** `failure`: a rule fails, so there is no verdict. */
  readonly outcome: 'allow' | 'deny' | 'review' | 'failure'
  readonly ruleId: string | null | undefined
}

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
  /** Verdict if no rule decides. Defaults to `deny`; `review` for sessions. */
  readonly default: 'allow' | 'deny' | 'review'
  /** Attester signatures required by v1. Defaults to 1. */
  readonly quorum: number
  readonly constants: readonly PolicyConstant[]
  /** Functions whose calls rules can read. */
  readonly abi: readonly AbiFunctionItem[]
  /** Content of an Anchor IDL file; null if omitted. */
  readonly idl: unknown
  readonly reads: readonly PolicyRead[]
  readonly rules: readonly PolicyRule[]
  readonly tests: readonly PolicyTest[]
}
