// Pages of the entries of a list that changes while it is read.
import { expect, test } from 'bun:test'
import { pageEntries } from '../../src/admin/list-entries.ts'
import { parseAddressSearch } from '../../src/admin/list-search.ts'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import type { AddressList } from '../../src/store/lists/lists.ts'

/** @param changes number of reads after which the version changes */
const readChangingList = async (changes: number) => {
  let version = 0
  let reads = 0
  const lists = {
    findById: async () => {
      if (version < changes) version += 1
      return { id: 'list', baseId: null, version }
    },
    readEdits: async () => {
      reads += 1
      return [{ key: new Uint8Array(20).fill(version), memo: '', author: 'anna', addedAtSeconds: 0, present: true }]
    },
  }
  const store = { lists, listBases: {} } as unknown as Parameters<typeof pageEntries>[0]
  const page = { after: null, limit: 10 }
  const result = await pageEntries(store, { id: 'list' } as AddressList, parseAddressSearch(''), page).catch(
    (error: unknown) => error,
  )
  return { result, reads }
}

test('a page has the entries of a version that did not change during the read', async () => {
  const { result, reads } = await readChangingList(4)
  expect(result).toMatchObject({ items: [{ key: new Uint8Array(20).fill(4) }] })
  expect(reads).toBe(3)
})

test('reading a list that changes continuously fails after 20 attempts', async () => {
  const { result, reads } = await readChangingList(Number.POSITIVE_INFINITY)
  expect([result, reads]).toEqual([expect.any(DependencyUnavailableError), 20])
})
