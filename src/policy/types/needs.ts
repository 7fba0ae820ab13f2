// What a policy needs beyond the request, and the interface that collects it. Source: decisions §4.
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceKind } from '../sources/all.ts'
import type { ExternalFacts } from './facts.ts'
import type { ReadDefinition } from './reads.ts'

/**
 * One thing that a compiled policy needs beyond the request. Plain JSON, without duplicates, in a fixed order. A policy
 * without needs causes no work.
 */
export type FactNeed = ListNeed | SourceNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** The worker looks it up with a ListReader: nothing has to be collected. */
export interface ListNeed {
  readonly kind: 'list'
  /** A list of the organization or, if it has none of this name, a shared one. */
  readonly list: string
  /** The smallest maximum age that a rule demands; null when no rule demands one. */
  readonly maxAgeSeconds: number | null
}

/** One answer of a source (sources/all.ts), the same for all rules. */
export interface SourceNeed {
  readonly kind: SourceKind
}

/** A configured screener's answer about the wallet, or about the represented user. */
export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
  /** Asked about the represented user, or about the wallet when it represents nobody. */
  readonly onBehalf?: true
}

/** The key of a screener's answer among the facts. Screener names hold no dot, so keys are unique. */
export const screenerKey = ({ screener, onBehalf }: Pick<ScreenerNeed, 'screener' | 'onBehalf'>): string =>
  onBehalf === true ? `onBehalf.${screener}` : screener

/** On-chain state that the document names. */
export interface ReadNeed {
  readonly kind: 'read'
  /** The document's name for it. The name means nothing in another policy, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/**
 * The wallet's activity in this project within a window that ends now. The service itself keeps these counts; nothing
 * is collected.
 */
export interface VelocityNeed {
  readonly kind: 'velocity'
  readonly windowSeconds: number
}

/** The request that facts are collected for, and who makes it. */
export interface FactSubject {
  readonly request: AttestationRequest
  readonly organizationId: string
  readonly projectId: string
  /** The environment of the API key: a test key sees test identities. */
  readonly environment: 'live' | 'test'
  /** Absolute, in monotonic milliseconds: a fact that is not known by then is null (invariant 4). */
  readonly deadlineMs: number
}

/**
 * Told of each question that is not answered at once: its kind, and the configured name of the screener or chain, or an
 * empty text. Returns the function to call with whether it was answered.
 */
export type WatchQuestion = (kind: FactNeed['kind'], source: string) => (answered: boolean) => void

/**
 * Reports whether the sources still give the answers among these facts. A promise if an answer has to be loaded; never
 * rejects.
 */
export type ConfirmFacts = (facts: ExternalFacts) => boolean | Promise<boolean>

/** Asks the sources outside the workers. */
export interface FactCollector {
  /**
   * Call before `collect`, because it counts the changes known by then. Null if no answer to these needs can be outdated
   * by a change.
   */
  confirmLater(needs: readonly FactNeed[], subject: FactSubject): ConfirmFacts | null
  /**
   * Answers synchronously when everything is at hand. Skips needs of kind `list` and `velocity`, which are met
   * elsewhere. Never rejects: a fact that can't be had is null.
   */
  collect(
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | Promise<ExternalFacts>
}
