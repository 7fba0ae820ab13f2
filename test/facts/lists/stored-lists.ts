// A store with lists for tests, with helpers to fill and read them.
import { addressKey, addressOfKey } from '../../../src/domain/address-key.ts'
import type { ListChunk } from '../../../src/domain/list.ts'
import { createEntrySink } from '../../../src/facts/lists/entry-sink.ts'
import { type ListContents, readEntries } from '../../../src/facts/lists/write-list.ts'
import type { AddressList } from '../../../src/store/lists/lists.ts'
import { openTemporaryStore, seedOrganization, type TemporaryStore } from '../../store/temporary-store.ts'

export const SOLANA = 'So11111111111111111111111111111111111111112'

/** The n-th address, in ascending order. */
export const evm = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

const STAMP = { author: 'alice', addedAtSeconds: 100 }

export const chunksOf = (
  entries: readonly (string | readonly [string, string])[],
  stamp = STAMP,
): AsyncIterable<ListChunk> => {
  const sink = createEntrySink()
  for (const entry of entries) {
    const [address, memo] = typeof entry === 'string' ? [entry, ''] : entry
    sink.add(address, memo)
  }
  return sink.chunks(stamp)
}

export interface StoredLists extends TemporaryStore {
  readonly organizationId: string
  readonly contents: ListContents
  newList(): Promise<AddressList>
  add(list: AddressList, ...addresses: string[]): Promise<void>
  take(list: AddressList, ...addresses: string[]): Promise<void>
  /** Address and memo, in order. */
  entries(list: AddressList): Promise<(readonly [string, string])[]>
}

export const openStoredLists = async (): Promise<StoredLists> => {
  const temporary = await openTemporaryStore()
  const { store } = temporary
  const { organizationId } = await seedOrganization(store, 'ours')
  const contents: ListContents = { lists: store.lists, bases: store.listBases }
  let number = 0
  const edit = async (list: AddressList, addresses: readonly string[], present: boolean): Promise<void> => {
    const edits = addresses.map((address) => ({ key: addressKey(address), memo: '', ...STAMP, present }))
    const { status } = await store.lists.edit(organizationId, list.name, edits)
    if (status !== 'edited') throw new Error(status)
  }
  return {
    ...temporary,
    organizationId,
    contents,
    newList: () => store.lists.create({ owner: organizationId, name: `list_${++number}` }),
    add: (list, ...addresses) => edit(list, addresses, true),
    take: (list, ...addresses) => edit(list, addresses, false),
    entries: async (list) => {
      const found: (readonly [string, string])[] = []
      for await (const { key, memo } of readEntries(contents, list.id)) found.push([addressOfKey(key), memo])
      return found
    },
  }
}
