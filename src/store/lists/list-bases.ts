// Writes whole lists: a base is created, its sorted chunks are stored a few at a time so that others get their turn,
// and a last transaction makes it the list's content. Until then no reader sees any of it; a base that is never
// finished is deleted.
import { EVM_KEY_WIDTH, KEY_WIDTHS, type KeyWidth } from '../../domain/address-key.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import type { ListChunk } from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { TransactionOptions } from '../database.ts'
import { lockList } from '../row-locks.ts'
import { type ChunkRow, packNotes, toChunk } from './list-chunks.ts'

/** A base has this many keys of each width, ascending. */
interface ListBase {
  readonly id: string
  readonly evmCount: number
  readonly solanaCount: number
}

/** What a list's source reports about the file from which the base was made. */
export interface SourceConfirmation {
  readonly fileSha256: string
  readonly fileBytes: number
  /** Entries of the file that are no addresses of the supported chains. */
  readonly skippedCount: number
  readonly nextDueAtSeconds: number
  /** The token of the source when it was leased (list-sources.ts). */
  readonly token: string
}

/** The base has the wallets of this version of a list of sanctioned people (screening-lists.ts). */
export interface ScreeningConfirmation {
  readonly screeningList: string
  readonly versionId: string
}

export interface BaseActivation {
  readonly listId: string
  readonly baseId: string
  /** The version that the list must still have; null: any. */
  readonly ifVersion: number | null
  /**
   * The report of the source or of screening for a list that one of these keeps; null for a list kept by hand. If the
   * list has another keeper by now, the activation is refused as `changed-meanwhile`.
   */
  readonly confirmation: SourceConfirmation | ScreeningConfirmation | null
}

/** Lost chunks are written again together with the list. Only the activation, which matters, waits for the disk. */
const STAGING: TransactionOptions = { survives: 'process-crash' }

/** Readers that have just started to read a base get this long to finish. */
const RETIRED_KEEP_SECONDS = 60
/** A base that is not finished by then counts as abandoned. */
const STAGED_KEEP_SECONDS = 6 * 3_600
const SWEEP_CHUNKS = 16

/** Bases that no list shows and that were retired, or begun, long ago. */
const UNUSED = `SELECT id FROM list_bases
  WHERE (retired_at_seconds <= ? OR (retired_at_seconds IS NULL AND created_at_seconds <= ?))
    AND NOT EXISTS (SELECT 1 FROM lists WHERE lists.base_id = list_bases.id)`

interface ActivatedRow {
  readonly organization_id: string | null
  readonly version: number
  readonly screening_list: string | null
}

interface BaseRow {
  readonly id: string
  readonly evm_count: number
  readonly solana_count: number
}

