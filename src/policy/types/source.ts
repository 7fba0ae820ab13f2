// The interface from which the catalog loads targets and revisions.
import type { OptionalField, PolicyRevision, Target } from '../../domain/target.ts'
import type { FactNeed } from './needs.ts'

/** A target as stored. The catalog adds the rest from the compiled revisions. */
export type TargetRecord = Omit<Target, 'requires'>

/** A target, and the needs to collect before a worker can decide. */
export interface ResolvedTarget extends Target {
  readonly needs: readonly FactNeed[]
  /** Needs of the shadow revision alone. Collecting them must not delay an answer for long. */
  readonly shadowNeeds: readonly FactNeed[]
  readonly shadowRequires: readonly OptionalField[]
}

/**
 * The catalog's source. Each method reads a row of one organization, except `loadRevision`, whose id always comes from
 * a target already loaded for its organization. Rejects if the store is unavailable; unavailable never means "not
 * found".
 */
export interface PolicySource {
  /** Returns the project with this verification hash, or null if the organization has none. */
  loadProjectTarget(organizationId: string, verificationHash: string): Promise<TargetRecord | null>
  /** Returns the project to which this contract or program (canonical address) is bound on this chain, or null. */
  loadBindingTarget(organizationId: string, chainName: string, address: string): Promise<TargetRecord | null>
  /** Returns the immutable revision, or null if there is no revision with this id. */
  loadRevision(revisionId: string): Promise<PolicyRevision | null>
}
