// Questions to the decision index and its answers. The index only finds places in the log: what people see is read there.
import type { LinePlace } from '../../decision-log/located.ts'

/** `different`: the verdict or the deciding rule differs. */
export type ShadowOutcome = 'same' | 'different' | 'failed'

export interface DecisionFilter {
  /** Always one organization's (invariant 6). */
  readonly organizationId: string
  /** Canonical; the end user's. */
  readonly wallet?: string
  readonly projectId?: string
  readonly policyId?: string
  readonly verdict?: 'compliant' | 'denied'
  /** A rule's id; null: the policy's default decided. */
  readonly rule?: string | null
  readonly chain?: string
  /** Whether this shadow revision would have decided differently, or would have failed. */
  readonly shadow?: { readonly revisionId: string; readonly outcome: ShadowOutcome }
  /** Unix milliseconds: from, inclusive, and until, exclusive. */
  readonly sinceMs?: number
  readonly untilMs?: number
}

/** Where a page ended: decisions are ordered by time, newest first, and by their number in the index. */
export interface DecisionPosition {
  readonly atMs: number
  readonly number: number
}

export interface DecisionPlace extends LinePlace {
  readonly atMs: number
  readonly number: number
  /** Its answer came after the deadline and was not sent then; a repeated request may still have got it. */
  readonly withheld: boolean
}

export interface FoundPlaces {
  readonly places: readonly DecisionPlace[]
  /** Where the next page begins; null after the last. */
  readonly next: DecisionPosition | null
  /** False: the search was stopped after its time, and can continue from `next`. */
  readonly complete: boolean
}

export interface DecisionCount {
  readonly count: number
  /** False: there are more. */
  readonly exact: boolean
}

/** One decision as the index takes it in. */
export interface IndexedDecision {
  readonly kind: 'decision'
  readonly place: LinePlace
  readonly atMs: number
  readonly uuid: string
  readonly organizationId: string
  readonly projectId: string
  readonly policyId: string
  /** Id of the API key that asked. */
  readonly keyId: string
  readonly rule: string | null
  readonly chain: string
  readonly wallet: string
  readonly compliant: boolean
  /** Null where there was no shadow revision. */
  readonly shadow: { readonly revisionId: string; readonly outcome: ShadowOutcome } | null
}

export interface IndexedWithheld {
  readonly kind: 'withheld'
  readonly uuid: string
}

export type IndexedLine = IndexedDecision | IndexedWithheld
