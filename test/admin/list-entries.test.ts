// The entries of a list while others change it: a page is of one version, and reading ends.
import { expect, test } from 'bun:test'
import { pageEntries } from '../../src/admin/list-entries.ts'
import { parseAddressSearch } from '../../src/admin/list-search.ts'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import type { AddressList } from '../../src/store/lists/lists.ts'

type ListStore = Parameters<typeof pageEntries>[0]

/** @param changes how many of the reads find another version than the one before */
const storeThatChanges = (changes: number) => {
  let version = 0
  let reads = 0
  const lists = {
    findById: async () => {
      if (version < changes) version += 1
      return { id: 'list', baseId: null, version }
    },
    readEdits: async () => {
      reads += 1
      const key = new Uint8Array(20).fill(version)
      return [{ key, memo: '', author: 'anna', addedAtSeconds: 0, present: true }]
    },
  }
  return { store: { lists, listBases: {} } as unknown as ListStore, reads: () => reads }
}
const read = (store: ListStore) =>
  pageEntries(store, { id: 'list' } as AddressList, parseAddressSearch(''), { after: null, limit: 10 })

test('a page is of the version that stood still while it was read', async () => {
  const { store, reads } = storeThatChanges(4)
  const { items } = await read(store)
  expect(items.map(({ key }) => key[0])).toEqual([4])
  expect(reads()).toBe(3)
})

test('a list that never stands still is not read for ever', async () => {
  const { store, reads } = storeThatChanges(Number.POSITIVE_INFINITY)
  await expect(read(store)).rejects.toBeInstanceOf(DependencyUnavailableError)
  expect(reads()).toBe(20)
})
