// Where a list's content comes from, when it is due again, and how the last attempts went. One process takes a due
// source at a time: the lease outlives the time limit of a load, so that a crashed one is taken over. Each taking, and
// each change of the source, makes a new token, and what comes of a reading is written only under the token that the
// reading was given: a reading that ends after the source was changed or taken again changes nothing.
import { randomBase62 } from '../domain/identifier.ts'
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
  /** Of the last taking or change: what a reading of this source hands back with its outcome. */
  readonly token: string
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
  readonly token: string
}

const COLUMNS = `list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds,
  attempted_at_seconds, failure, confirmed_at_seconds, file_sha256, file_bytes, skipped_count, token`

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
  token: row.token,
})

const newToken = (): string => randomBase62(16)

/** A source as it was taken. */
export type TakenSource = Pick<ListSource, 'listId' | 'token'>

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
             (list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds, leased_until_seconds,
              token)
           VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) RETURNING ${COLUMNS}`,
          [
            listId,
            source.location,
            source.format,
            source.reach,
            source.skipsBadLines ? 1 : 0,
            source.intervalSeconds,
            scope.nowSeconds(),
            newToken(),
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
          `UPDATE list_sources SET leased_until_seconds = ?, token = ? WHERE list_id = ? AND ${due} RETURNING ${COLUMNS}`,
          [now + leaseSeconds, newToken(), candidate.list_id, now, now],
        )
        return row === undefined ? null : toSource(row)
      })
    },

    /** Takes one list's source, due or not. A reading that is under way is outdated by it. Null: it has no source. */
    take: (listId: string, leaseSeconds: number): Promise<ListSource | null> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<SourceRow>(
          `UPDATE list_sources SET leased_until_seconds = ?, token = ? WHERE list_id = ? RETURNING ${COLUMNS}`,
          [scope.nowSeconds() + leaseSeconds, newToken(), listId],
        )
        return row === undefined ? null : toSource(row)
      }),

    /** Due at once. False when the list has no source. */
    hasten: (listId: string): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('UPDATE list_sources SET due_at_seconds = ? WHERE list_id = ?', [
            scope.nowSeconds(),
            listId,
          ])) > 0,
      ),

    /** The file is the one that the list has already. False when the source was changed or taken again meanwhile. */
    confirm: ({ listId, token }: TakenSource, nextDueAtSeconds: number): Promise<boolean> =>
      scope.write(async (transaction) => {
        const now = scope.nowSeconds()
        const confirmed = await transaction.execute(
          `UPDATE list_sources SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?,
             confirmed_at_seconds = ?, failure = NULL WHERE list_id = ? AND token = ?`,
          [nextDueAtSeconds, now, now, listId, token],
        )
        if (confirmed > 0) await announce(transaction, listId)
        return confirmed > 0
      }),

    /** The list stays as it is, and grows older. Not noted of a source that was changed or taken again meanwhile. */
    fail: ({ listId, token }: TakenSource, failure: string, nextDueAtSeconds: number): Promise<void> =>
      scope.write(async (transaction) => {
        await transaction.execute(
          `UPDATE list_sources SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?, failure = ?
           WHERE list_id = ? AND token = ?`,
          [nextDueAtSeconds, scope.nowSeconds(), failure, listId, token],
        )
      }),
  }
}

export type ListSourceTable = ReturnType<typeof createListSourceTable>
