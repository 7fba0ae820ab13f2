// The shapes of a policy: the document people write, the facts it reads, and the compiled form that evaluates.
// Source: decisions §4.
import type { OptionalField } from '../domain/target.ts'
import type { Verdict } from '../domain/verdict.ts'

export type RuleKind = 'allow' | 'deny' | 'require'

export interface PolicyRule {
  readonly id: string
  readonly kind: RuleKind
  /** A CEL expression of type bool. */
  readonly expression: string
  readonly code: string | null
  readonly message: string | null
}

export interface PolicyDocument {
  readonly name: string
  readonly description: string
  /** The verdict when no rule decides. `deny` unless stated. */
  readonly default: 'allow' | 'deny'
  /** v1: how many attester keys sign; 1 unless stated. */
  readonly quorum: number
  readonly rules: readonly PolicyRule[]
}

/** Everything a rule may read about one request. Values are canonical (see domain/address.ts). */
export interface RequestFacts {
  readonly chainName: string
  readonly chainFamily: 'evm' | 'solana'
  /** EIP-155 id; 0 on Solana. */
  readonly chainId: number
  readonly from: string
  /** The zero address when the request names a project instead of a contract. */
  readonly to: string
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex, verbatim. */
  readonly data: string
  /** Empty when not sent. */
  readonly userIp: string
  readonly nowSeconds: number
}

export interface CompiledPolicy {
  readonly document: PolicyDocument
  /** Optional request fields that some rule reads. */
  readonly requires: readonly OptionalField[]
  /**
   * @throws PolicyEvaluationError when a rule fails (overflow, a wrong type at run time): a failure, never a verdict.
   */
  evaluate(facts: RequestFacts): Verdict
}
