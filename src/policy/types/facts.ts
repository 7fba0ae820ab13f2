// The facts that a verdict is based on: the request, and what was collected for it. Source: decisions §4.
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { SourceAnswers } from '../sources/all.ts'
import type { ReadValue } from './reads.ts'
import type { SessionFacts } from './session-facts.ts'

/**
 * The lists that one organization's policies can read. Synchronous, because they are in memory that all workers share.
 */
export interface ListReader {
  /** Also false when there is no such list: call ageSeconds first where that matters. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Seconds since the source confirmed the list's content; 0 for a list that is kept by hand. Null: there is no such
   * list, or nothing of it was ever loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/**
 * Each organization's own two lists, checked before its policies: a deny entry beats an allow entry, and an allow entry
 * beats the policy (decisions §4, Duties). ageSeconds is null for an organization that does not have them.
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'

/** A member is null when the settings map nothing to it. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** A whole number on the screener's scale; its absolute value is at most 2^53. */
  readonly score: number | null
  /** At most 64, each of at most 64 characters. */
  readonly categories: readonly string[] | null
}

/** Counts earlier compliant decisions and those under way, without this request. */
export interface VelocityFacts {
  /** For the wallet and project, on all chains. */
  readonly count: number
  /** For the wallet, project and chain: wei or lamports, canonical decimal. */
  readonly value: string
}

/**
 * The facts collected for one request. Plain JSON, because it travels to a worker as text. A part that was needed but
 * can't be had is null: a rule that reads it fails (503). A part that was not needed is left out.
 */
export interface ExternalFacts extends SourceAnswers {
  /** By screenerKey (needs.ts). */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  /** By the read's name in the document. */
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** By window in seconds. Null when the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/**
 * Keyed hashes of personal facts, so that the decision log can identify what a verdict was based on without revealing
 * it.
 */
export type FactDigests = Readonly<Record<string, string>>

/** The facts that travel with a job. */
export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /**
   * Facts that only the shadow revision needs. For the shadow, they take precedence over those above: the two revisions
   * may use one name for different things.
   */
  readonly shadow?: ExternalFacts
  /** The request lacks a field that the shadow revision reads, so the shadow has no verdict. */
  readonly shadowless?: true
}

/** Everything that a policy is evaluated on: a request with what was collected for it, or a session. */
export interface EvaluationFacts {
  /** Left out for a policy that decides sessions. */
  readonly request?: AttestationRequest
  /** Left out when the policy needs none. */
  readonly external?: ExternalFacts | undefined
  readonly lists?: ListReader | undefined
  readonly session?: SessionFacts | undefined
}
