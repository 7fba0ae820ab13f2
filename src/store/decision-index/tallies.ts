// Counts decisions while they are taken in: by time, by policy and rule, and by API key; the last two also by whole days.
// A page about a week then reads some hundred rows, however many decisions there were.
import type { IndexedDecision, IndexedLine } from './types.ts'

export type TallyBy = 'time' | 'rule' | 'source'

/**
 * Lengths of the intervals. Quarters of an hour for time, because time zones begin their days at any of the four; hours for
 * rules, because there are many groups. Every interval, and a day, consists of whole intervals of time.
 */
export const TALLY_STEPS_MS: Readonly<Record<TallyBy, number>> = { time: 900_000, rule: 3_600_000, source: 900_000 }

/** A day in UTC: rules and keys are also counted by it. */
export const TALLY_DAY_MS = 86_400_000

/** Whether a row counts one step or one day. */
export type TallyGroup = TallyBy | 'rule-day' | 'source-day'

export const DAY_GROUPS: Readonly<Record<TallyBy, TallyGroup | null>> = {
  time: null,
  rule: 'rule-day',
  source: 'source-day',
}

/** The name of a rule where the policy's default decided. Rule ids have no such characters. */
export const DEFAULT_RULE = '(default)'

export interface TallyQuestion {
  /** Null: of all organizations, for the deployment's own administration (invariant 6). */
  readonly organizationId: string | null
  readonly by: TallyBy
  /** Unix milliseconds: whole intervals, of which the first contains `sinceMs` and the last begins before `untilMs`. */
  readonly sinceMs: number
  readonly untilMs: number
  /** Counts from this interval on are also given separately. */
  readonly laterMs?: number | undefined
}

/** One group. Members that the question does not group by are null. */
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
  /** How many of these are from `laterMs` on; 0 when the question has no `laterMs`. */
  readonly laterCompliant: number
  readonly laterDenied: number
}

/** Beginning of the interval. */
export const tallyStart = (by: TallyBy, atMs: number): number => atMs - (atMs % TALLY_STEPS_MS[by])

export interface Tally {
  readonly group: TallyGroup
  readonly organizationId: string
  readonly atMs: number
  /** The policy where rules are counted, the key where keys are; empty where only time is. */
  readonly subject: string
  /** Empty unless rules are counted. */
  readonly rule: string
  compliant: number
  denied: number
}

export type Counted = Pick<IndexedDecision, 'organizationId' | 'atMs' | 'policyId' | 'rule' | 'keyId' | 'compliant'>

export const isDecision = (line: IndexedLine): line is IndexedDecision => line.kind === 'decision'

const countInSameRows = (one: Counted, other: Counted): boolean =>
  one.keyId === other.keyId &&
  one.policyId === other.policyId &&
  one.rule === other.rule &&
  one.organizationId === other.organizationId &&
  tallyStart('time', one.atMs) === tallyStart('time', other.atMs)

interface Run {
  readonly first: Counted
  compliant: number
  denied: number
}

/** Most decisions have the key, the policy and the rule of the one before: comparing these is cheaper than finding their rows. */
const runsOf = (decisions: Iterable<Counted>): readonly Run[] => {
  const runs: Run[] = []
  let run: Run | undefined
  for (const decision of decisions) {
    if (run === undefined || !countInSameRows(run.first, decision)) {
      run = { first: decision, compliant: 0, denied: 0 }
      runs.push(run)
    }
    run[decision.compliant ? 'compliant' : 'denied'] += 1
  }
  return runs
}

/** Sums a batch up to a few rows. */
export const talliesOf = (decisions: Iterable<Counted>): readonly Tally[] => {
  const tallies = new Map<string, Tally>()
  const add = (tally: Tally): void => {
    const { group, organizationId, atMs, subject, rule } = tally
    const key = `${group}\n${organizationId}\n${atMs}\n${subject}\n${rule}`
    const known = tallies.get(key)
    if (known === undefined) tallies.set(key, tally)
    else {
      known.compliant += tally.compliant
      known.denied += tally.denied
    }
  }
  for (const { first, compliant, denied } of runsOf(decisions)) {
    const { organizationId, policyId, keyId } = first
    const count = (by: TallyBy, subject: string, rule: string): void =>
      add({ group: by, organizationId, atMs: tallyStart(by, first.atMs), subject, rule, compliant, denied })
    count('time', '', '')
    count('rule', policyId, first.rule ?? DEFAULT_RULE)
    count('source', keyId, '')
  }
  // Days are summed up from these rows, not from the decisions.
  for (const tally of [...tallies.values()]) {
    const group = DAY_GROUPS[tally.group as TallyBy]
    if (group !== null) add({ ...tally, group, atMs: tally.atMs - (tally.atMs % TALLY_DAY_MS) })
  }
  return [...tallies.values()]
}
