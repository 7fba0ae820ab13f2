// Merges changes into a list's sorted chunks. Unchanged chunks aren't read; a turn handles a few hundred entries.
import { LIST_CHUNK_KEYS, LIST_ENTRIES_MAX, type ListChunk, type ListEdit, type ListEntry } from '../../domain/list.ts'
import { nextTurn } from '../../lib/time.ts'
import { ListTooLongError } from './entry-sink.ts'

export type ListChange = ListEntry | ListEdit

const TURN_ENTRIES = 512
/** Smaller chunks are merged with the next, so that repeated merges don't fragment the list. */
const CHUNK_KEYS_MIN = LIST_CHUNK_KEYS / 2

/** Sorts EVM keys before Solana keys, then by bytes. */
export const compareKeys = (left: Uint8Array, right: Uint8Array): number =>
  left.length - right.length || Buffer.compare(left, right)

const firstKeyOf = ({ width, keys }: ListChunk): Uint8Array => keys.subarray(0, width)

const countOf = ({ width, keys }: ListChunk): number => keys.length / width

const chunkOf = (entries: readonly ListEntry[]): ListChunk => {
  const width = entries[0]?.key.length === 32 ? 32 : 20
  const keys = new Uint8Array(entries.length * width)
  for (const [index, { key }] of entries.entries()) keys.set(key, index * width)
  return { width, keys, notes: entries.map(({ memo, author, addedAtSeconds }) => ({ memo, author, addedAtSeconds })) }
}

const chunksOf = (entries: readonly ListEntry[]): ListChunk[] => {
  const size = Math.ceil(entries.length / Math.ceil(entries.length / LIST_CHUNK_KEYS))
  const chunks: ListChunk[] = []
  for (let at = 0; at < entries.length; at += size) chunks.push(chunkOf(entries.slice(at, at + size)))
  return chunks
}

async function* mergeAll(
  base: AsyncIterable<ListChunk>,
  changes: AsyncIterable<ListChange>,
): AsyncGenerator<ListChunk> {
  const chunks = base[Symbol.asyncIterator]()
  const changing = changes[Symbol.asyncIterator]()
  let next = await chunks.next()
  let change = await changing.next()
  let entries: ListEntry[] = []
  let handled = 0

  function* add(entry: ListEntry): Generator<ListChunk> {
    const isOtherWidth = entries[0] !== undefined && entries[0].key.length !== entry.key.length
    if (isOtherWidth || entries.length === 2 * LIST_CHUNK_KEYS) yield* flush(isOtherWidth ? 0 : LIST_CHUNK_KEYS)
    entries.push(entry)
  }
  function* flush(keep: number): Generator<ListChunk> {
    yield* chunksOf(entries.slice(0, entries.length - keep))
    entries = entries.slice(entries.length - keep)
  }
  async function* takeChangesBefore(end: Uint8Array | null): AsyncGenerator<ListChunk> {
    while (!change.done && (end === null || compareKeys(change.value.key, end) < 0)) {
      if (!('present' in change.value) || change.value.present) yield* add(change.value)
      change = await changing.next()
      if (++handled % TURN_ENTRIES === 0) await nextTurn()
    }
  }

  while (!next.done) {
    const chunk = next.value
    next = await chunks.next()
    const end = next.done ? null : firstKeyOf(next.value)
    const isChanged = !change.done && (end === null || compareKeys(change.value.key, end) < 0)
    if (entries.length === 0 && !isChanged) {
      yield chunk
      continue
    }
    for (const [index, note] of chunk.notes.entries()) {
      const key = chunk.keys.subarray(index * chunk.width, (index + 1) * chunk.width)
      yield* takeChangesBefore(key)
      if (change.done || compareKeys(change.value.key, key) !== 0) yield* add({ key, ...note })
      if (++handled % TURN_ENTRIES === 0) await nextTurn()
    }
    yield* takeChangesBefore(end)
    if (entries.length >= CHUNK_KEYS_MIN) yield* flush(0)
  }
  yield* takeChangesBefore(null)
  if (entries.length > 0) yield* flush(0)
}

/** @param changes sorted; they take precedence @throws ListTooLongError */
export async function* mergeChunks(
  base: AsyncIterable<ListChunk>,
  changes: AsyncIterable<ListChange>,
): AsyncGenerator<ListChunk> {
  let total = 0
  for await (const chunk of mergeAll(base, changes)) {
    total += countOf(chunk)
    if (total > LIST_ENTRIES_MAX) throw new ListTooLongError()
    yield chunk
  }
}
