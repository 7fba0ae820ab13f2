// Decisions counted while they are taken in: by time, by policy and rule, and by key, each for itself. What a page says of a
// day is then read from some hundred rows, however many decisions there were.
import type { IndexedDecision, IndexedLine } from './types.ts'

export type TallyBy = 'time' | 'rule' | 'source'

/**
 * How long the intervals are. Quarters of an hour, because days begin at each of the four somewhere; hours where there are
 * as many groups as rules.
 */
export const TALLY_STEPS_MS: Readonly<Record<TallyBy, number>> = { time: 900_000, rule: 3_600_000, source: 900_000 }

/** More groups than this are no table for people; all quarters of 31 days are fewer. */
export const TALLIES_MAX = 3_000

/** The name of a rule where the policy's default decided. Rule ids have no such characters. */
export const DEFAULT_RULE = '(default)'

export interface TallyQuestion {
  /** Null: of all organizations, for the deployment's own administration (invariant 6). */
  readonly organizationId: string | null
  readonly by: TallyBy
  /** Unix milliseconds: whole intervals, of which the first contains `sinceMs` and the last begins before `untilMs`. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** One group; members that were not grouped by are null. */
export interface TallyRow {
  /** Beginning of the interval. */
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
export const TALLY_GROUPS: Readonly<Record<TallyBy, string>> = {
  time: 'at',
  rule: 'subject, rule',
  source: 'organization, subject',
}

export interface FoundTally {
  readonly at?: number
  readonly organization?: string
  /** A policy or a key. */
  readonly subject?: string
  readonly rule?: string
  readonly compliant: number
  readonly denied: number
}

export const toTallyRow = (by: TallyBy, found: FoundTally): TallyRow => ({
  atMs: found.at ?? null,
  organizationId: found.organization ?? null,
  keyId: by === 'source' ? (found.subject ?? null) : null,
  policyId: by === 'rule' ? (found.subject ?? null) : null,
  rule: found.rule === undefined || found.rule === DEFAULT_RULE ? null : found.rule,
  compliant: Number(found.compliant),
  denied: Number(found.denied),
})

/** Beginning of the interval. */
export const tallyStart = (by: TallyBy, atMs: number): number => atMs - (atMs % TALLY_STEPS_MS[by])

export interface Tally {
  readonly by: TallyBy
  readonly organizationId: string
  readonly atMs: number
  /** By rule a policy, by source a key; empty by time. */
  readonly subject: string
  /** Empty but by rule. */
  readonly rule: string
  compliant: number
  denied: number
}

export type Counted = Pick<IndexedDecision, 'organizationId' | 'atMs' | 'policyId' | 'rule' | 'keyId' | 'compliant'>

export const isDecision = (line: IndexedLine): line is IndexedDecision => line.kind === 'decision'

/** A batch as few rows. */
export const talliesOf = (decisions: Iterable<Counted>): readonly Tally[] => {
  const tallies = new Map<string, Tally>()
  const add = (by: TallyBy, { organizationId, atMs, compliant }: Counted, subject: string, rule: string): void => {
    const start = tallyStart(by, atMs)
    const key = [by, organizationId, start, subject, rule].join('\n')
    let tally = tallies.get(key)
    if (tally === undefined) {
      tally = { by, organizationId, atMs: start, subject, rule, compliant: 0, denied: 0 }
      tallies.set(key, tally)
    }
    tally[compliant ? 'compliant' : 'denied'] += 1
  }
  for (const decision of decisions) {
    add('time', decision, '', '')
    add('rule', decision, decision.policyId, decision.rule ?? DEFAULT_RULE)
    add('source', decision, decision.keyId, '')
  }
  return [...tallies.values()]
}
