// The needs of a policy, and the interface of their collection (decisions §4).
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceKind } from '../sources/all.ts'
import type { ExternalFacts } from './facts.ts'
import type { ReadDefinition } from './reads.ts'

/** Plain JSON without duplicates, in a fixed order. */
export type FactNeed = ListNeed | SourceNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** Not collected: workers look up lists with a ListReader. */
export interface ListNeed {
  readonly kind: 'list'
  /** List of the organization or, if it has none with this name, a shared list. */
  readonly list: string
  /** Smallest maximum age that a rule requires; null if none does. */
  readonly maxAgeSeconds: number | null
}

export interface SourceNeed {
  readonly kind: SourceKind
}

/** Result of a screener for the wallet or the represented user. */
export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
  /** Queries the represented user, or the wallet if it represents nobody. */
  readonly onBehalf?: true
}

/** Screener names contain no dot, so keys are unique. */
export const screenerKey = ({ screener, onBehalf }: Pick<ScreenerNeed, 'screener' | 'onBehalf'>): string =>
  onBehalf === true ? `onBehalf.${screener}` : screener

export interface ReadNeed {
  readonly kind: 'read'
  /** Name in the document. Names are specific to a policy, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/** Activity of the wallet in this project within a window that ends at the request. */
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
  /** Monotonic milliseconds. A fact that is unknown at that time is null (invariant 4). */
  readonly deadlineMs: number
}

/**
 * Called for each query without an immediate answer, with the name of the screener or chain (empty if none). The
 * returned function reports whether the query succeeded.
 */
export type WatchQuestion = (kind: FactNeed['kind'], source: string) => (answered: boolean) => void

/**
 * Reports whether the sources still return the same answers. Returns a promise if an answer must be loaded. Never
 * rejects.
 */
export type ConfirmFacts = (facts: ExternalFacts) => boolean | Promise<boolean>

export interface FactCollector {
  /**
   * Call before `collect`, because this captures the change count. Returns null if no answer to these needs can become
   * outdated.
   */
  confirmLater(needs: readonly FactNeed[], subject: FactSubject): ConfirmFacts | null
  /**
   * Synchronous if all answers are cached. Skips needs of kind `list` and `velocity`. Never rejects: an unavailable
   * fact is null.
   */
  collect(
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | Promise<ExternalFacts>
}
