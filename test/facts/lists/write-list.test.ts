// Writes of whole lists: replacement, extension and rewriting, each complete or without effect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressOfKey } from '../../../src/domain/address-key.ts'
import { type ListChunk, ListLimitError } from '../../../src/domain/list.ts'
import {
  extendList,
  ListChangedError,
  readEntries,
  replaceList,
  rewriteList,
} from '../../../src/facts/lists/write-list.ts'
import { chunksOf, evm, openStoredLists, SOLANA, type StoredLists } from './stored-lists.ts'

let stored: StoredLists
beforeAll(async () => {
  stored = await openStoredLists()
})
afterAll(() => stored.remove())

const countOf = async (listId: string): Promise<number> => (await stored.store.lists.findById(listId))?.entryCount ?? -1

describe('a list', () => {
  test('is replaced, including all its edits', async () => {
    const { contents, newList, add, entries } = stored
    const list = await newList()
    await add(list, evm(9))
    await replaceList(contents, list.id, chunksOf([SOLANA, [evm(2), 'two'], evm(1)]))
    expect(await entries(list)).toEqual([
      [evm(1), ''],
      [evm(2), 'two'],
      [SOLANA, ''],
    ])
    expect(await countOf(list.id)).toBe(3)
  })

  test('is extended with new entries and newer memos', async () => {
    const { contents, newList, add, take, entries } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([[evm(1), 'old'], evm(2), [evm(3), 'kept']]))
    await take(list, evm(2))
    await add(list, evm(5))
    await extendList(contents, list.id, () => chunksOf([[evm(1), 'new'], [evm(4), 'added'], SOLANA]))
    expect(await entries(list)).toEqual([
      [evm(1), 'new'],
      [evm(3), 'kept'],
      [evm(4), 'added'],
      [evm(5), ''],
      [SOLANA, ''],
    ])
  })

  test('has the same entries after it is rewritten, without edits', async () => {
    const numbers = fc.uniqueArray(fc.nat(40))
    await fc.assert(
      fc.asyncProperty(numbers, numbers, numbers, async (base, added, taken) => {
        const { contents, newList, add, take, entries, store } = stored
        const list = await newList()
        await replaceList(contents, list.id, chunksOf(base.map(evm)))
        await add(list, ...added.map(evm))
        await take(list, ...taken.map(evm))
        const expected = new Set([...base, ...added]).difference(new Set(taken))
        const before = await entries(list)
        expect(before.map(([address]) => address)).toEqual([...expected].sort((a, b) => a - b).map(evm))
        expect(await countOf(list.id)).toBe(expected.size)
        await rewriteList(contents, list.id)
        expect(await entries(list)).toEqual(before)
        expect(await store.lists.readEdits(list.id)).toEqual([])
        expect(await countOf(list.id)).toBe(expected.size)
      }),
      { numRuns: 15 },
    )
  })

  test('is unchanged if the write of its new content fails midway', async () => {
    const { contents, newList, entries } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([evm(1)]))
    async function* failing(): AsyncGenerator<ListChunk> {
      for await (const chunk of chunksOf(Array.from({ length: 20_000 }, (_, index) => evm(index + 1)))) yield chunk
      throw new Error('the disk is gone')
    }
    await expect(replaceList(contents, list.id, failing())).rejects.toThrow('the disk is gone')
    await expect(extendList(contents, list.id, failing)).rejects.toThrow('the disk is gone')
    expect(await entries(list)).toEqual([[evm(1), '']])
  })

  test('is not written if its organization has too many entries, and its base is discarded', async () => {
    const { contents, newList, store, entries } = stored
    const list = await newList()
    let baseId = ''
    const activate: typeof store.listBases.activate = (activation) => {
      baseId = activation.baseId
      return Promise.reject(new ListLimitError('list entries', 10))
    }
    const full = { ...contents, bases: { ...store.listBases, activate } }
    await expect(replaceList(full, list.id, chunksOf([evm(1)]))).rejects.toBeInstanceOf(ListLimitError)
    expect(await entries(list)).toEqual([])
    // A discarded base cannot be activated.
    const activation = { listId: list.id, baseId, ifVersion: null, confirmation: null }
    expect(await store.listBases.activate(activation)).toBe('changed-meanwhile')
  })

  test('that was removed meanwhile cannot be written or read', async () => {
    const { contents, newList, store, organizationId } = stored
    const list = await newList()
    await store.lists.remove(organizationId, list.name)
    await expect(replaceList(contents, list.id, chunksOf([evm(1)]))).rejects.toBeInstanceOf(ListChangedError)
    await expect(rewriteList(contents, list.id)).rejects.toBeInstanceOf(ListChangedError)
    await expect(readEntries(contents, list.id).next()).rejects.toBeInstanceOf(ListChangedError)
  })

  test('keeps edits that are made while it is extended', async () => {
    const { contents, newList, add, entries } = stored
    const list = await newList()
    let interruptions = 0
    async function* interrupted(): AsyncGenerator<ListChunk> {
      if (interruptions < 2) await add(list, evm(100 + interruptions++))
      yield* chunksOf([evm(1)])
    }
    await extendList(contents, list.id, interrupted)
    expect((await entries(list)).map(([address]) => address)).toEqual([evm(1), evm(100), evm(101)])
    async function* restless(): AsyncGenerator<ListChunk> {
      await add(list, evm(200 + interruptions++))
      yield* chunksOf([evm(2)])
    }
    await expect(extendList(contents, list.id, restless)).rejects.toBeInstanceOf(ListChangedError)
    expect(interruptions).toBe(2 + 3)
  })

  test('is read again if it changes between the reads of its base and its edits', async () => {
    const { contents, newList, add, take, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([evm(1), evm(2)]))
    await add(list, evm(3))
    await take(list, evm(1))
    let isRewritten = false
    const readEdits: typeof store.lists.readEdits = async (listId) => {
      // The edits become part of a new base.
      if (!isRewritten) {
        isRewritten = true
        await rewriteList(contents, listId)
      }
      return store.lists.readEdits(listId)
    }
    const interrupted = { ...contents, lists: { ...store.lists, readEdits } }
    const found: string[] = []
    for await (const { key } of readEntries(interrupted, list.id)) found.push(addressOfKey(key))
    expect(found).toEqual([evm(2), evm(3)])
  })

  test('is read from one snapshot, even if it is replaced during the read', async () => {
    const { contents, newList, take } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf(Array.from({ length: 10_000 }, (_, index) => evm(index))))
    await take(list, evm(9_999))
    const found: string[] = []
    for await (const { key } of readEntries(contents, list.id)) {
      found.push(addressOfKey(key))
      if (found.length === 1) await replaceList(contents, list.id, chunksOf([evm(1)]))
    }
    expect(found).toHaveLength(9_999)
  })

  test('fails if it is replaced and its read takes more than a minute', async () => {
    const { contents, store, newList } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf(Array.from({ length: 10_000 }, (_, index) => evm(index))))
    const entries = readEntries(contents, list.id)
    await entries.next()
    await replaceList(contents, list.id, chunksOf([evm(1)]))
    stored.clock.advance(61)
    while ((await store.listBases.sweep()) > 0);
    await expect(Array.fromAsync(entries)).rejects.toBeInstanceOf(ListChangedError)
  })
})
