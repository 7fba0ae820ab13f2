// Writes whole lists: stores a base's sorted chunks a few at a time, then activates the base in one transaction.
import { EVM_KEY_WIDTH, KEY_WIDTHS, type KeyWidth } from '../../domain/address-key.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import type { ListChunk } from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import { hidden, integer, nullable, sql, text } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { TransactionOptions } from '../database.ts'
import { lockList } from '../row-locks.ts'
import { defineTable } from '../table.ts'
import { CHUNKS, findChunk, packNotes, toChunk } from './list-chunks.ts'
import { requireRoomForEntries, requireRoomForStaged } from './list-limits.ts'
import { confirmSource } from './list-sources.ts'

const BASES = defineTable('list_bases', {
  id: text,
  evmCount: integer,
  solanaCount: integer,
  listId: hidden(text),
  createdAtSeconds: hidden(integer),
  retiredAtSeconds: hidden(nullable(integer)),
})

export interface SourceConfirmation {
  readonly fileSha256: string
  readonly fileBytes: number
  /** Entries that are not addresses of supported chains. */
  readonly skippedCount: number
  readonly nextDueAtSeconds: number
  readonly token: string
}

/** Version of the list of sanctioned people from which the wallets were taken (screening-lists.ts). */
export interface ScreeningConfirmation {
  readonly screeningList: string
  readonly versionId: string
}

export interface BaseActivation {
  readonly listId: string
  readonly baseId: string
  /** Required current version of the list; null accepts any. */
  readonly ifVersion: number | null
  /** Null for a manual list. If this differs from the list's maintainer, the result is `changed-meanwhile`. */
  readonly confirmation: SourceConfirmation | ScreeningConfirmation | null
}

/** Lost chunks are rewritten with the list. Only the activation waits for the disk. */
const STAGING: TransactionOptions = { survives: 'process-crash' }

/** Time for readers of a retired base to finish. */
const RETIRED_KEEP_SECONDS = 60
/** Age at which an unfinished base counts as abandoned. */
const STAGED_KEEP_SECONDS = 6 * 3_600
const SWEEP_CHUNKS = 16

/** Unused bases that were retired or created long ago. */
const UNUSED = `SELECT id FROM list_bases
  WHERE (retired_at_seconds <= ? OR (retired_at_seconds IS NULL AND created_at_seconds <= ?))
    AND NOT EXISTS (SELECT 1 FROM lists WHERE lists.base_id = list_bases.id)`

interface ActivatedRow {
  readonly organization_id: string | null
  readonly version: number
  readonly screening_list: string | null
  readonly entry_count: number
}

