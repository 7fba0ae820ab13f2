// The needs of a policy beyond the request, and the interface of their collection. Source: decisions §4.
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceKind } from '../sources/all.ts'
import type { ExternalFacts } from './facts.ts'
import type { ReadDefinition } from './reads.ts'

/** One need of a compiled policy beyond the request. Needs are plain JSON, without duplicates, in a fixed order. */
export type FactNeed = ListNeed | SourceNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** Not collected: the worker looks up lists with a ListReader. */
export interface ListNeed {
  readonly kind: 'list'
  /** A list of the organization or, if it has no list with this name, a shared list. */
  readonly list: string
  /** The smallest maximum age that a rule requires. Null if no rule requires one. */
  readonly maxAgeSeconds: number | null
}

/** One answer of a source (sources/all.ts), the same for all rules. */
export interface SourceNeed {
  readonly kind: SourceKind
}

/** The answer of a configured screener about the wallet or the represented user. */
export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
  /** True to query the represented user, or the wallet if it represents nobody. */
  readonly onBehalf?: true
}

/** Returns the key of a screener's answer in the facts. Screener names contain no dot, so keys are unique. */
export const screenerKey = ({ screener, onBehalf }: Pick<ScreenerNeed, 'screener' | 'onBehalf'>): string =>
  onBehalf === true ? `onBehalf.${screener}` : screener

/** On-chain state that the document names. */
export interface ReadNeed {
  readonly kind: 'read'
  /** Its name in the document. Names are specific to a policy, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/**
 * The wallet's activity in this project within a window that ends at the request. The service itself keeps these
 * counts.
 */
export interface VelocityNeed {
  readonly kind: 'velocity'
  readonly windowSeconds: number
}

/** The request for which facts are collected, and its organization and project. */
export interface FactSubject {
  readonly request: AttestationRequest
  readonly organizationId: string
  readonly projectId: string
  /** The environment of the API key: a test key gets test identities. */
  readonly environment: 'live' | 'test'
  /** Absolute time in monotonic milliseconds. A fact that is unknown at that time is null (invariant 4). */
  readonly deadlineMs: number
}

/**
 * Called for each query without an immediate answer, with its kind and the configured name of the screener or chain
 * (empty if none). Returns a function that must be called with the success of the query.
 */
export type WatchQuestion = (kind: FactNeed['kind'], source: string) => (answered: boolean) => void

/**
 * Reports whether the sources still return the same answers. Returns a promise if an answer must be loaded. Never
 * rejects.
 */
export type ConfirmFacts = (facts: ExternalFacts) => boolean | Promise<boolean>

/** Queries the sources outside the workers. */
export interface FactCollector {
  /**
   * Call before `collect`, because it captures the current change count. Returns null if no answer to these needs can
   * become outdated.
   */
  confirmLater(needs: readonly FactNeed[], subject: FactSubject): ConfirmFacts | null
  /**
   * Synchronous if all answers are cached. Skips needs of kind `list` and `velocity`, which are handled elsewhere.
   * Never rejects: an unavailable fact is null.
   */
  collect(
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | Promise<ExternalFacts>
}
