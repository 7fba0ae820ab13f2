// The facts on which a verdict is based (decisions §4).
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceAnswers } from '../sources/all.ts'
import type { ReadValue } from './reads.ts'
import type { SessionFacts } from './session-facts.ts'

/** Lists of one organization and shared lists. Synchronous, because the lists are in shared memory. */
export interface ListReader {
  /** Also false if there is no such list. Call ageSeconds first to distinguish the two. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Seconds since the source confirmed the list's content; 0 for a manual list. Null if there is no such list, or if
   * its content was never loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/**
 * Each organization's own lists: deny takes precedence over allow, and allow over the policy (decisions §4, Duties).
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'

/** A field is null if the settings do not map it. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** An integer on the screener's scale. Its absolute value is at most 2^53. */
  readonly score: number | null
  /** At most 64 categories of at most 64 characters each. */
  readonly categories: readonly string[] | null
}

/** Compliant decisions and decisions in progress, without this request. */
export interface VelocityFacts {
  /** Count per wallet and project on all chains. */
  readonly count: number
  /** Sum per wallet, project and chain: wei or lamports in canonical decimal. */
  readonly value: string
}

/**
 * Facts collected for one request, as plain JSON. Null: unavailable, so a rule that reads it fails (503). Omitted: not
 * needed.
 */
export interface ExternalFacts extends SourceAnswers {
  /** By screenerKey. */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** By window in seconds. Null if the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/** Keyed hashes of personal facts: they identify the basis of a verdict without revealing it. */
export type FactDigests = Readonly<Record<string, string>>

export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /** Facts that only the shadow revision needs. They take precedence for the shadow. */
  readonly shadow?: ExternalFacts
  /** The request lacks a field that the shadow revision reads, so the shadow has no verdict. */
  readonly shadowless?: true
}

export interface EvaluationFacts {
  /** Omitted for a session policy. */
  readonly request?: AttestationRequest
  /** Omitted if the policy needs no facts. */
  readonly external?: ExternalFacts | undefined
  readonly lists?: ListReader | undefined
  readonly session?: SessionFacts | undefined
}
