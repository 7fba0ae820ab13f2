import type { OptionalField, PolicyRevision, Target } from '../../domain/target.ts'
import type { FactNeed } from './needs.ts'

export type TargetRecord = Omit<Target, 'requires'>

/** A target with the needs to collect before a worker can decide. */
export interface ResolvedTarget extends Target {
  readonly needs: readonly FactNeed[]
  /** Needs only of the shadow revision, whose collection must not delay an answer for long. */
  readonly shadowNeeds: readonly FactNeed[]
  readonly shadowRequires: readonly OptionalField[]
}

/**
 * Each method except `loadRevision` reads one organization's row. If the store is unavailable, the promise rejects
 * instead of resolving to null.
 */
export interface PolicySource {
  loadProjectTarget(organizationId: string, verificationHash: string): Promise<TargetRecord | null>
  /** `address`: canonical, of the contract or program. */
  loadBindingTarget(organizationId: string, chainName: string, address: string): Promise<TargetRecord | null>
  loadRevision(revisionId: string): Promise<PolicyRevision | null>
}
