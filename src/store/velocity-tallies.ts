// Request counts of each wallet, by process (src/facts/velocity.ts). A process writes only its own rows, as totals
// instead of differences, so that reading a row twice is harmless. Each write has an increasing number, by which other
// processes find new rows. Rows outlive the process, because later processes use its counts.
import type { VelocityTally } from '../domain/velocity.ts'
import type { TableScope } from './copy/table-scope.ts'
import type { SqlParameter } from './database.ts'
import { chunkRows, fieldsOf, type RowOf } from './row-fields.ts'
import { sweepRows } from './sweep.ts'

interface VelocityWriter {
  readonly processId: string
  readonly sequence: number
}

type TallyRow = RowOf<VelocityTally> & { readonly sequence: number }

const COLUMNS = `organization_id, project_id, environment, wallet, chain_name, window_seconds, part, count, value,
  sequence, expires_at_seconds`
export const VELOCITY_WRITE_MAX = 500
/** More than the rows of one write, so that each page reaches a new number. */
const PAGE = 2 * VELOCITY_WRITE_MAX
const DURABILITY = { survives: 'process-crash' } as const

const upsert = (count: number): string =>
  `INSERT INTO velocity_tallies (process_id, ${COLUMNS})
   VALUES ${Array.from({ length: count }, () => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
   ON CONFLICT (process_id, organization_id, project_id, environment, wallet, chain_name, window_seconds, part)
   DO UPDATE SET count = excluded.count, value = excluded.value, sequence = excluded.sequence`

const parametersOf = (processId: string, sequence: number, tally: VelocityTally): SqlParameter[] => [
  processId,
  tally.organizationId,
  tally.projectId,
  tally.environment,
  tally.wallet,
  tally.chainName,
  tally.windowSeconds,
  tally.part,
  tally.count,
  tally.value,
  sequence,
  tally.expiresAtSeconds,
]

export const createVelocityTallyTable = (scope: TableScope) => ({
  /** Writes at most VELOCITY_WRITE_MAX tallies of this process, each at most once, under its next number. */
  write: (processId: string, sequence: number, tallies: readonly VelocityTally[]): Promise<void> =>
    scope.write(async (transaction) => {
      if (tallies.length > VELOCITY_WRITE_MAX) throw new RangeError(`at most ${VELOCITY_WRITE_MAX} tallies at a time`)
      for (const chunk of chunkRows(tallies)) {
        await transaction.execute(
          upsert(chunk.length),
          chunk.flatMap((tally) => parametersOf(processId, sequence, tally)),
        )
      }
      const expiresAtSeconds = Math.max(...tallies.map((tally) => tally.expiresAtSeconds))
      await transaction.execute(
        `INSERT INTO velocity_writers (process_id, sequence, expires_at_seconds) VALUES (?, ?, ?)
         ON CONFLICT (process_id) DO UPDATE SET sequence = excluded.sequence, expires_at_seconds =
           CASE WHEN excluded.expires_at_seconds > velocity_writers.expires_at_seconds
             THEN excluded.expires_at_seconds ELSE velocity_writers.expires_at_seconds END`,
        [processId, sequence, expiresAtSeconds],
      )
    }, DURABILITY),

  /** Processes with rows that may still count. */
  writers: async (): Promise<readonly VelocityWriter[]> => {
    const rows = await scope.statements.query<RowOf<VelocityWriter>>(
      'SELECT process_id, sequence FROM velocity_writers',
    )
    return rows.map(fieldsOf)
  },

  /**
   * Reads a page of a process's writes after `sequence`, for all organizations. Pass the returned `sequence` to the
   * next call until null is returned. Some rows may be returned twice.
   */
  readAfter: async (
    processId: string,
    sequence: number,
  ): Promise<{ readonly sequence: number; readonly tallies: readonly VelocityTally[] } | null> => {
    const rows = await scope.statements.query<TallyRow>(
      `SELECT ${COLUMNS} FROM velocity_tallies WHERE process_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
      [processId, sequence, PAGE],
    )
    const last = rows.at(-1)
    if (last === undefined) return null
    return {
      // There may be more rows with the last number of a full page, so it is read again.
      sequence: rows.length < PAGE ? last.sequence : last.sequence - 1,
      tallies: rows.map(({ sequence: _written, ...row }) => fieldsOf(row)),
    }
  },

  /** Deletes a batch of tallies of past windows. @returns the number of deleted tallies; repeat until it is 0 */
  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      await transaction.execute('DELETE FROM velocity_writers WHERE expires_at_seconds <= ?', [nowSeconds])
      const key = 'process_id, organization_id, project_id, environment, wallet, chain_name, window_seconds, part'
      return sweepRows(transaction, 'velocity_tallies', key, 'expires_at_seconds <= ?', nowSeconds)
    }, DURABILITY),
})
