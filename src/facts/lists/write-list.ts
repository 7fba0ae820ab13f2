// Replaces a list's content atomically. After many single changes, the list is rewritten as a new base.
import { EVM_KEY_WIDTH, KEY_WIDTHS } from '../../domain/address-key.ts'
import { type ListChunk, type ListEdit, type ListEntry, ListLimitError } from '../../domain/list.ts'
import { DetailedError } from '../../lib/named-error.ts'
import { nextTurn } from '../../lib/time.ts'
import { compareKeys, mergeChunks } from './merge-chunks.ts'

export interface ListContents {
  readonly bases: {
    begin(listId: string): Promise<string>
    append(baseId: string, chunks: readonly ListChunk[]): Promise<void>
    activate(activation: {
      readonly listId: string
      readonly baseId: string
      readonly ifVersion: number | null
      readonly confirmation: ListConfirmation | null
    }): Promise<'activated' | 'unknown' | 'changed-meanwhile'>
    discard(baseId: string): Promise<void>
    find(baseId: string): Promise<{ readonly evmCount: number; readonly solanaCount: number } | null>
    readChunks(
      baseId: string,
      width: 20 | 32,
      afterKey: Uint8Array | null,
      limit: number,
    ): Promise<readonly ListChunk[]>
  }
  readonly lists: {
    findById(listId: string): Promise<StoredList | null>
    readEdits(listId: string): Promise<readonly ListEdit[]>
  }
}

export interface StoredList {
  readonly id: string
  readonly baseId: string | null
  readonly version: number
}

export type ListConfirmation = SourceConfirmation | ScreeningConfirmation

interface SourceConfirmation {
  readonly fileSha256: string
  readonly fileBytes: number
  readonly skippedCount: number
  readonly nextDueAtSeconds: number
  readonly token: string
}

interface ScreeningConfirmation {
  readonly screeningList: string
  readonly versionId: string
}

/** The list was deleted or changed during the write; nothing was applied. */
export class ListChangedError extends DetailedError {}

export const KEEPER_CHANGED = 'the list’s source was changed, removed or read again during this operation'

/** Chunks with short notes per transaction: a few hundred kilobytes, a few milliseconds of work. */
const CHUNKS_A_TRANSACTION = 4
/** A transaction with this many note characters stores no further chunk. */
const NOTES_A_TRANSACTION = 262_144
const MERGE_ATTEMPTS = 3

/** Uses the stored length, because reading `notes` would parse them. */
const notesLengthOf = (chunk: ListChunk): number =>
  chunk.storedNotes?.length ?? chunk.notes.reduce((length, { memo }) => length + memo.length, 0)

/** Discards the base if the organization exceeds its limit. */
const activate = async (
  { bases }: ListContents,
  activation: Parameters<ListContents['bases']['activate']>[0],
): Promise<'activated' | 'unknown' | 'changed-meanwhile'> => {
  try {
    return await bases.activate(activation)
  } catch (error) {
    if (error instanceof ListLimitError) await bases.discard(activation.baseId)
    throw error
  }
}

const stage = async ({ bases }: ListContents, listId: string, chunks: AsyncIterable<ListChunk>): Promise<string> => {
  const baseId = await bases.begin(listId)
  try {
    let pending: ListChunk[] = []
    let notesLength = 0
    for await (const chunk of chunks) {
      pending.push(chunk)
      notesLength += notesLengthOf(chunk)
      if (pending.length < CHUNKS_A_TRANSACTION && notesLength < NOTES_A_TRANSACTION) continue
      await bases.append(baseId, pending)
      pending = []
      notesLength = 0
      await nextTurn()
    }
    await bases.append(baseId, pending)
    return baseId
  } catch (error) {
    await bases.discard(baseId)
    throw error
  }
}

/**
 * If it throws, the list is unchanged. @param confirmation null for a list kept by people
 * @throws ListChangedError; ListTooLongError and other errors of the chunks
 */
export const replaceList = async (
  contents: ListContents,
  listId: string,
  chunks: AsyncIterable<ListChunk>,
  confirmation: ListConfirmation | null = null,
): Promise<void> => {
  const baseId = await stage(contents, listId, chunks)
  const result = await activate(contents, { listId, baseId, ifVersion: null, confirmation })
  if (result === 'activated') return
  await contents.bases.discard(baseId)
  throw new ListChangedError(result === 'unknown' ? 'the list was removed during this operation' : KEEPER_CHANGED)
}

