// The interface from which the catalog loads targets and revisions.
import type { OptionalField, PolicyRevision, Target } from '../../domain/target.ts'
import type { FactNeed } from './needs.ts'

/** A target as stored. The catalog adds the rest from the compiled revisions. */
export type TargetRecord = Omit<Target, 'requires'>

/** A target, and what has to be collected before a worker can decide. */
export interface ResolvedTarget extends Target {
  readonly needs: readonly FactNeed[]
  /** What only the shadow revision needs; collecting it must not delay an answer for long. */
  readonly shadowNeeds: readonly FactNeed[]
  readonly shadowRequires: readonly OptionalField[]
}

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
