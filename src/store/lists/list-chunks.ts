// Storage format of a list's chunk: keys as bytes, and notes as JSON with deduplicated authors and times.
import type { KeyWidth } from '../../domain/address-key.ts'
import type { ListChunk, ListNote } from '../../domain/list.ts'
import { bytes, hidden, integer, sql, text } from '../columns.ts'
import type { Statements } from '../database.ts'
import { StoreStatementError } from '../errors.ts'
import { defineTable, type ItemOf } from '../table.ts'

interface PackedNotes {
  readonly stamps: readonly (readonly [author: string, addedAtSeconds: number])[]
  /** Index of the stamp per key. Omitted if there is only one stamp. */
  readonly by?: readonly number[]
  /** Memo per key. Omitted if every memo is empty. */
  readonly memos?: readonly string[]
}

export const packNotes = (notes: readonly ListNote[]): string => {
  const stamps: [string, number][] = []
  const known = new Map<string, number>()
  const by = notes.map(({ author, addedAtSeconds }) => {
    const name = `${addedAtSeconds} ${author}`
    const found = known.get(name)
    if (found !== undefined) return found
    known.set(name, stamps.length)
    stamps.push([author, addedAtSeconds])
    return stamps.length - 1
  })
  const packed: PackedNotes = {
    stamps,
    ...(stamps.length > 1 ? { by } : {}),
    ...(notes.some(({ memo }) => memo !== '') ? { memos: notes.map(({ memo }) => memo) } : {}),
  }
  return JSON.stringify(packed)
}

/** Parses a chunk's notes once. Returns a function that finds the note of the key at an index. */
export const noteReader = (text: string): ((index: number) => ListNote) => {
  const { stamps, by, memos } = JSON.parse(text) as PackedNotes
  return (index) => {
    const [author = '', addedAtSeconds = 0] = stamps[by?.[index] ?? 0] ?? []
    return { memo: memos?.[index] ?? '', author, addedAtSeconds }
  }
}

const unpackNotes = (text: string, count: number): ListNote[] => {
  const noteAt = noteReader(text)
  return Array.from({ length: count }, (_, index) => noteAt(index))
}

export const CHUNKS = defineTable('list_chunks', {
  baseId: hidden(text),
  keyWidth: integer,
  firstKey: bytes,
  keys: bytes,
  notes: text,
})

export interface ChunkRow extends ItemOf<typeof CHUNKS> {}

/**
 * Returns the chunk that would contain a key: the last chunk that starts at or before the key. Null if there is none.
 */
export const findChunk = async (statements: Statements, baseId: string, key: Uint8Array): Promise<ChunkRow | null> => {
  const before = { baseId, keyWidth: key.length, firstKey: sql`<= ${key}` }
  return (await CHUNKS.list(statements, before, { by: ['firstKey'], descending: true, limit: 1 }))[0] ?? null
}

const toKeyWidth = (width: number): KeyWidth => {
  if (width === 20 || width === 32) return width
  throw new StoreStatementError(new RangeError('a key has 20 or 32 bytes'))
}

class StoredChunk implements ListChunk {
  readonly width: KeyWidth
  readonly keys: Uint8Array
  readonly storedNotes: string
  #notes: readonly ListNote[] | null = null

  constructor({ keyWidth, keys, notes }: ChunkRow) {
    this.width = toKeyWidth(keyWidth)
    this.keys = keys
    this.storedNotes = notes
  }

  get notes(): readonly ListNote[] {
    this.#notes ??= unpackNotes(this.storedNotes, this.keys.length / this.width)
    return this.#notes
  }
}

export const toChunk = (row: ChunkRow): ListChunk => new StoredChunk(row)

export const indexOfKey = (keys: Uint8Array, key: Uint8Array): number => {
  const width = key.length
  let low = 0
  let high = keys.length / width
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = Buffer.compare(keys.subarray(middle * width, (middle + 1) * width), key)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}
