// The facts on which a verdict is based: the request, and the facts collected for it. Source: decisions §4.
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceAnswers } from '../sources/all.ts'
import type { ReadValue } from './reads.ts'
import type { SessionFacts } from './session-facts.ts'

/** The lists that one organization's policies can read. Synchronous, because the lists are in shared memory. */
export interface ListReader {
  /** Also false if there is no such list. Call ageSeconds first if the difference matters. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Seconds since the source confirmed the list's content; 0 for a manually maintained list. Null if there is no such
   * list, or if its content was never loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/**
 * Each organization's own two lists, checked before its policies: deny takes precedence over allow, and allow over the
 * policy (decisions §4, Duties). ageSeconds is null if the organization doesn't have the list.
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'

/** A field is null if the settings do not map it. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** An integer on the screener's scale, with an absolute value of at most 2^53. */
  readonly score: number | null
  /** At most 64 categories of at most 64 characters each. */
  readonly categories: readonly string[] | null
}

/** Earlier compliant decisions and decisions in progress, without this request. */
export interface VelocityFacts {
  /** Count for the wallet and project, on all chains. */
  readonly count: number
  /** Sum for the wallet, project and chain: wei or lamports, canonical decimal. */
  readonly value: string
}

/**
 * The facts collected for one request. Plain JSON, because it is sent to a worker as text. An unavailable part is null:
 * a rule that reads it fails (503). An unneeded part is omitted.
 */
export interface ExternalFacts extends SourceAnswers {
  /** By screenerKey (needs.ts). */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  /** By the read's name in the document. */
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** By window in seconds. Null if the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/** Keyed hashes of personal facts, so that the decision log identifies the basis of a verdict without revealing it. */
export type FactDigests = Readonly<Record<string, string>>

/** The facts that are sent with a job. */
export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /**
   * Facts that only the shadow revision needs. For the shadow, they take precedence over the facts above, because the
   * two revisions may use the same name for different things.
   */
  readonly shadow?: ExternalFacts
  /** The request lacks a field that the shadow revision reads, so the shadow has no verdict. */
  readonly shadowless?: true
}

/** The input of an evaluation: a request with its collected facts, or a session. */
export interface EvaluationFacts {
  /** Omitted for a policy that decides sessions. */
  readonly request?: AttestationRequest
  /** Omitted if the policy needs no facts. */
  readonly external?: ExternalFacts | undefined
  readonly lists?: ListReader | undefined
  readonly session?: SessionFacts | undefined
}
