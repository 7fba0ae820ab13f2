// Collects the entries of a list file in any order and returns them sorted, without duplicates, in slices, so that a
// million entries never block the thread that sorts them.
import {
  EVM_KEY_WIDTH,
  KEY_WIDTHS,
  type KeyWidth,
  SOLANA_KEY_WIDTH,
  writeAddressKey,
} from '../../domain/address-key.ts'
import { LIST_CHUNK_KEYS, LIST_ENTRIES_MAX, type ListChunk, type ListNote } from '../../domain/list.ts'
import { NamedError } from '../../lib/named-error.ts'

/** A file may repeat an address, so it may have more lines than a list may have entries. */
const LINES_MAX = 2 * LIST_ENTRIES_MAX

/** There are more addresses than a list may hold. */
export class ListTooLongError extends NamedError {
  readonly detail = `there are more than ${LIST_ENTRIES_MAX} addresses`
}

export interface EntrySink {
  /** @param canonicalAddress in the form of domain/address.ts. @throws ListTooLongError */
  add(canonicalAddress: string, memo: string): void
  /** How many were added, repeated ones included. */
  readonly added: number
  /**
   * Sorted. An address that was added more than once keeps the last memo that was not empty. @throws ListTooLongError
   */
  chunks(note: Omit<ListNote, 'memo'>): AsyncGenerator<ListChunk>
}

interface Column {
  readonly width: KeyWidth
  keys: Uint8Array
  count: number
  /** Position → memo; empty memos are left out. */
  readonly memos: Map<number, string>
}

const createColumn = (width: KeyWidth): Column => ({
  width,
  keys: new Uint8Array(width * 64),
  count: 0,
  memos: new Map(),
})

const scratch = new Uint8Array(SOLANA_KEY_WIDTH)

const append = (column: Column, memo: string): void => {
  const { width, count } = column
  if ((count + 1) * width > column.keys.length) {
    const larger = new Uint8Array(column.keys.length * 2)
    larger.set(column.keys)
    column.keys = larger
  }
  column.keys.set(width === scratch.length ? scratch : scratch.subarray(0, width), count * width)
  if (memo !== '') column.memos.set(count, memo)
  column.count += 1
}

const BUCKETS = 64
const BUCKET_SHIFT = 26
/**
 * A sort key packs the position into the low 21 bits of a double and the entry's first four bytes above them: 53 bits
 * are exact.
 */
const POSITION_FACTOR = 2 ** 21

const firstWord = (keys: Uint8Array, at: number): number =>
  ((keys[at]! << 24) | (keys[at + 1]! << 16) | (keys[at + 2]! << 8) | keys[at + 3]!) >>> 0

/** Positions in the order of their keys; equal keys keep the order in which they were added. */
async function* sortedPositions({ keys, width, count }: Column): AsyncGenerator<Uint32Array> {
  const buckets: number[][] = Array.from({ length: BUCKETS }, () => [])
  for (let position = 0; position < count; position++) {
    const word = firstWord(keys, position * width)
    buckets[word >>> BUCKET_SHIFT]!.push(word * POSITION_FACTOR + position)
  }
  const compare = (left: number, right: number): number =>
    Buffer.compare(
      keys.subarray(left * width, (left + 1) * width),
      keys.subarray(right * width, (right + 1) * width),
    ) || left - right
  for (const bucket of buckets) {
    const tagged = Float64Array.from(bucket).sort()
    const positions = new Uint32Array(tagged.length)
    for (let start = 0; start < tagged.length; ) {
      const word = Math.floor(tagged[start]! / POSITION_FACTOR)
      let end = start
      while (end < tagged.length && Math.floor(tagged[end]! / POSITION_FACTOR) === word) {
        positions[end] = tagged[end]! % POSITION_FACTOR
        end++
      }
      // Rare: keys that begin with the same four bytes.
      if (end - start > 1) positions.subarray(start, end).sort(compare)
      start = end
    }
    if (positions.length > 0) yield positions
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const sameKey = (keys: Uint8Array, width: number, left: number, right: number): boolean => {
  for (let byte = 0; byte < width; byte++) if (keys[left * width + byte] !== keys[right * width + byte]) return false
  return true
}

async function* chunksOf(column: Column, stamp: Omit<ListNote, 'memo'>): AsyncGenerator<ListChunk> {
  const { keys, width, memos } = column
  const plain: ListNote = { ...stamp, memo: '' }
  let chunk = new Uint8Array(LIST_CHUNK_KEYS * width)
  let notes: ListNote[] = []
  let last = -1
  for await (const positions of sortedPositions(column)) {
    for (const position of positions) {
      const memo = memos.get(position)
      const note = memo === undefined ? plain : { ...stamp, memo }
      if (last !== -1 && sameKey(keys, width, last, position)) {
        if (memo !== undefined) notes[notes.length - 1] = note
        continue
      }
      if (notes.length === LIST_CHUNK_KEYS) {
        yield { width, keys: chunk, notes }
        chunk = new Uint8Array(LIST_CHUNK_KEYS * width)
        notes = []
      }
      chunk.set(keys.subarray(position * width, (position + 1) * width), notes.length * width)
      notes.push(note)
      last = position
    }
  }
  if (notes.length > 0) yield { width, keys: chunk.subarray(0, notes.length * width), notes }
}

export const createEntrySink = (): EntrySink => {
  const columns: Readonly<Record<KeyWidth, Column>> = {
    [EVM_KEY_WIDTH]: createColumn(EVM_KEY_WIDTH),
    [SOLANA_KEY_WIDTH]: createColumn(SOLANA_KEY_WIDTH),
  }
  const added = (): number => columns[EVM_KEY_WIDTH].count + columns[SOLANA_KEY_WIDTH].count
  return {
    get added() {
      return added()
    },
    add: (canonicalAddress, memo) => {
      if (added() >= LINES_MAX) throw new ListTooLongError()
      append(columns[writeAddressKey(canonicalAddress, scratch, 0)], memo)
    },
    chunks: async function* (stamp) {
      let distinct = 0
      for (const width of KEY_WIDTHS) {
        for await (const chunk of chunksOf(columns[width], stamp)) {
          distinct += chunk.notes.length
          if (distinct > LIST_ENTRIES_MAX) throw new ListTooLongError()
          yield chunk
        }
      }
    },
  }
}
