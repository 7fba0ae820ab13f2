import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceAnswers } from '../sources/all.ts'
import type { ReadValue } from './reads.ts'
import type { SessionFacts } from './session-facts.ts'

/** Lists of an organization and shared lists. Synchronous, because lists are in shared memory. */
export interface ListReader {
  /** Also returns false if the list doesn't exist: check ageSeconds first. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Returns the seconds since the source confirmed the list; 0 for a manual list, null if it doesn't exist or was never
   * loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/** Organization lists: deny takes precedence over allow, and allow over the policy (decisions §4). */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'

/** Null fields aren't mapped by the settings. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** Integer on the screener's scale, at most 2^53 in absolute value. */
  readonly score: number | null
  /** Up to 64 categories of at most 64 characters each. */
  readonly categories: readonly string[] | null
}

/** Compliant decisions and decisions in progress, excluding this request. */
export interface VelocityFacts {
  /** Number per wallet and project, on all chains. */
  readonly count: number
  /** Sum per wallet, project and chain: decimal wei or lamports. */
  readonly value: string
}

/** Collected facts as plain JSON. Null: unavailable, so a rule that reads it fails (503). Omitted: not needed. */
export interface ExternalFacts extends SourceAnswers {
  /** Facts by screenerKey. */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** Facts by window in seconds; null if the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/** Keyed hashes of personal facts, which identify a verdict's basis without revealing it. */
export type FactDigests = Readonly<Record<string, string>>

export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /** Facts for the shadow revision only, where they take precedence. */
  readonly shadow?: ExternalFacts
  /** Reason that there is no shadow verdict: a missing field, or facts that arrived too late. */
  readonly shadowless?: string
}

export interface EvaluationFacts {
  /** Omitted for a session policy. */
  readonly request?: AttestationRequest
  /** Omitted if the policy needs no facts. */
  readonly external?: ExternalFacts | undefined
  readonly lists?: ListReader | undefined
  readonly session?: SessionFacts | undefined
}
