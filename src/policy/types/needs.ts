// Needs of a policy, and the interface of their collection (decisions §4).
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceKind } from '../sources/all.ts'
import type { ExternalFacts } from './facts.ts'
import type { ReadDefinition } from './reads.ts'

/** Plain JSON, without duplicates, in a fixed order. */
export type FactNeed = ListNeed | SourceNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** A list isn't collected, because workers read lists with a ListReader. */
export interface ListNeed {
  readonly kind: 'list'
  /** The organization's list or, if it has none with this name, a shared list. */
  readonly list: string
  /** Smallest maximum age required by a rule; null if there is none. */
  readonly maxAgeSeconds: number | null
}

export interface SourceNeed {
  readonly kind: SourceKind
}

export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
  /** Set to query the represented user, or the wallet if it represents nobody. */
  readonly onBehalf?: true
}

/** Returns a unique key, because screener names contain no dot. */
export const screenerKey = ({ screener, onBehalf }: Pick<ScreenerNeed, 'screener' | 'onBehalf'>): string =>
  onBehalf === true ? `onBehalf.${screener}` : screener

export interface ReadNeed {
  readonly kind: 'read'
  /** Name in the document. Unique only within a policy, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/** The wallet's activity in this project within a window that ends at the request. */
export interface VelocityNeed {
  readonly kind: 'velocity'
  readonly windowSeconds: number
}

export interface FactSubject {
  readonly request: AttestationRequest
  readonly organizationId: string
  readonly projectId: string
  /** Environment of the API key: a test key gets test identities. */
  readonly environment: 'live' | 'test'
  /** Deadline in monotonic milliseconds. Facts unknown at that time are null (invariant 4). */
  readonly deadlineMs: number
}

/**
 * Called for each query without an immediate answer; `source` names the screener or chain, or is empty. The returned
 * function reports the outcome.
 */
export type WatchQuestion = (kind: FactNeed['kind'], source: string) => (answered: boolean) => void

/** Whether sources still return the same answers; a promise if one must be loaded. Never rejects. */
export type ConfirmFacts = (facts: ExternalFacts) => boolean | Promise<boolean>

export interface FactCollector {
  /** Call before `collect`, because it captures the change count. Null if no answer can become outdated. */
  confirmLater(needs: readonly FactNeed[], subject: FactSubject): ConfirmFacts | null
  /** Synchronous if all answers are cached. Skips `list` and `velocity`. Never rejects: unavailable facts are null. */
  collect(
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | Promise<ExternalFacts>
}
