// Reads pages of a list in byte order: EVM before Solana. A page reads only the chunks that it needs.
import { addressOfKey } from '../domain/address-key.ts'
import { DependencyUnavailableError } from '../domain/errors.ts'
import type { ListEdit, ListEntry } from '../domain/list.ts'
import { compareKeys } from '../facts/lists/merge-chunks.ts'
import { mergeEntries } from '../facts/lists/write-list.ts'
import type { AddressList } from '../store/lists/lists.ts'
import type { Page } from '../store/paging.ts'
import type { Store } from '../store/store.ts'
import { requireFound } from './errors.ts'
import type { AddressSearch, KeyRange } from './list-search.ts'

type ListStore = Pick<Store, 'lists' | 'listBases'>

const isWithin = ({ from, to }: KeyRange, key: Uint8Array): boolean =>
  compareKeys(key, from) >= 0 && compareKeys(key, to) <= 0

async function* baseEntries(
  { listBases }: ListStore,
  baseId: string | null,
  range: KeyRange,
): AsyncGenerator<ListEntry> {
  if (baseId === null) return
  const { width } = range
  let chunk = await listBases.findChunk(baseId, range.from)
  let after: Uint8Array | null = null
  for (;;) {
    chunk ??= (await listBases.readChunks(baseId, width, after, 1))[0] ?? null
    if (chunk === null) return
    for (const [index, note] of chunk.notes.entries()) {
      const key = chunk.keys.subarray(index * width, (index + 1) * width)
      if (compareKeys(key, range.to) > 0) return
      if (compareKeys(key, range.from) >= 0) yield { key, ...note }
    }
    after = chunk.keys.subarray(0, width)
    chunk = null
  }
}

async function* editsWithin(edits: readonly ListEdit[], range: KeyRange): AsyncGenerator<ListEdit> {
  for (const edit of edits) if (isWithin(range, edit.key)) yield edit
}

const SNAPSHOT_ATTEMPTS = 20

/** One version of the list and its edits since the base, which stays readable for a minute. */
const readSnapshot = async ({ lists }: ListStore, listId: string) => {
  for (let attempt = 0; attempt < SNAPSHOT_ATTEMPTS; attempt++) {
    const list = requireFound(await lists.findById(listId), 'list')
    const edits = await lists.readEdits(listId)
    if ((await lists.findById(listId))?.version === list.version) return { list, edits }
  }
  throw new DependencyUnavailableError('the list keeps changing; try again')
}

async function* found(store: ListStore, listId: string, search: AddressSearch, ranges: readonly KeyRange[]) {
  const { list, edits } = await readSnapshot(store, listId)
  for (const range of ranges) {
    const merged = mergeEntries<ListEntry, ListEdit>(baseEntries(store, list.baseId, range), editsWithin(edits, range))
    for await (const entry of merged) {
      if ('present' in entry && !entry.present) continue
      if (search.matches(addressOfKey(entry.key))) yield entry
    }
  }
}

const rangesFrom = (ranges: readonly KeyRange[], key: Uint8Array | null): readonly KeyRange[] =>
  key === null
    ? ranges
    : ranges
        .filter(({ to }) => compareKeys(to, key) > 0)
        .map((range) => (compareKeys(range.from, key) < 0 ? { ...range, from: key } : range))

/** @param page `after`: last key, hex @throws SubjectUnknownError, DependencyUnavailableError */
export const pageEntries = async (
  store: ListStore,
  list: AddressList,
  search: AddressSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Page<ListEntry>> => {
  const after = page.after === null ? null : new Uint8Array(Buffer.from(page.after, 'hex'))
  const items: ListEntry[] = []
  for await (const entry of found(store, list.id, search, rangesFrom(search.ranges, after))) {
    if (after !== null && compareKeys(entry.key, after) === 0) continue
    if (items.length === page.limit) {
      const last = items.at(-1)
      return { items, next: last === undefined ? null : [Buffer.from(last.key).toString('hex')] }
    }
    items.push(entry)
  }
  return { items, next: null }
}
