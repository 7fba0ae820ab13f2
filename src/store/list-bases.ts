// Lists written whole: a base is begun, its sorted chunks are stored a few at a time so that others get their turn, and
// one last transaction makes it the list's content. Until then no reader sees any of it; what is never finished is swept.
import { EVM_KEY_WIDTH, KEY_WIDTHS, type KeyWidth } from '../domain/address-key.ts'
import { newIdentifier } from '../domain/identifier.ts'
import type { ListChunk } from '../domain/list.ts'
import { recordChange } from './changes.ts'
import type { TransactionOptions } from './database.ts'
import { type ChunkRow, packNotes, toChunk } from './list-chunks.ts'
import { lockList } from './row-locks.ts'
import type { TableScope } from './table-scope.ts'

/** A base is as many keys of each kind, ascending. */
export interface ListBase {
  readonly id: string
  readonly evmCount: number
  readonly solanaCount: number
}

/** What a list's source has to say of the file that the base is made of. */
export interface SourceConfirmation {
  readonly fileSha256: string
  readonly fileBytes: number
  /** Entries of the file that are no addresses of the supported chains. */
  readonly skippedCount: number
  readonly nextDueAtSeconds: number
  /** Of the source as it was taken (list-sources.ts). */
  readonly token: string
}

export interface BaseActivation {
  readonly listId: string
  readonly baseId: string
  /** Null: whatever the list is by now, it becomes this base. Otherwise the list must still be of this version. */
  readonly ifVersion: number | null
  /** For a list that a source keeps; null for one that people keep. If it is the other's by now, it has changed. */
  readonly confirmation: SourceConfirmation | null
}

/** Chunks may be written again by whoever writes the list again. The activation, which matters, waits for the disk. */
const STAGING: TransactionOptions = { survives: 'process-crash' }

/** Readers that have just begun with a base get this long to end. */
const RETIRED_KEEP_SECONDS = 60
/** A base that is not finished by then is abandoned. */
const STAGED_KEEP_SECONDS = 6 * 3_600
const SWEEP_CHUNKS = 16

interface BaseRow {
  readonly id: string
  readonly evm_count: number
  readonly solana_count: number
}

export const createListBaseTable = (scope: TableScope) => ({
  /** A base without content, which no list shows. */
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

  /** Adds chunks to a base that is not shown yet. Within a width, each chunk follows the one before. */
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

  /** Makes the base the list's content; single entries changed before are forgotten. */
  activate: (activation: BaseActivation): Promise<'activated' | 'unknown' | 'changed-meanwhile'> =>
    scope.write(async (transaction) => {
      const { listId, baseId, ifVersion, confirmation } = activation
      const now = scope.nowSeconds()
      if (!(await lockList(transaction, listId))) return 'unknown'
      const [list] = await transaction.query<{ organization_id: string | null; version: number }>(
        'SELECT organization_id, version FROM lists WHERE id = ?',
        [listId],
      )
      if (list === undefined) return 'unknown'
      if (ifVersion !== null && list.version !== ifVersion) return 'changed-meanwhile'
      if (confirmation === null) {
        const [source] = await transaction.query('SELECT list_id FROM list_sources WHERE list_id = ?', [listId])
        if (source !== undefined) return 'changed-meanwhile'
      }
      if (confirmation !== null) {
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
        // Removed, changed, or taken again by another reading.
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

  /** Keeps a base that is not shown yet from being swept before a time: someone has still to approve it. */
  keepStaged: (baseId: string, untilSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        'UPDATE list_bases SET created_at_seconds = ? WHERE id = ? AND retired_at_seconds IS NULL',
        [untilSeconds, baseId],
      )
    }),

  /** Gives up a base that was begun and that no list shows. */
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

  /** Keys of the next chunks after a key (null: from the first), without their notes. Empty at the end. */
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
        // No key is empty, so the empty one comes before the first.
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

  /** The chunk that has a key if any has: the last that begins at it or before. Null: every chunk begins after it. */
  findChunk: async (baseId: string, key: Uint8Array): Promise<ListChunk | null> => {
    const [row] = await scope.statements.query<ChunkRow>(
      `SELECT key_width, first_key, keys, notes FROM list_chunks
       WHERE base_id = ? AND key_width = ? AND first_key <= ? ORDER BY first_key DESC LIMIT 1`,
      [baseId, key.length, key],
    )
    return row === undefined ? null : toChunk(row)
  },

  /** Deletes some of what no list shows; answers how much. Call again until it answers 0. */
  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      const [base] = await transaction.query<{ id: string }>(
        `SELECT id FROM list_bases
         WHERE (retired_at_seconds <= ? OR (retired_at_seconds IS NULL AND created_at_seconds <= ?))
           AND NOT EXISTS (SELECT 1 FROM lists WHERE lists.base_id = list_bases.id) LIMIT 1`,
        [now - RETIRED_KEEP_SECONDS, now - STAGED_KEEP_SECONDS],
      )
      if (base === undefined) return 0
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

export type ListBaseTable = ReturnType<typeof createListBaseTable>
