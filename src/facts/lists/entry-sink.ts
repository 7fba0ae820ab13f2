// Sorts the entries of a list file and removes duplicates, one block per turn of the event loop.
import {
  EVM_KEY_WIDTH,
  KEY_WIDTHS,
  type KeyWidth,
  SOLANA_KEY_WIDTH,
  writeAddressKey,
} from '../../domain/address-key.ts'
import { LIST_CHUNK_KEYS, LIST_ENTRIES_MAX, type ListChunk, type ListNote } from '../../domain/list.ts'
import { DetailedError } from '../../lib/named-error.ts'
import { nextTurn } from '../../lib/time.ts'

/** Maximum lines. A file may repeat addresses, so it may have more lines than a list has entries. */
const LINES_MAX = 2 * LIST_ENTRIES_MAX
/** Maximum UTF-8 bytes of all memos: a million of 64 characters. */
const MEMO_BYTES_MAX = 2 ** 26

export class ListTooLongError extends DetailedError {
  constructor(detail = `the list has more than ${LIST_ENTRIES_MAX} addresses`) {
    super(detail)
  }
}

const BLOCK_BITS = 12
/** Entries per block. Columns grow by blocks, because copying a million keys takes too long. */
const BLOCK_ENTRIES = 2 ** BLOCK_BITS
const BLOCK_MASK = BLOCK_ENTRIES - 1

interface Column {
  readonly width: KeyWidth
  readonly blocks: { readonly keys: Uint8Array; readonly memos: Map<number, string> }[]
  count: number
}

const createColumn = (width: KeyWidth): Column => ({ width, blocks: [], count: 0 })

const scratch = new Uint8Array(SOLANA_KEY_WIDTH)

const append = (column: Column, memo: string): void => {
  const { width, blocks, count } = column
  const index = count & BLOCK_MASK
  if (index === 0) blocks.push({ keys: new Uint8Array(width * BLOCK_ENTRIES), memos: new Map() })
  const { keys, memos } = blocks.at(-1)!
  keys.set(width === scratch.length ? scratch : scratch.subarray(0, width), index * width)
  if (memo !== '') memos.set(index, memo)
  column.count += 1
}

const DIGIT_BYTES = 2
const DIGITS = 2 ** (8 * DIGIT_BYTES)

/** Returns the first position of each digit at `byte`; null if all keys have the same digit. */
async function startsOf({ blocks, width, count }: Column, byte: number): Promise<Uint32Array | null> {
  const starts = new Uint32Array(DIGITS)
  for (const [number, { keys }] of blocks.entries()) {
    const end = Math.min(count - number * BLOCK_ENTRIES, BLOCK_ENTRIES) * width
    for (let at = byte; at < end; at += width) starts[(keys[at]! << 8) | keys[at + 1]!]! += 1
    await nextTurn()
  }
  if (starts.includes(count)) return null
  let before = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const here = starts[digit]!
    starts[digit] = before
    before += here
  }
  return starts
}

/** Uses a radix sort, because crafted keys could make a comparison sort compare every byte. */
async function sortedPositions(column: Column): Promise<Uint32Array> {
  const { blocks, width, count } = column
  let from = new Uint32Array(count)
  for (let position = 0; position < count; position++) from[position] = position
  let to = new Uint32Array(count)
  const scatter = (begin: number, byte: number, starts: Uint32Array): void => {
    const end = Math.min(begin + BLOCK_ENTRIES, count)
    for (let at = begin; at < end; at++) {
      const position = from[at]!
      const { keys } = blocks[position >>> BLOCK_BITS]!
      const key = (position & BLOCK_MASK) * width + byte
      to[starts[(keys[key]! << 8) | keys[key + 1]!]!++] = position
    }
  }
  for (let byte = width - DIGIT_BYTES; byte >= 0; byte -= DIGIT_BYTES) {
    const starts = await startsOf(column, byte)
    if (starts === null) continue
    for (let begin = 0; begin < count; begin += BLOCK_ENTRIES) {
      scatter(begin, byte, starts)
      await nextTurn()
    }
    ;[from, to] = [to, from]
  }
  return from
}

async function* chunksOf(column: Column, stamp: Omit<ListNote, 'memo'>): AsyncGenerator<ListChunk> {
  const { blocks, width } = column
  const plain: ListNote = { ...stamp, memo: '' }
  let chunk = new Uint8Array(LIST_CHUNK_KEYS * width)
  let notes: ListNote[] = []
  let last: Uint8Array | null = null
  let taken = 0
  for (const position of await sortedPositions(column)) {
    if (taken++ % BLOCK_ENTRIES === 0) await nextTurn()
    const { keys, memos } = blocks[position >>> BLOCK_BITS]!
    const index = position & BLOCK_MASK
    const key = keys.subarray(index * width, (index + 1) * width)
    const memo = memos.get(index)
    const note = memo === undefined ? plain : { ...stamp, memo }
    if (last !== null && Buffer.compare(last, key) === 0) {
      if (memo !== undefined) notes[notes.length - 1] = note
      continue
    }
    if (notes.length === LIST_CHUNK_KEYS) {
      yield { width, keys: chunk, notes }
      chunk = new Uint8Array(LIST_CHUNK_KEYS * width)
      notes = []
    }
    chunk.set(key, notes.length * width)
    notes.push(note)
    last = key
  }
  if (notes.length > 0) yield { width, keys: chunk.subarray(0, notes.length * width), notes }
}

export const createEntrySink = () => {
  const columns: Readonly<Record<KeyWidth, Column>> = {
    [EVM_KEY_WIDTH]: createColumn(EVM_KEY_WIDTH),
    [SOLANA_KEY_WIDTH]: createColumn(SOLANA_KEY_WIDTH),
  }
  let memoBytes = 0
  const added = (): number => columns[EVM_KEY_WIDTH].count + columns[SOLANA_KEY_WIDTH].count
  return {
    get added(): number {
      return added()
    },
    add: (canonicalAddress: string, memo: string) => {
      if (added() >= LINES_MAX) throw new ListTooLongError()
      const bytes = Buffer.from(memo)
      memoBytes += bytes.length
      if (memoBytes > MEMO_BYTES_MAX)
        throw new ListTooLongError(`the memos of the list have more than ${MEMO_BYTES_MAX} bytes`)
      // A copy, because a substring keeps the whole text in memory.
      append(columns[writeAddressKey(canonicalAddress, scratch, 0)], bytes.toString())
    },
    /** Yields sorted chunks. A repeated address keeps its last non-empty memo. @throws ListTooLongError */
    chunks: async function* (stamp: Omit<ListNote, 'memo'>): AsyncGenerator<ListChunk> {
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

export type EntrySink = ReturnType<typeof createEntrySink>
