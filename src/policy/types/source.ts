import type { OptionalField, PolicyRevision, Target } from '../../domain/target.ts'
import type { FactNeed } from './needs.ts'

/** A target as stored, without data from the compiled revisions. */
export type TargetRecord = Omit<Target, 'requires'>

/** A target, with the needs to collect before a worker can decide. */
export interface ResolvedTarget extends Target {
  readonly needs: readonly FactNeed[]
  /** Needs of the shadow revision alone. Collecting them must not delay an answer for long. */
  readonly shadowNeeds: readonly FactNeed[]
  readonly shadowRequires: readonly OptionalField[]
}

/**
 * Each method reads one organization's row, except `loadRevision`. Rejects if the store is unavailable, which never
 * means "not found".
 */
export interface PolicySource {
  loadProjectTarget(organizationId: string, verificationHash: string): Promise<TargetRecord | null>
  /** `address`: canonical address of the contract or program. */
  loadBindingTarget(organizationId: string, chainName: string, address: string): Promise<TargetRecord | null>
  loadRevision(revisionId: string): Promise<PolicyRevision | null>
}
