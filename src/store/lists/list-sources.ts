// Where a list's content comes from, when it must be read again, and the results of the last attempts. Only one process
// reads a due source at a time, under a lease that lasts longer than a reading may take, so that a crashed reader is
// replaced. Each lease, and each change of the source, makes a new token. The result of a reading is written only under
// the token that the reading got: a reading that ends after the source was changed or leased again changes nothing.
import { randomBase62 } from '../../domain/identifier.ts'
import type { ListFormat, Reach } from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { lockList } from '../row-locks.ts'

export interface ListSource {
  readonly listId: string
  /** An absolute path or a URL. */
  readonly location: string
  readonly format: ListFormat
  readonly reach: Reach
  /** When false, one bad line refuses the whole file. */
  readonly skipsBadLines: boolean
  readonly intervalSeconds: number
  readonly dueAtSeconds: number
  readonly attemptedAtSeconds: number | null
  /** Why the last attempt failed, in one line; null when it succeeded. */
  readonly failure: string | null
  /** When the content was last read completely and found good. */
  readonly confirmedAtSeconds: number | null
  /** SHA-256 of the file at that time, hex. */
  readonly fileSha256: string | null
  readonly fileBytes: number | null
  readonly skippedCount: number | null
  /** Made by the last lease or change: a reading passes it back with its result. */
  readonly token: string
}

type SourceRow = RowOf<Omit<ListSource, 'skipsBadLines'>> & {
  readonly skips_bad_lines: number
}

const COLUMNS = `list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds,
  attempted_at_seconds, failure, confirmed_at_seconds, file_sha256, file_bytes, skipped_count, token`

const toSource = (row: SourceRow): ListSource => ({
  ...fieldsOf(row),
  skipsBadLines: row.skips_bad_lines === 1,
})

const newToken = (): string => randomBase62(16)

/** A source as it was leased. */
type TakenSource = Pick<ListSource, 'listId' | 'token'>

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
    /** From now on the source keeps the list and is due immediately. Confirmations of another source are dropped. */
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

    /** From now on people keep the list, with its current content. False when it has no source. */
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

    /** The sources of all lists: for the deployment's own administration. */
    listAll: async (): Promise<readonly ListSource[]> =>
      (await scope.statements.query<SourceRow>(`SELECT ${COLUMNS} FROM list_sources`)).map(toSource),

    /** The sources of an organization's own lists, with the lists' names. */
    listOf: async (organizationId: string): Promise<readonly (ListSource & { readonly name: string })[]> =>
      (
        await scope.statements.query<SourceRow & { readonly name: string }>(
          `SELECT name, ${COLUMNS} FROM lists JOIN list_sources ON list_id = lists.id
           WHERE organization_id = ? ORDER BY name`,
          [organizationId],
        )
      ).map((row) => ({ ...toSource(row), name: row.name })),

    /**
     * Leases one due source of an organization (or of the deployment) that has no leased source, or returns null. No
     * other process gets it before the lease ends. So slow sources of one organization wait for each other only.
     */
    takeDue: async (leaseSeconds: number): Promise<ListSource | null> => {
      const now = scope.nowSeconds()
      const due = `due_at_seconds <= ? AND leased_until_seconds <= ?
        AND (SELECT COALESCE(organization_id, '') FROM lists WHERE id = list_id) NOT IN (
          SELECT COALESCE(organization_id, '') FROM lists JOIN list_sources AS leased ON leased.list_id = lists.id
          WHERE leased.leased_until_seconds > ?)`
      // Usually none is due; then nothing is written.
      const [candidate] = await scope.statements.query<{ list_id: string }>(
        `SELECT list_id FROM list_sources WHERE ${due} ORDER BY due_at_seconds LIMIT 1`,
        [now, now, now],
      )
      if (candidate === undefined) return null
      return scope.write(async (transaction) => {
        const [row] = await transaction.query<SourceRow>(
          `UPDATE list_sources SET leased_until_seconds = ?, token = ? WHERE list_id = ? AND ${due} RETURNING ${COLUMNS}`,
          [now + leaseSeconds, newToken(), candidate.list_id, now, now, now],
        )
        return row === undefined ? null : toSource(row)
      })
    },

    /** Leases one list's source, due or not, which invalidates a reading under way. Null when it has no source. */
    take: (listId: string, leaseSeconds: number): Promise<ListSource | null> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<SourceRow>(
          `UPDATE list_sources SET leased_until_seconds = ?, token = ? WHERE list_id = ? RETURNING ${COLUMNS}`,
          [scope.nowSeconds() + leaseSeconds, newToken(), listId],
        )
        return row === undefined ? null : toSource(row)
      }),

    /** Makes the source due immediately. False when the list has no source. */
    hasten: (listId: string): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('UPDATE list_sources SET due_at_seconds = ? WHERE list_id = ?', [
            scope.nowSeconds(),
            listId,
          ])) > 0,
      ),

    /** The file is the one that the list already has. False when the source was changed or leased again meanwhile. */
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

    /** The list keeps its content, and ages. Not recorded when the source was changed or leased again meanwhile. */
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
