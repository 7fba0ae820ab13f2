// Table and queries of counted decisions, for the local and the shared index.
import {
  DAY_GROUPS,
  DEFAULT_RULE,
  TALLY_DAY_MS,
  TALLY_STEPS_MS,
  type Tally,
  type TallyBy,
  type TallyGroup,
  type TallyQuestion,
  type TallyRow,
  tallyStart,
} from './tallies.ts'

/** Maximum groups in a result; more than the quarter-hours of 31 days. */
const TALLIES_MAX = 3_000

const COLUMNS: Readonly<Record<TallyBy, string>> = {
  time: 'at',
  rule: 'subject, rule',
  source: 'organization, subject',
}

interface FoundTally {
  readonly at?: number
  readonly organization?: string
  readonly subject?: string
  readonly rule?: string
  readonly compliant: number
  readonly denied: number
  readonly later_compliant: number
  readonly later_denied: number
}

const toTallyRow = (by: TallyBy, found: FoundTally): TallyRow => ({
  atMs: found.at ?? null,
  organizationId: found.organization ?? null,
  keyId: by === 'source' ? (found.subject ?? null) : null,
  policyId: by === 'rule' ? (found.subject ?? null) : null,
  rule: found.rule === undefined || found.rule === DEFAULT_RULE ? null : found.rule,
  compliant: Number(found.compliant),
  denied: Number(found.denied),
  laterCompliant: Number(found.later_compliant),
  laterDenied: Number(found.later_denied),
})

interface Part {
  readonly group: TallyGroup
  readonly fromMs: number
  readonly toMs: number
  readonly later: 0 | 1
}

/** Covers a period with the fewest rows: steps until the first midnight, whole days, steps of the last day. */
const partsBetween = (by: TallyBy, fromMs: number, toMs: number, later: 0 | 1): readonly Part[] => {
  const group = DAY_GROUPS[by]
  const firstDay = Math.ceil(fromMs / TALLY_DAY_MS) * TALLY_DAY_MS
  const lastDay = Math.floor(toMs / TALLY_DAY_MS) * TALLY_DAY_MS
  const parts: readonly Part[] =
    group === null || firstDay >= lastDay
      ? [{ group: by, fromMs, toMs, later }]
      : [
          { group: by, fromMs, toMs: firstDay, later },
          { group, fromMs: firstDay, toMs: lastDay, later },
          { group: by, fromMs: lastDay, toMs, later },
        ]
  return parts.filter((part) => part.fromMs < part.toMs)
}

const partsOf = ({ by, sinceMs, untilMs, laterMs }: TallyQuestion): readonly Part[] => {
  const fromMs = tallyStart(by, sinceMs)
  const toMs = Math.ceil(untilMs / TALLY_STEPS_MS[by]) * TALLY_STEPS_MS[by]
  if (laterMs === undefined) return partsBetween(by, fromMs, toMs, 0)
  const middleMs = Math.min(Math.max(tallyStart(by, laterMs), fromMs), toMs)
  return partsBetween(by, fromMs, middleMs, 0).concat(partsBetween(by, middleMs, toMs, 1))
}

export const createTallyTable = (table: string) => ({
  /** @param integer type for 64-bit integers @param end end of CREATE TABLE */
  create: (integer: string, end: string): readonly string[] => [
    `CREATE TABLE ${table} (
       grouped_by TEXT NOT NULL, organization TEXT NOT NULL, at ${integer} NOT NULL, node TEXT NOT NULL,
       subject TEXT NOT NULL, rule TEXT NOT NULL, compliant ${integer} NOT NULL, denied ${integer} NOT NULL,
       PRIMARY KEY (grouped_by, organization, at, node, subject, rule)
     )${end}`,
    // Queries over all organizations group by key, because there are fewer keys than rules.
    `CREATE INDEX ${table}_by_time ON ${table} (grouped_by, at) WHERE rule = ''`,
  ],
  /** Inserts a row or adds to its counts. */
  add: `INSERT INTO ${table} (grouped_by, organization, at, node, subject, rule, compliant, denied)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (grouped_by, organization, at, node, subject, rule) DO UPDATE SET
      compliant = ${table}.compliant + excluded.compliant, denied = ${table}.denied + excluded.denied`,
  addParameters: (
    { group, organizationId, atMs, subject, rule, compliant, denied }: Tally,
    node: string,
  ): (string | number)[] => [group, organizationId, atMs, node, subject, rule, compliant, denied],
  /** Returns the query; null if the period is empty. */
  ask: (question: TallyQuestion) => {
    const { by, organizationId } = question
    const parts = partsOf(question)
    if (parts.length === 0) return null
    const columns = COLUMNS[by]
    const everyones = by === 'rule' ? '' : " AND rule = ''"
    const own = organizationId === null ? everyones : ' AND organization = ?'
    const selects = parts.map(
      ({ later }) =>
        `SELECT ${columns}, compliant, denied, ${later} AS later FROM ${table}
         WHERE grouped_by = ? AND at >= ? AND at < ?${own}`,
    )
    return {
      sql: `SELECT ${columns}, SUM(compliant) AS compliant, SUM(denied) AS denied,
          SUM(later * compliant) AS later_compliant, SUM(later * denied) AS later_denied
        FROM (${selects.join(' UNION ALL ')}) AS parts GROUP BY ${columns}
        ORDER BY ${by === 'time' ? 'at' : 'SUM(compliant + denied) DESC'} LIMIT ${TALLIES_MAX}`,
      parameters: parts.flatMap(({ group, fromMs, toMs }) => [
        group,
        fromMs,
        toMs,
        ...(organizationId === null ? [] : [organizationId]),
      ]),
      toRow: (found: unknown): TallyRow => toTallyRow(by, found as FoundTally),
    }
  },
})
