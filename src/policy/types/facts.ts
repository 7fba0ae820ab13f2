// What a verdict rests on: the request, and what was collected for it. Source: decisions §4.
import type { ListReader } from './list-reader.ts'
import type { ReadValue } from './reads.ts'
import type { SourceAnswers } from './sources.ts'

/** Everything a rule may read about one request. Values are canonical (see domain/address.ts). */
export interface RequestFacts {
  readonly chainName: string
  readonly chainFamily: 'evm' | 'solana'
  /** EIP-155 id; 0 on Solana. */
  readonly chainId: number
  readonly from: string
  /** The user whom `from` represents; empty when not sent. */
  readonly onBehalf: string
  /** The zero address when the request names a project instead of a contract. */
  readonly to: string
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex, verbatim. */
  readonly data: string
  /** Canonical text of an IP address, at most 64 characters; empty when not sent. */
  readonly userIp: string
  /** The time of the request, Unix seconds. */
  readonly nowSeconds: number
}

/** Null where the data has no answer for this address: unknown is not "no". */
export interface GeographyFacts {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string | null
  /** ISO 3166-2 with its country, for example "US-NY". */
  readonly region: string | null
  /** Any of the four below, or what the file calls anonymous. */
  readonly anonymous: boolean | null
  readonly vpn: boolean | null
  readonly proxy: boolean | null
  readonly tor: boolean | null
  readonly hosting: boolean | null
}

export interface IdentityFacts {
  /** At the organization's current level (spec, verification-level rule). */
  readonly verified: boolean
  /** Null unless verified. */
  readonly type: 'individual' | 'business' | null
  /** Of the verification: basic 1, standard 2, enhanced 3; 0 when not verified. */
  readonly level: number
  /** Null unless verified. */
  readonly verifiedAtSeconds: number | null
}

export interface BaseFeeFacts {
  /** Wei a gas, canonical decimal; null on a chain without base fees. */
  readonly wei: string | null
}

/** A field that the screener's answer is not mapped to is null. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** A whole number, as the screener scales it; at most 2^53 either way. */
  readonly score: number | null
  /** At most 64, each of at most 64 characters. */
  readonly categories: readonly string[] | null
}

/** Earlier compliant decisions and those under way, this one left out. */
export interface VelocityFacts {
  /** By wallet and project, on all chains. */
  readonly count: number
  /** By wallet, project and chain: wei or lamports, canonical decimal. */
  readonly value: string
}

/**
 * What was collected for one request: plain JSON, since it travels to a worker as text. A part that was asked for and
 * can't be had is null, and a rule that reads it then fails (503); a part that was not asked for is left out.
 */
export interface ExternalFacts extends SourceAnswers {
  /** By screenerKey (needs.ts). */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  /** By the document's name of the read. */
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** By the window in seconds. Null: the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/** Keyed hashes of what is personal, so that the decision log can show what a verdict rested on without saying it. */
export type FactDigests = Readonly<Record<string, string>>

/** What travels with a job. */
export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /** What only the shadow revision needs. Its names stand before those above: two revisions may mean two things by one. */
  readonly shadow?: ExternalFacts
  /** The request lacks a field that the shadow revision reads, so that one has no verdict. */
  readonly shadowless?: true
}

/** What a policy is evaluated on. */
export interface EvaluationFacts extends RequestFacts {
  /** Left out when the policy needs none. */
  readonly external?: ExternalFacts
  readonly lists?: ListReader
}
