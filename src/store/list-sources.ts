// Where a list's content comes from, when it is due again, and how the last attempts went. One process takes a due
// source at a time: the lease outlives the time limit of a load, so that a crashed one is taken over.
import type { ListFormat, Reach } from '../domain/list.ts'
import { recordChange } from './changes.ts'
import { lockList } from './row-locks.ts'
import type { TableScope } from './table-scope.ts'

export interface ListSource {
  readonly listId: string
  /** An absolute path or a URL. */
  readonly location: string
  readonly format: ListFormat
  readonly reach: Reach
  /** Otherwise one bad line refuses the whole file. */
  readonly skipsBadLines: boolean
  readonly intervalSeconds: number
  readonly dueAtSeconds: number
  readonly attemptedAtSeconds: number | null
  /** Why the last attempt failed, in one line; null when it did not. */
  readonly failure: string | null
  /** When the content was last read whole and found good. */
  readonly confirmedAtSeconds: number | null
  /** Of the file then: SHA-256 of its bytes, hex. */
  readonly fileSha256: string | null
  readonly fileBytes: number | null
  readonly skippedCount: number | null
}

interface SourceRow {
  readonly list_id: string
  readonly location: string
  readonly format: ListFormat
  readonly reach: Reach
  readonly skips_bad_lines: number
  readonly interval_seconds: number
  readonly due_at_seconds: number
  readonly attempted_at_seconds: number | null
  readonly failure: string | null
  readonly confirmed_at_seconds: number | null
  readonly file_sha256: string | null
  readonly file_bytes: number | null
  readonly skipped_count: number | null
}

const COLUMNS = `list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds,
  attempted_at_seconds, failure, confirmed_at_seconds, file_sha256, file_bytes, skipped_count`

const toSource = (row: SourceRow): ListSource => ({
  listId: row.list_id,
  location: row.location,
  format: row.format,
  reach: row.reach,
  skipsBadLines: row.skips_bad_lines === 1,
  intervalSeconds: row.interval_seconds,
  dueAtSeconds: row.due_at_seconds,
  attemptedAtSeconds: row.attempted_at_seconds,
  failure: row.failure,
  confirmedAtSeconds: row.confirmed_at_seconds,
  fileSha256: row.file_sha256,
  fileBytes: row.file_bytes,
  skippedCount: row.skipped_count,
})

export const createListSourceTable = (scope: TableScope) => {
  const announce = async (transaction: Parameters<Parameters<TableScope['write']>[0]>[0], listId: string) => {
    const [list] = await transaction.query<{ organization_id: string | null }>(
      'SELECT organization_id FROM lists WHERE id = ?',
      [listId],
    )
    if (list === undefined) return
    const change = { topic: 'list', subjectId: listId, organizationId: list.organization_id } as const
    await recordChange(transaction, change, scope.nowSeconds())
  }

  return {
    /** From here on the source keeps the list, and is due at once. What was confirmed of another source is forgotten. */
    set: (
      listId: string,
      source: Pick<ListSource, 'location' | 'format' | 'reach' | 'skipsBadLines' | 'intervalSeconds'>,
    ): Promise<ListSource> =>
      scope.write(async (transaction) => {
        await lockList(transaction, listId)
        await transaction.execute('DELETE FROM list_sources WHERE list_id = ?', [listId])
        const [row] = await transaction.query<SourceRow>(
          `INSERT INTO list_sources
             (list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds, leased_until_seconds)
           VALUES (?, ?, ?, ?, ?, ?, ?, 0) RETURNING ${COLUMNS}`,
          [
            listId,
            source.location,
            source.format,
            source.reach,
            source.skipsBadLines ? 1 : 0,
            source.intervalSeconds,
            scope.nowSeconds(),
          ],
        )
        await announce(transaction, listId)
        if (row === undefined) throw new Error('no row was inserted')
        return toSource(row)
      }),

    /** From here on people keep the list, with the content it has. False when it has no source. */
    remove: (listId: string): Promise<boolean> =>
      scope.write(async (transaction) => {
        await lockList(transaction, listId)
        const removed = await transaction.execute('DELETE FROM list_sources WHERE list_id = ?', [listId])
        if (removed > 0) await announce(transaction, listId)
        return removed > 0
      }),

    find: async (listId: string): Promise<ListSource | null> => {
      const [row] = await scope.statements.query<SourceRow>(`SELECT ${COLUMNS} FROM list_sources WHERE list_id = ?`, [
        listId,
      ])
      return row === undefined ? null : toSource(row)
    },

    /** Every list's: for the deployment's own administration. */
    listAll: async (): Promise<readonly ListSource[]> =>
      (await scope.statements.query<SourceRow>(`SELECT ${COLUMNS} FROM list_sources`)).map(toSource),

    /** Takes one source that is due, or null. Nobody else gets it before the lease ends. */
    takeDue: async (leaseSeconds: number): Promise<ListSource | null> => {
      const now = scope.nowSeconds()
      const due = 'due_at_seconds <= ? AND leased_until_seconds <= ?'
      // Usually none is due, and then nothing is written.
      const [candidate] = await scope.statements.query<{ list_id: string }>(
        `SELECT list_id FROM list_sources WHERE ${due} ORDER BY due_at_seconds LIMIT 1`,
        [now, now],
      )
      if (candidate === undefined) return null
      return scope.write(async (transaction) => {
        const [row] = await transaction.query<SourceRow>(
          `UPDATE list_sources SET leased_until_seconds = ? WHERE list_id = ? AND ${due} RETURNING ${COLUMNS}`,
          [now + leaseSeconds, candidate.list_id, now, now],
        )
        return row === undefined ? null : toSource(row)
      })
    },

    /** Due at once. False when the list has no source. */
    hasten: (listId: string): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('UPDATE list_sources SET due_at_seconds = ? WHERE list_id = ?', [
            scope.nowSeconds(),
            listId,
          ])) > 0,
      ),

    /** The file is the one that the list has already. */
    confirm: (listId: string, nextDueAtSeconds: number): Promise<void> =>
      scope.write(async (transaction) => {
        const now = scope.nowSeconds()
        const confirmed = await transaction.execute(
          `UPDATE list_sources SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?,
             confirmed_at_seconds = ?, failure = NULL WHERE list_id = ?`,
          [nextDueAtSeconds, now, now, listId],
        )
        if (confirmed > 0) await announce(transaction, listId)
      }),

    /** The list stays as it is, and grows older. */
    fail: (listId: string, failure: string, nextDueAtSeconds: number): Promise<void> =>
      scope.write(async (transaction) => {
        await transaction.execute(
          `UPDATE list_sources SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?, failure = ?
           WHERE list_id = ?`,
          [nextDueAtSeconds, scope.nowSeconds(), failure, listId],
        )
      }),
  }
}

export type ListSourceTable = ReturnType<typeof createListSourceTable>
