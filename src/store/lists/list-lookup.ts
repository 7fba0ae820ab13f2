// Looks up keys in a base. Reads each chunk once, and yields to the event loop between chunks.
import { hexOfKey } from '../../domain/address-key.ts'
import type { ListNote } from '../../domain/list.ts'
import { nextTurn } from '../../lib/time.ts'
import { among } from '../columns.ts'
import type { Statements } from '../database.ts'
import { type ChunkRow, findChunk, indexOfKey, noteReader } from './list-chunks.ts'

/** Limits a turn of the event loop to half a megabyte. */
const CHUNKS_PER_TURN = 4

interface ChunkStart {
  readonly width: number
  readonly firstKey: Uint8Array
}

/** Returns the last start at or before the key. `starts` must be sorted. */
const startOf = (starts: readonly ChunkStart[], key: Uint8Array): ChunkStart | null => {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Buffer.compare(starts[middle]!.firstKey, key) <= 0) low = middle + 1
    else high = middle
  }
  return starts[low - 1] ?? null
}

const groupByChunk = async (
  statements: Statements,
  baseId: string,
  keys: readonly Uint8Array[],
): Promise<ReadonlyMap<ChunkStart, readonly Uint8Array[]>> => {
  const starts = await statements.query<ChunkStart>(
    'SELECT key_width AS "width", first_key AS "firstKey" FROM list_chunks WHERE base_id = ? ORDER BY key_width, first_key',
    [baseId],
  )
  const byWidth = Map.groupBy(starts, ({ width }) => width)
  const groups = new Map<ChunkStart, Uint8Array[]>()
  for (const key of keys) {
    const start = startOf(byWidth.get(key.length) ?? [], key)
    if (start === null) continue
    const group = groups.get(start)
    if (group === undefined) groups.set(start, [key])
    else group.push(key)
  }
  return groups
}

async function* chunksWith<Row extends Partial<ChunkRow>>(
  statements: Statements,
  baseId: string,
  keys: readonly Uint8Array[],
  columns: 'keys' | 'keys, notes',
): AsyncGenerator<{ readonly row: Row; readonly wanted: readonly Uint8Array[] }> {
  const groups = await groupByChunk(statements, baseId, keys)
  const atOnce = columns === 'keys' ? CHUNKS_PER_TURN : 1
  for (const [width, all] of Map.groupBy(groups.keys(), (start) => start.width)) {
    for (let at = 0; at < all.length; at += atOnce) {
      const part = all.slice(at, at + atOnce)
      const which = among(part.map(({ firstKey }) => firstKey))
      const rows = await statements.query<Row & { readonly firstKey: Uint8Array }>(
        `SELECT first_key AS "firstKey", ${columns} FROM list_chunks
         WHERE base_id = ? AND key_width = ? AND first_key ${which.text}`,
        [baseId, width, ...which.parameters],
      )
      const byFirstKey = new Map(rows.map((row) => [hexOfKey(row.firstKey), row]))
      for (const start of part) {
        const row = byFirstKey.get(hexOfKey(start.firstKey))
        if (row !== undefined) yield { row, wanted: groups.get(start) ?? [] }
      }
      await nextTurn()
    }
  }
}

export const findKeys = async (
  statements: Statements,
  baseId: string | null,
  keys: readonly Uint8Array[],
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  if (baseId === null) return found
  for await (const { row, wanted } of chunksWith<Pick<ChunkRow, 'keys'>>(statements, baseId, keys, 'keys')) {
    for (const key of wanted) if (indexOfKey(row.keys, key) !== -1) found.add(hexOfKey(key))
  }
  return found
}

export const findNotes = async (
  statements: Statements,
  baseId: string | null,
  keys: readonly Uint8Array[],
): Promise<ReadonlyMap<string, ListNote>> => {
  const found = new Map<string, ListNote>()
  if (baseId === null) return found
  const [single] = keys
  if (single !== undefined && keys.length === 1) {
    const row = await findChunk(statements, baseId, single)
    const index = row === null ? -1 : indexOfKey(row.keys, single)
    if (row !== null && index !== -1) found.set(hexOfKey(single), noteReader(row.notes)(index))
    return found
  }
  for await (const { row, wanted } of chunksWith<Pick<ChunkRow, 'keys' | 'notes'>>(
    statements,
    baseId,
    keys,
    'keys, notes',
  )) {
    const indexes = wanted.map((key) => [key, indexOfKey(row.keys, key)] as const).filter(([, index]) => index !== -1)
    if (indexes.length === 0) continue
    const noteAt = noteReader(row.notes)
    for (const [key, index] of indexes) found.set(hexOfKey(key), noteAt(index))
  }
  return found
}