export const createListBaseTable = (scope: TableScope) => ({
  begin: async (listId: string): Promise<string> => {
    const base = { id: newIdentifier('base'), listId, evmCount: 0, solanaCount: 0 }
    return (await BASES.insert(survivingCrashes(scope), { ...base, createdAtSeconds: scope.nowSeconds() })).id
  },

  /** The base must be unused. Within a width, each chunk must follow the previous chunk. */
  append: (baseId: string, chunks: readonly ListChunk[]): Promise<void> =>
    scope.write(async (transaction) => {
      for (const chunk of chunks) {
        const { width, keys } = chunk
        if (keys.length === 0) continue
        const notes = chunk.storedNotes ?? packNotes(chunk.notes)
        await CHUNKS.insert(transaction, { baseId, keyWidth: width, firstKey: keys.slice(0, width), keys, notes })
        const added = keys.length / width
        const counts =
          width === EVM_KEY_WIDTH
            ? { evmCount: sql`evm_count + ${added}` }
            : { solanaCount: sql`solana_count + ${added}` }
        await BASES.updateAll(transaction, { id: baseId }, counts)
      }
    }, STAGING),

  /** Makes the base the list's content, and drops earlier changes of single entries. @throws ListLimitError */
  activate: (activation: BaseActivation): Promise<'activated' | 'unknown' | 'changed-meanwhile'> =>
    scope.write(async (transaction) => {
      const { listId, baseId, ifVersion, confirmation } = activation
      const now = scope.nowSeconds()
      if (!(await lockList(transaction, listId))) return 'unknown'
      const [list] = await transaction.query<ActivatedRow>(
        'SELECT organization_id, version, screening_list, entry_count FROM lists WHERE id = ?',
        [listId],
      )
      if (list === undefined) return 'unknown'
      if (ifVersion !== null && list.version !== ifVersion) return 'changed-meanwhile'
      // The sweep retires a base before it deletes the first chunk.
      const base = await BASES.lock(transaction, { id: baseId, retiredAtSeconds: null }, 'retiredAtSeconds')
      if (base === null) return 'changed-meanwhile'
      await requireRoomForEntries(
        transaction,
        list.organization_id,
        base.evmCount + base.solanaCount - Number(list.entry_count),
      )
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
        // The list was disabled, or has a different version.
        if (shared === 0) return 'changed-meanwhile'
        await transaction.execute(
          `UPDATE lists SET screening_confirmed_at_seconds =
             (SELECT confirmed_at_seconds FROM screening_lists WHERE name = ?) WHERE id = ?`,
          [screeningList, listId],
        )
      } else {
        const { fileSha256, fileBytes, skippedCount, nextDueAtSeconds: dueAtSeconds, token } = confirmation
        const found = { fileSha256, fileBytes, skippedCount, dueAtSeconds }
        // The source was removed, changed, or leased by another reader.
        if (!(await confirmSource(transaction, { listId, token }, found))) return 'changed-meanwhile'
      }
      const previous = { id: sql`= (SELECT base_id FROM lists WHERE id = ${listId})`, retiredAtSeconds: null }
      await BASES.updateAll(transaction, previous, { retiredAtSeconds: now })
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

  /** Keeps an unused base for an approval, until the given time. @throws ListLimitError */
  keepStaged: (id: string, untilSeconds: number): Promise<void> =>
    scope.write(async (own) => {
      await BASES.updateAll(own, { id, retiredAtSeconds: null }, { createdAtSeconds: untilSeconds })
      await requireRoomForStaged(own, id)
    }),

  discard: async (id: string): Promise<void> => {
    await BASES.updateAll(survivingCrashes(scope), { id }, { retiredAtSeconds: 0 })
  },

  find: (id: string) => BASES.find(scope, { id }),

  /**
   * Returns the entry keys of the chunks after `afterKey` (null to start at the first chunk), without notes; empty at
   * the end.
   */
  readKeys: async (
    baseId: string,
    width: KeyWidth,
    afterKey: Uint8Array | null,
    limit: number,
  ): Promise<readonly Uint8Array[]> => {
    const rows = await scope.statements.query<{ keys: Uint8Array }>(
      'SELECT keys FROM list_chunks WHERE base_id = ? AND key_width = ? AND first_key > ? ORDER BY first_key LIMIT ?',
      // No key is empty, so the empty key precedes the first.
      [baseId, width, afterKey ?? new Uint8Array(0), limit],
    )
    return rows.map((row) => row.keys)
  },

  readChunks: async (
    baseId: string,
    keyWidth: KeyWidth,
    afterKey: Uint8Array | null,
    limit: number,
  ): Promise<readonly ListChunk[]> => {
    const which = { baseId, keyWidth, firstKey: sql`> ${afterKey ?? new Uint8Array(0)}` }
    return (await CHUNKS.list(scope, which, { by: ['firstKey'], limit })).map(toChunk)
  },

  findChunk: async (baseId: string, key: Uint8Array): Promise<ListChunk | null> => {
    const row = await findChunk(scope, baseId, key)
    return row === null ? null : toChunk(row)
  },

  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      const limits = [now - RETIRED_KEEP_SECONDS, now - STAGED_KEEP_SECONDS]
      const [found] = await transaction.query<{ id: string }>(`${UNUSED} LIMIT 1`, limits)
      if (found === undefined) return 0
      // An activation also locks the base.
      await BASES.lock(transaction, { id: found.id }, 'retiredAtSeconds')
      const [base] = await transaction.query<{ id: string }>(`${UNUSED} AND id = ?`, [...limits, found.id])
      if (base === undefined) return 0
      await BASES.updateAll(transaction, { id: base.id, retiredAtSeconds: null }, { retiredAtSeconds: 0 })
      for (const width of KEY_WIDTHS) {
        const deleted = await transaction.execute(
          `DELETE FROM list_chunks WHERE base_id = ? AND key_width = ? AND first_key IN (
             SELECT first_key FROM list_chunks WHERE base_id = ? AND key_width = ? LIMIT ?)`,
          [base.id, width, base.id, width, SWEEP_CHUNKS],
        )
        if (deleted > 0) return deleted
      }
      return BASES.removeAll(transaction, { id: base.id })
    }, STAGING),
})
