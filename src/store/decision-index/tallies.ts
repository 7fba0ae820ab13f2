// Decisions counted while they are taken in, by quarter of an hour, policy, rule and key: what a page says of a day is read
// from some hundred rows, however many decisions there were.
import type { IndexedDecision, IndexedLine } from './types.ts'

/** Quarters, because days begin at each of the four somewhere. */
export const TALLY_MS = 900_000
/** More groups than this are no table for people. */
export const TALLIES_MAX = 1_000

/** The name of a rule where the policy's default decided. Rule ids have no such characters. */
export const DEFAULT_RULE = '(default)'

export type TallyBy = 'time' | 'rule' | 'source'

export interface TallyQuestion {
  /** Null: of all organizations, for the deployment's own administration (invariant 6). */
  readonly organizationId: string | null
  readonly by: TallyBy
  /** Unix milliseconds: whole quarters, of which the first contains `sinceMs` and the last ends at or after `untilMs`. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** One group; members that were not grouped by are null. */
export interface TallyRow {
  /** Beginning of the quarter. */
  readonly atMs: number | null
  readonly organizationId: string | null
  readonly keyId: string | null
  readonly policyId: string | null
  /** Also null where the policy's default decided. */
  readonly rule: string | null
  readonly compliant: number
  readonly denied: number
}

/** The columns of each grouping. */
export const TALLY_GROUPS = {
  time: ['at'],
  rule: ['policy', 'rule'],
  source: ['organization', 'key_id'],
} as const satisfies Readonly<Record<TallyBy, readonly string[]>>

export interface FoundTally {
  readonly at?: number
  readonly organization?: string
  readonly key_id?: string
  readonly policy?: string
  readonly rule?: string
  readonly compliant: number
  readonly denied: number
}

export const toTallyRow = (found: FoundTally): TallyRow => ({
  atMs: found.at ?? null,
  organizationId: found.organization ?? null,
  keyId: found.key_id ?? null,
  policyId: found.policy ?? null,
  rule: found.rule === undefined || found.rule === DEFAULT_RULE ? null : found.rule,
  compliant: Number(found.compliant),
  denied: Number(found.denied),
})

export const quarterOf = (atMs: number): number => Math.floor(atMs / TALLY_MS) * TALLY_MS

export interface Tally {
  readonly organizationId: string
  readonly atMs: number
  readonly policyId: string
  readonly rule: string
  readonly keyId: string
  compliant: number
  denied: number
}

type Counted = Pick<IndexedDecision, 'organizationId' | 'atMs' | 'policyId' | 'rule' | 'keyId' | 'compliant'>

export const isDecision = (line: IndexedLine): line is IndexedDecision => line.kind === 'decision'

/** A batch as few rows. */
export const talliesOf = (decisions: Iterable<Counted>): readonly Tally[] => {
  const tallies = new Map<string, Tally>()
  for (const { organizationId, policyId, keyId, compliant, ...decision } of decisions) {
    const atMs = quarterOf(decision.atMs)
    const rule = decision.rule ?? DEFAULT_RULE
    const key = [organizationId, atMs, policyId, rule, keyId].join('\n')
    let tally = tallies.get(key)
    if (tally === undefined) {
      tally = { organizationId, atMs, policyId, rule, keyId, compliant: 0, denied: 0 }
      tallies.set(key, tally)
    }
    tally[compliant ? 'compliant' : 'denied'] += 1
  }
  return [...tallies.values()]
}
