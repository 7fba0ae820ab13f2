// Writes one node's decisions to the shared index, in one transaction with the position in the log.
import { hashLine } from '../../decision-log/record.ts'
import type { Database, SqlParameter, Transaction } from '../database.ts'
import { uuidKey, walletKey } from './keys.ts'
import { SHARED_TALLIES } from './shared-tables.ts'
import { DEFAULT_RULE, isDecision, type Tally, talliesOf } from './tallies.ts'
import type { IndexedDecision, IndexedLine } from './types.ts'
import { type CutSegment, type SlotPosition, shadowName } from './writer.ts'

export interface SharedIndexWriter {
  append(lines: readonly IndexedLine[], positions: readonly SlotPosition[], cuts: readonly CutSegment[]): Promise<void>
  positions(): Promise<ReadonlyMap<string, { readonly segment: string; readonly offset: number }>>
  count(): Promise<number>
  clear(): Promise<void>
}

const COLUMNS = [
  'organization_id',
  'at',
  'number',
  'project_id',
  'policy_id',
  'key_id',
  'rule',
  'chain',
  'compliant',
  'shadow',
  'wallet',
  'uuid',
  'node',
  'slot',
  'segment',
  'start_byte',
  'byte_length',
  'line_hash',
]
/** Columns for the tallies. Only inserted and deleted rows count. */
const TALLIED = 'organization_id, at, policy_id, rule, key_id, compliant'
interface TalliedRow {
  readonly organization_id: string
  readonly at: number
  readonly policy_id: string
  readonly rule: string
  readonly key_id: string
  readonly compliant: number
}
const ROWS_AT_ONCE = 100
const ONE_ROW = `(${COLUMNS.map(() => '?').join(', ')})`

const insertOf = (rows: number): string =>
  `INSERT INTO decision_index_rows (${COLUMNS.join(', ')})
   VALUES ${Array.from({ length: rows }, () => ONE_ROW).join(', ')} ON CONFLICT (organization_id, at, number) DO NOTHING
   RETURNING ${TALLIED}`

/**
 * Returns a safe integer derived from a position on a node. Collisions within an organization and millisecond are
 * negligible.
 */
const placeNumber = (node: string, { place }: IndexedDecision): number =>
  Number(BigInt.asUintN(52, Bun.hash.xxHash64(`${node}/${place.slot}/${place.segment}/${place.offset}`)))

export const createSharedIndexWriter = (database: Database, node: string): SharedIndexWriter => {
  const valuesOf = (decision: IndexedDecision): SqlParameter[] => [
    decision.organizationId,
    decision.atMs,
    placeNumber(node, decision),
    decision.projectId,
    decision.policyId,
    decision.keyId,
    decision.rule ?? DEFAULT_RULE,
    decision.chain,
    decision.compliant ? 1 : 0,
    decision.shadow === null ? null : shadowName(decision.shadow),
    walletKey(decision.wallet),
    uuidKey(decision.uuid),
    node,
    decision.place.slot,
    decision.place.segment,
    decision.place.offset,
    decision.place.length,
    Uint8Array.fromHex(hashLine(decision.line)),
  ]

  const addTally = (transaction: Transaction, tally: Tally): Promise<unknown> =>
    transaction.execute(SHARED_TALLIES.add, SHARED_TALLIES.addParameters(tally, node))

  const tally = async (transaction: Transaction, rows: readonly TalliedRow[], sign: 1 | -1): Promise<number> => {
    const counted = rows.map((row) => ({
      organizationId: row.organization_id,
      atMs: row.at,
      policyId: row.policy_id,
      rule: row.rule,
      keyId: row.key_id,
      compliant: Number(row.compliant) === 1,
    }))
    for (const { compliant, denied, ...group } of talliesOf(counted))
      await addTally(transaction, { ...group, compliant: sign * compliant, denied: sign * denied })
    return sign * rows.length
  }

  const insert = async (transaction: Transaction, decisions: readonly IndexedDecision[]): Promise<number> => {
    const inserted: TalliedRow[] = []
    for (let from = 0; from < decisions.length; ) {
      const rows = decisions.length - from >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1
      const values = decisions.slice(from, from + rows).flatMap(valuesOf)
      inserted.push(...(await transaction.query<TalliedRow>(insertOf(rows), values)))
      from += rows
    }
    return tally(transaction, inserted, 1)
  }

  /** Reads the whole table; needed only after a failed write to the log. */
  const cutOff = async (transaction: Transaction, { slot, segment, length }: CutSegment): Promise<number> =>
    tally(
      transaction,
      await transaction.query<TalliedRow>(
        `DELETE FROM decision_index_rows WHERE node = ? AND slot = ? AND segment = ? AND start_byte >= ?
         RETURNING ${TALLIED}`,
        [node, slot, segment, length],
      ),
      -1,
    )

  return {
    append: (lines, positions, cuts) =>
      database.transaction(
        async (transaction) => {
          const decisions = lines.filter(isDecision)
          let change = await insert(transaction, decisions)
          for (const line of lines) {
            if (line.kind === 'decision') continue
            await transaction.execute(
              'INSERT INTO decision_index_withheld (uuid) VALUES (?) ON CONFLICT (uuid) DO NOTHING',
              [uuidKey(line.uuid)],
            )
          }
          for (const cut of cuts) change += await cutOff(transaction, cut)
          for (const { slot, segment, offset } of positions) {
            await transaction.execute(
              `INSERT INTO decision_index_positions (node, slot, segment, start_byte) VALUES (?, ?, ?, ?)
               ON CONFLICT (node, slot) DO UPDATE SET segment = excluded.segment, start_byte = excluded.start_byte`,
              [node, slot, segment, offset],
            )
          }
          await transaction.execute(
            `INSERT INTO decision_index_nodes (node, decisions) VALUES (?, ?)
             ON CONFLICT (node) DO UPDATE SET decisions = decision_index_nodes.decisions + excluded.decisions`,
            [node, change],
          )
        },
        { survives: 'process-crash' },
      ),
    positions: async () => {
      const rows = await database.query<{ slot: string; segment: string; start_byte: number }>(
        'SELECT slot, segment, start_byte FROM decision_index_positions WHERE node = ?',
        [node],
      )
      return new Map(rows.map(({ slot, segment, start_byte }) => [slot, { segment, offset: start_byte }]))
    },
    count: async () => {
      const rows = await database.query<{ decisions: number }>('SELECT decisions FROM decision_index_nodes')
      return rows.reduce((sum, { decisions }) => sum + decisions, 0)
    },
    clear: () =>
      database.transaction(async (transaction) => {
        for (const table of ['rows', 'tallies', 'positions', 'nodes']) {
          await transaction.execute(`DELETE FROM decision_index_${table} WHERE node = ?`, [node])
        }
      }),
  }
}
