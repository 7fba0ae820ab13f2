// Counts decisions during indexing, by time, rule and API key, so that a page about a week reads a few hundred rows.
import type { IndexedDecision, IndexedLine } from './types.ts'

export type TallyBy = 'time' | 'rule' | 'source'

/** Whole quarter-hours, because time zone offsets are multiples of a quarter-hour. */
export const TALLY_STEPS_MS: Readonly<Record<TallyBy, number>> = { time: 900_000, rule: 3_600_000, source: 900_000 }

/** A UTC day: the longer interval by which rules and keys are also counted. */
export const TALLY_DAY_MS = 86_400_000

export type TallyGroup = TallyBy | 'rule-day' | 'source-day'

export const DAY_GROUPS: Readonly<Record<TallyBy, TallyGroup | null>> = {
  time: null,
  rule: 'rule-day',
  source: 'source-day',
}

/** Name of the policy's default in tallies. Rule ids cannot contain these characters. */
export const DEFAULT_RULE = '(default)'

export interface TallyQuestion {
  /** Null for all organizations, for the administration of the deployment (invariant 6). */
  readonly organizationId: string | null
  readonly by: TallyBy
  /** Unix milliseconds, extended to whole intervals. `untilMs` is exclusive. */
  readonly sinceMs: number
  readonly untilMs: number
  /** Start of a period that is also counted separately. */
  readonly laterMs?: number | undefined
}

/** Fields that are not part of the grouping are null. */
export interface TallyRow {
  readonly atMs: number | null
  readonly organizationId: string | null
  readonly keyId: string | null
  readonly policyId: string | null
  readonly rule: string | null
  readonly compliant: number
  readonly denied: number
  /** Counts since `laterMs`; 0 if it is omitted. */
  readonly laterCompliant: number
  readonly laterDenied: number
}

export const tallyStart = (by: TallyBy, atMs: number): number => atMs - (atMs % TALLY_STEPS_MS[by])

export interface Tally {
  readonly group: TallyGroup
  readonly organizationId: string
  readonly atMs: number
  /** The policy for rules, the key for keys, otherwise empty. */
  readonly subject: string
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

/** Groups consecutive decisions with the same key, policy and rule, which is cheaper than a lookup per decision. */
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
  // Aggregate days from these rows instead of the decisions.
  for (const tally of [...tallies.values()]) {
    const group = DAY_GROUPS[tally.group as TallyBy]
    if (group !== null) add({ ...tally, group, atMs: tally.atMs - (tally.atMs % TALLY_DAY_MS) })
  }
  return [...tallies.values()]
}
