// Queries to the decision index, and their results. The index only locates lines in the log.
import type { LinePlace } from '../../decision-log/located.ts'
import type { ShadowOutcome } from '../../domain/verdict.ts'

export interface DecisionFilter {
  readonly organizationId: string
  readonly wallet?: string
  readonly projectId?: string
  readonly policyId?: string
  readonly verdict?: 'compliant' | 'denied'
  readonly rule?: string | null
  readonly chain?: string
  readonly shadow?: { readonly revisionId: string; readonly outcome: ShadowOutcome }
  /** Unix milliseconds; `untilMs` is exclusive. */
  readonly sinceMs?: number
  readonly untilMs?: number
}

/** End of a page. Decisions are sorted by time, newest first, then by their number in the index. */
export interface DecisionPosition {
  readonly atMs: number
  readonly number: number
}

export interface DecisionPlace extends LinePlace {
  readonly atMs: number
  readonly number: number
  /** The answer missed the deadline and was not sent, although a retry may have received it. */
  readonly withheld: boolean
}

export interface FoundPlaces {
  readonly places: readonly DecisionPlace[]
  readonly next: DecisionPosition | null
  /** False if the search reached its time limit. Continue from `next`. */
  readonly complete: boolean
}

export interface DecisionCount {
  readonly count: number
  readonly exact: boolean
}

export interface IndexedDecision {
  readonly kind: 'decision'
  readonly place: LinePlace
  /** Line at this place, without the newline. */
  readonly line: string
  readonly atMs: number
  readonly uuid: string
  readonly organizationId: string
  readonly projectId: string
  readonly policyId: string
  readonly keyId: string
  readonly rule: string | null
  readonly chain: string
  readonly wallet: string
  readonly compliant: boolean
  readonly shadow: { readonly revisionId: string; readonly outcome: ShadowOutcome } | null
}

export interface IndexedWithheld {
  readonly kind: 'withheld'
  readonly uuid: string
}

export type IndexedLine = IndexedDecision | IndexedWithheld
