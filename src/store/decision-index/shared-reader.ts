// Finds decisions of all nodes in the shared index, newest first, within one organization (invariant 6).
import type { Database, SqlParameter } from '../database.ts'
import { uuidKey, walletKey } from './keys.ts'
import { SHARED_TALLIES } from './shared-tables.ts'
import { DEFAULT_RULE, type TallyQuestion, type TallyRow } from './tallies.ts'
import type { DecisionCount, DecisionFilter, DecisionPlace, DecisionPosition } from './types.ts'
import { shadowName } from './writer.ts'

export interface NodePlace extends DecisionPlace {
  readonly node: string
  /** SHA-256 of the line. */
  readonly lineHash: Uint8Array
}

interface PlaceRow {
  readonly at: number
  readonly number: number
  readonly node: string
  readonly slot: string
  readonly segment: string
  readonly start_byte: number
  readonly byte_length: number
  readonly line_hash: Uint8Array
  readonly withheld: number
}

const COUNT_MAX = 100_000
/** Maximum rows with one half of a uuid. Usually one row: only forged uuids share their first half. */
const SAME_UUID_MAX = 10

const SELECT = `SELECT r.at, r.number, r.node, r.slot, r.segment, r.start_byte, r.byte_length, r.line_hash,
  CASE WHEN w.uuid IS NULL THEN 0 ELSE 1 END AS withheld
  FROM decision_index_rows r LEFT JOIN decision_index_withheld w ON w.uuid = r.uuid`

const toPlace = (row: PlaceRow): NodePlace => ({
  node: row.node,
  slot: row.slot,
  segment: row.segment,
  offset: row.start_byte,
  length: row.byte_length,
  lineHash: row.line_hash,
  atMs: row.at,
  number: row.number,
  withheld: Number(row.withheld) === 1,
})

const conditionsOf = (filter: DecisionFilter): { sql: string; parameters: SqlParameter[] } => {
  const parts = ['r.organization_id = ?']
  const parameters: SqlParameter[] = [filter.organizationId]
  const add = (condition: string, parameter: SqlParameter | undefined): void => {
    if (parameter === undefined) return
    parts.push(condition)
    parameters.push(parameter)
  }
  add('r.wallet = ?', filter.wallet === undefined ? undefined : walletKey(filter.wallet))
  add('r.project_id = ?', filter.projectId)
  add('r.policy_id = ?', filter.policyId)
  add('r.rule = ?', filter.rule === null ? DEFAULT_RULE : filter.rule)
  add('r.chain = ?', filter.chain)
  add('r.shadow = ?', filter.shadow === undefined ? undefined : shadowName(filter.shadow))
  if (filter.verdict !== undefined) parts.push(`r.compliant = ${filter.verdict === 'compliant' ? 1 : 0}`)
  add('r.at >= ?', filter.sinceMs)
  add('r.at < ?', filter.untilMs)
  return { sql: parts.join(' AND '), parameters }
}

export const createSharedIndexReader = (database: Database) => ({
  find: async (
    filter: DecisionFilter,
    after: DecisionPosition | null,
    limit: number,
  ): Promise<{ readonly places: readonly NodePlace[]; readonly next: DecisionPosition | null }> => {
    const { sql, parameters } = conditionsOf(filter)
    const rows = await database.query<PlaceRow>(
      `${SELECT} WHERE ${sql}${after === null ? '' : ' AND (r.at, r.number) < (?, ?)'}
       ORDER BY r.at DESC, r.number DESC LIMIT ${limit + 1}`,
      after === null ? parameters : [...parameters, after.atMs, after.number],
    )
    const places = rows.slice(0, limit).map(toPlace)
    const last = rows.length > limit ? places.at(-1) : undefined
    return { places, next: last === undefined ? null : { atMs: last.atMs, number: last.number } }
  },
  /** Matches the first half of the uuid in all organizations. The caller must compare the rest. */
  findByUuid: async (uuid: string): Promise<readonly NodePlace[]> =>
    (await database.query<PlaceRow>(`${SELECT} WHERE r.uuid = ? LIMIT ${SAME_UUID_MAX}`, [uuidKey(uuid)])).map(toPlace),
  count: async (filter: DecisionFilter): Promise<DecisionCount> => {
    const { sql, parameters } = conditionsOf(filter)
    const [row] = await database.query<{ count: number }>(
      `SELECT COUNT(*) AS count FROM (
         SELECT 1 AS one FROM decision_index_rows r WHERE ${sql} LIMIT ${COUNT_MAX + 1}
       ) AS found`,
      parameters,
    )
    const count = row?.count ?? 0
    return { count: Math.min(count, COUNT_MAX), exact: count <= COUNT_MAX }
  },
  /** Groups by time come oldest first, other groups most frequent first. */
  tally: async (question: TallyQuestion): Promise<readonly TallyRow[]> => {
    const asked = SHARED_TALLIES.ask(question)
    return asked === null ? [] : (await database.query(asked.sql, asked.parameters)).map(asked.toRow)
  },
})

export type SharedIndexReader = ReturnType<typeof createSharedIndexReader>