export const createListBaseTable = (scope: TableScope) => ({
  /** Creates an empty base, which no list shows. */
  begin: (listId: string): Promise<string> =>
    scope.write(async (transaction) => {
      const id = newIdentifier('base')
      await transaction.execute(
        `INSERT INTO list_bases (id, list_id, evm_count, solana_count, created_at_seconds, retired_at_seconds)
         VALUES (?, ?, 0, 0, ?, NULL)`,
        [id, listId, scope.nowSeconds()],
      )
      return id
    }, STAGING),

  /** Adds chunks to a base that no list shows yet. Within a width, each chunk must follow the one before. */
  append: (baseId: string, chunks: readonly ListChunk[]): Promise<void> =>
    scope.write(async (transaction) => {
      for (const { width, keys, notes } of chunks) {
        if (keys.length === 0) continue
        await transaction.execute(
          'INSERT INTO list_chunks (base_id, key_width, first_key, keys, notes) VALUES (?, ?, ?, ?, ?)',
          [baseId, width, keys.slice(0, width), keys, packNotes(notes)],
        )
        const column = width === EVM_KEY_WIDTH ? 'evm_count' : 'solana_count'
        await transaction.execute(`UPDATE list_bases SET ${column} = ${column} + ? WHERE id = ?`, [
          notes.length,
          baseId,
        ])
      }
    }, STAGING),

  /** Makes the base the list's content; earlier changes of single entries are dropped. */
  activate: (activation: BaseActivation): Promise<'activated' | 'unknown' | 'changed-meanwhile'> =>
    scope.write(async (transaction) => {
      const { listId, baseId, ifVersion, confirmation } = activation
      const now = scope.nowSeconds()
      if (!(await lockList(transaction, listId))) return 'unknown'
      const [list] = await transaction.query<ActivatedRow>(
        'SELECT organization_id, version, screening_list FROM lists WHERE id = ?',
        [listId],
      )
      if (list === undefined) return 'unknown'
      if (ifVersion !== null && list.version !== ifVersion) return 'changed-meanwhile'
      // The sweep retires a base before it deletes the first chunk.
      const staged = await transaction.execute(
        'UPDATE list_bases SET retired_at_seconds = NULL WHERE id = ? AND retired_at_seconds IS NULL',
        [baseId],
      )
      if (staged === 0) return 'changed-meanwhile'
      const screening = confirmation !== null && 'versionId' in confirmation ? confirmation : null
      if (list.screening_list !== (screening?.screeningList ?? null)) return 'changed-meanwhile'
      if (confirmation === null) {
        const [source] = await transaction.query('SELECT list_id FROM list_sources WHERE list_id = ?', [listId])
        if (source !== undefined) return 'changed-meanwhile'
      } else if ('versionId' in confirmation) {
        const { screeningList, versionId } = confirmation
        const shared = await transaction.execute(
          'UPDATE screening_lists SET shared_version_id = version_id WHERE name = ? AND version_id = ?',
          [screeningList, versionId],
        )
        // The list was disabled, or has another version by now.
        if (shared === 0) return 'changed-meanwhile'
        await transaction.execute(
          `UPDATE lists SET screening_confirmed_at_seconds =
             (SELECT confirmed_at_seconds FROM screening_lists WHERE name = ?) WHERE id = ?`,
          [screeningList, listId],
        )
      } else {
        const confirmed = await transaction.execute(
          `UPDATE list_sources SET file_sha256 = ?, file_bytes = ?, skipped_count = ?, due_at_seconds = ?,
             leased_until_seconds = 0, attempted_at_seconds = ?, confirmed_at_seconds = ?, failure = NULL
           WHERE list_id = ? AND token = ?`,
          [
            confirmation.fileSha256,
            confirmation.fileBytes,
            confirmation.skippedCount,
            confirmation.nextDueAtSeconds,
            now,
            now,
            listId,
            confirmation.token,
          ],
        )
        // The source was removed, changed, or leased by another reading.
        if (confirmed === 0) return 'changed-meanwhile'
      }
      await transaction.execute(
        `UPDATE list_bases SET retired_at_seconds = ?
         WHERE retired_at_seconds IS NULL AND id = (SELECT base_id FROM lists WHERE id = ?)`,
        [now, listId],
      )
      await transaction.execute('DELETE FROM list_edits WHERE list_id = ?', [listId])
      await transaction.execute(
        `UPDATE lists SET base_id = ?, version = version + 1, updated_at_seconds = ?,
           entry_count = (SELECT evm_count + solana_count FROM list_bases WHERE list_bases.id = ?)
         WHERE id = ?`,
        [baseId, now, baseId, listId],
      )
      await recordChange(transaction, { topic: 'list', subjectId: listId, organizationId: list.organization_id }, now)
      return 'activated'
    }),

  /** Keeps a base that no list shows yet from being deleted before a time, because it waits for an approval. */
  keepStaged: (baseId: string, untilSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        'UPDATE list_bases SET created_at_seconds = ? WHERE id = ? AND retired_at_seconds IS NULL',
        [untilSeconds, baseId],
      )
    }),

  /** Deletes a base that was created and that no list shows. */
  discard: (baseId: string): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute('UPDATE list_bases SET retired_at_seconds = 0 WHERE id = ?', [baseId])
    }, STAGING),

  find: async (baseId: string): Promise<ListBase | null> => {
    const [row] = await scope.statements.query<BaseRow>(
      'SELECT id, evm_count, solana_count FROM list_bases WHERE id = ?',
      [baseId],
    )
    return row === undefined ? null : { id: row.id, evmCount: row.evm_count, solanaCount: row.solana_count }
  },

  /** Keys of the next chunks after a key (null: from the first), without notes. Empty at the end. */
  readKeys: async (
    baseId: string,
    width: KeyWidth,
    afterKey: Uint8Array | null,
    limit: number,
  ): Promise<readonly Uint8Array[]> =>
    (
      await scope.statements.query<{ keys: Uint8Array }>(
        `SELECT keys FROM list_chunks WHERE base_id = ? AND key_width = ? AND first_key > ?
         ORDER BY first_key LIMIT ?`,
        // No key is empty, so the empty key comes before the first.
        [baseId, width, afterKey ?? new Uint8Array(0), limit],
      )
    ).map((row) => row.keys),

  /** The same with their notes. */
  readChunks: async (
    baseId: string,
    width: KeyWidth,
    afterKey: Uint8Array | null,
    limit: number,
  ): Promise<readonly ListChunk[]> =>
    (
      await scope.statements.query<ChunkRow>(
        `SELECT key_width, first_key, keys, notes FROM list_chunks
         WHERE base_id = ? AND key_width = ? AND first_key > ? ORDER BY first_key LIMIT ?`,
        [baseId, width, afterKey ?? new Uint8Array(0), limit],
      )
    ).map(toChunk),

  /**
   * The chunk that would hold a key: the last one that begins at or before it. Null when every chunk begins after it.
   */
  findChunk: async (baseId: string, key: Uint8Array): Promise<ListChunk | null> => {
    const [row] = await scope.statements.query<ChunkRow>(
      `SELECT key_width, first_key, keys, notes FROM list_chunks
       WHERE base_id = ? AND key_width = ? AND first_key <= ? ORDER BY first_key DESC LIMIT 1`,
      [baseId, key.length, key],
    )
    return row === undefined ? null : toChunk(row)
  },

  /** Deletes some data that no list shows, and returns how much. Call again until it returns 0. */
  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      const limits = [now - RETIRED_KEEP_SECONDS, now - STAGED_KEEP_SECONDS]
      const [found] = await transaction.query<{ id: string }>(`${UNUSED} LIMIT 1`, limits)
      if (found === undefined) return 0
      // An activation locks the base, too.
      await transaction.execute('UPDATE list_bases SET retired_at_seconds = retired_at_seconds WHERE id = ?', [
        found.id,
      ])
      const [base] = await transaction.query<{ id: string }>(`${UNUSED} AND id = ?`, [...limits, found.id])
      // Used since; the others are swept next time.
      if (base === undefined) return 0
      await transaction.execute(
        'UPDATE list_bases SET retired_at_seconds = 0 WHERE id = ? AND retired_at_seconds IS NULL',
        [base.id],
      )
      for (const width of KEY_WIDTHS) {
        const deleted = await transaction.execute(
          `DELETE FROM list_chunks WHERE base_id = ? AND key_width = ? AND first_key IN (
             SELECT first_key FROM list_chunks WHERE base_id = ? AND key_width = ? LIMIT ?)`,
          [base.id, width, base.id, width, SWEEP_CHUNKS],
        )
        if (deleted > 0) return deleted
      }
      return transaction.execute('DELETE FROM list_bases WHERE id = ?', [base.id])
    }, STAGING),
})