async function* entriesOf(chunks: AsyncIterable<ListChunk>): AsyncGenerator<ListEntry> {
  for await (const { width, keys, notes } of chunks) {
    for (const [index, note] of notes.entries()) {
      yield { key: keys.subarray(index * width, (index + 1) * width), ...note }
    }
  }
}

/** @throws ListChangedError if the base's deletion overtakes the reader */
async function* chunksOfBase({ bases }: ListContents, baseId: string | null): AsyncGenerator<ListChunk> {
  if (baseId === null) return
  const base = await bases.find(baseId)
  for (const width of KEY_WIDTHS) {
    let after: Uint8Array | null = null
    let count = 0
    for (;;) {
      const chunks: readonly ListChunk[] = await bases.readChunks(baseId, width, after, 1)
      yield* chunks
      const last = chunks.at(-1)
      if (last === undefined) break
      after = last.keys.subarray(0, width)
      for (const { keys } of chunks) count += keys.length / width
    }
    if (count !== (width === EVM_KEY_WIDTH ? base?.evmCount : base?.solanaCount)) {
      throw new ListChangedError('the list was replaced during this operation')
    }
  }
}

/** Yields the entries of a base, even one that no list uses. */
export const readBase = (contents: ListContents, baseId: string): AsyncGenerator<ListEntry> =>
  entriesOf(chunksOfBase(contents, baseId))

/** Merges sorted entries; the entries in `later` take precedence. */
export async function* mergeEntries<Earlier extends ListEntry, Later extends ListEntry>(
  earlier: AsyncIterable<Earlier>,
  later: AsyncIterable<Later>,
): AsyncGenerator<Earlier | Later> {
  const left = earlier[Symbol.asyncIterator]()
  const right = later[Symbol.asyncIterator]()
  let a = await left.next()
  let b = await right.next()
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compareKeys(a.value.key, b.value.key)
    if (order < 0 && !a.done) yield a.value
    else if (!b.done) yield b.value
    if (order <= 0) a = await left.next()
    if (order >= 0) b = await right.next()
  }
}

async function* inKeyOrder(edits: readonly ListEdit[]): AsyncGenerator<ListEdit> {
  yield* [...edits].sort((left, right) => compareKeys(left.key, right.key))
}

/** Returns the list and its single changes in the same version. The base stays readable for a minute. */
const readSnapshot = async ({ lists }: ListContents, listId: string) => {
  for (;;) {
    const list = await lists.findById(listId)
    if (list === null) throw new ListChangedError('the list was removed during this operation')
    const edits = await lists.readEdits(listId)
    if ((await lists.findById(listId))?.version === list.version) return { list, edits }
  }
}

/** Applies single changes. @throws ListChangedError */
export async function* readEntries(contents: ListContents, listId: string): AsyncGenerator<ListEntry> {
  yield* entriesOfSnapshot(contents, await readSnapshot(contents, listId))
}

async function* entriesOfSnapshot(
  contents: ListContents,
  { list, edits }: { readonly list: StoredList; readonly edits: readonly ListEdit[] },
): AsyncGenerator<ListEntry> {
  const merged = mergeEntries<ListEntry, ListEdit>(entriesOf(chunksOfBase(contents, list.baseId)), inKeyOrder(edits))
  for await (const entry of merged) {
    if (!('present' in entry) || entry.present) yield entry
  }
}

/** Replaces notes of existing entries. @param added called again if the list has changed */
export const extendList = async (
  contents: ListContents,
  listId: string,
  added: () => AsyncIterable<ListChunk>,
): Promise<void> => {
  for (let attempt = 0; attempt < MERGE_ATTEMPTS; attempt++) {
    const snapshot = await readSnapshot(contents, listId)
    const changes = mergeEntries<ListEdit, ListEntry>(inKeyOrder(snapshot.edits), entriesOf(added()))
    const chunks = mergeChunks(chunksOfBase(contents, snapshot.list.baseId), changes)
    const baseId = await stage(contents, listId, chunks)
    const result = await activate(contents, {
      listId,
      baseId,
      ifVersion: snapshot.list.version,
      confirmation: null,
    })
    if (result === 'activated') return
    await contents.bases.discard(baseId)
  }
  throw new ListChangedError('the list is changing too often: retry later')
}

async function* noChunks(): AsyncGenerator<ListChunk> {
  yield* []
}

/** Merges single changes into one base. @throws the errors of replaceList */
export const rewriteList = (contents: ListContents, listId: string): Promise<void> =>
  extendList(contents, listId, noChunks)
