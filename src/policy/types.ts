// The shapes of a policy: the document people write, the facts it reads, and the compiled form that evaluates.
// Source: decisions §4.
import type { OptionalField, PolicyRevision, Target } from '../domain/target.ts'
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
  /** Canonical text of an IP address, at most 64 characters; empty when not sent. */
  readonly userIp: string
  /** The time of the request, Unix seconds. */
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

/** A target as the store knows it. The catalog adds `requires` from the compiled revision. */
export type TargetRecord = Omit<Target, 'requires'>

/**
 * Where the catalog loads from. Each call names one organization's row, except `loadRevision`, whose id comes only from
 * a target already loaded for its organization. Rejects when the store is unavailable: that is never "not found".
 */
export interface PolicySource {
  /** The project with this verification hash, or null when the organization has none. */
  loadProjectTarget(organizationId: string, verificationHash: string): Promise<TargetRecord | null>
  /** The project that this contract or program (canonical address) is bound to on this chain, or null. */
  loadBindingTarget(organizationId: string, chainName: string, address: string): Promise<TargetRecord | null>
  /** The immutable revision, or null when there is none of this id. */
  loadRevision(revisionId: string): Promise<PolicyRevision | null>
}
