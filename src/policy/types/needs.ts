// What a policy asks for beyond the request, and who collects it. Source: decisions §4.
import type { ExternalFacts, RequestFacts } from './facts.ts'
import type { ReadDefinition } from './reads.ts'
import type { SourceKind } from './sources.ts'

/**
 * What a compiled policy asks for beyond the request itself. Plain JSON, without repeats, in a fixed order; a policy that
 * asks for nothing has none, and costs nothing.
 */
export type FactNeed = ListNeed | SourceNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** Looked up in the worker by a ListReader: nothing has to be collected. */
export interface ListNeed {
  readonly kind: 'list'
  /** A list of the organization, or else a shared one. */
  readonly list: string
  /** The least of the ages that rules demand; null when none demands one. */
  readonly maxAgeSeconds: number | null
}

/** One answer of a source (sources/all.ts), the same for all rules. */
export interface SourceNeed {
  readonly kind: SourceKind
}

/** What a configured screener says of the wallet, or of the represented user. */
export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
  /** Asked about the represented user, or about the wallet when it represents nobody. */
  readonly onBehalf?: true
}

/** Under which a screener's answer stands among the facts. No screener's name has a dot. */
export const screenerKey = ({ screener, onBehalf }: Pick<ScreenerNeed, 'screener' | 'onBehalf'>): string =>
  onBehalf === true ? `onBehalf.${screener}` : screener

/** State on chain that the document names. */
export interface ReadNeed {
  readonly kind: 'read'
  /** The document's name for it: one policy's names mean nothing to another, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/** What this wallet did in this project within a window that ends now. Kept by the service itself, not collected. */
export interface VelocityNeed {
  readonly kind: 'velocity'
  readonly windowSeconds: number
}

/** For whom facts are collected. Addresses and numbers are canonical, as in RequestFacts. */
export interface FactSubject extends RequestFacts {
  readonly organizationId: string
  readonly projectId: string
  /** Of the key that asks: a test key sees test identities. */
  readonly environment: 'live' | 'test'
  /** Absolute, monotonic milliseconds: what is not known by then is null (invariant 4). */
  readonly deadlineMs: number
}

/** Asks the sources outside the workers. */
export interface FactCollector {
  /**
   * Answers at once where everything is at hand. Needs of kind `list` and `velocity` are others' to meet: they are
   * passed over. Never rejects: what can't be had is null.
   */
  collect(needs: readonly FactNeed[], subject: FactSubject): ExternalFacts | Promise<ExternalFacts>
}
