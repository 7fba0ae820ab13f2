// Lists: their single entries, the bases that replace their content, and the sources that maintain them.
import { beforeAll, describe, expect, test } from 'bun:test'
import { addressKey, addressOfKey } from '../../src/domain/address-key.ts'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import {
  LIST_EDITS_MAX,
  LIST_ENTRIES_MAX,
  LISTS_PER_ORGANIZATION_MAX,
  type ListChunk,
  type ListEdit,
  type ListNote,
} from '../../src/domain/list.ts'
import { type ChangePosition, readNewest } from '../../src/store/changes.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { Database, SqlParameter } from '../../src/store/database.ts'
import { createListBaseTable } from '../../src/store/lists/list-bases.ts'
import type { ListSource } from '../../src/store/lists/list-sources.ts'
import { type AddressList, createListTable } from '../../src/store/lists/lists.ts'
import { changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { storeOfSuite } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const NOTE: ListNote = { memo: '', author: 'alice', addedAtSeconds: 100 }
  const SOLANA = 'So11111111111111111111111111111111111111112'

  /** The n-th address, in ascending order. */
  const evm = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`
  const edit = (address: string, present = true, note: Partial<ListNote> = {}): ListEdit => ({
    key: addressKey(address),
    ...NOTE,
    ...note,
    present,
  })
  const chunk = (addresses: readonly string[], note: Partial<ListNote> = {}): ListChunk => {
    const keys = addresses.map((address) => addressKey(address))
    return {
      width: keys[0]?.length === 32 ? 32 : 20,
      keys: Buffer.concat(keys),
      notes: keys.map(() => ({ ...NOTE, ...note })),
    }
  }

  const settings = {
    location: 'https://lists.example/a.txt',
    format: 'text',
    reach: 'public',
    skipsBadLines: true,
    intervalSeconds: 3_600,
  } as const

  const temporary = storeOfSuite(openTemporaryStore)
  let ours: string
  let theirs: string
  let number = 0

  beforeAll(async () => {
    ours = (await seedOrganization(temporary.store, 'ours')).organizationId
    theirs = (await seedOrganization(temporary.store, 'theirs')).organizationId
  })

  const newList = (owner: string | null = ours): Promise<AddressList> => {
    number += 1
    return temporary.store.lists.create({ owner, name: `list_${number}` })
  }

  const activationOf = ({ id: listId }: AddressList, baseId: string) => ({
    listId,
    baseId,
    ifVersion: null,
    confirmation: null,
  })
  const stage = async (list: AddressList, ...chunks: readonly ListChunk[]): Promise<string> => {
    const { listBases } = temporary.store
    const baseId = await listBases.begin(list.id)
    if (chunks.length > 0) await listBases.append(baseId, chunks)
    return baseId
  }
  const activate = (list: AddressList, baseId: string, bases = temporary.store.listBases) =>
    bases.activate(activationOf(list, baseId))
  const write = async (list: AddressList, ...chunks: readonly ListChunk[]): Promise<string> => {
    const baseId = await stage(list, ...chunks)
    expect(await activate(list, baseId)).toBe('activated')
    return baseId
  }

  const reload = async ({ id }: AddressList): Promise<AddressList> => {
    const list = await temporary.store.lists.findById(id)
    if (list === null) throw new Error('the list was removed')
    return list
  }

  /** Changes in the change feed after the position. */
  const changesAfter = async (position: ChangePosition) =>
    (await changesSince(temporary.store.database, position)).map(({ topic, subjectId, organizationId }) => ({
      topic,
      subjectId,
      organizationId,
    }))

  describe('lists', () => {
    test('have names that policies can use and that are unique per owner', async () => {
      const { lists } = temporary.store
      for (const name of ['', 'Upper', 'a-b', '1a', '_a', 'a'.repeat(65), 'ä']) {
        await expect(lists.create({ owner: ours, name })).rejects.toBeInstanceOf(FieldInvalidError)
      }
      const list = await lists.create({ owner: ours, name: 'partners', description: 'known' })
      expect(list).toMatchObject({ entryCount: 0, baseId: null, keptBy: 'people', description: 'known' })
      await expect(lists.create({ owner: ours, name: 'partners' })).rejects.toMatchObject({ constraint: 'unique' })
      expect((await lists.create({ owner: theirs, name: 'partners' })).id).not.toBe(list.id)
    })

    test('that are shared cannot be named allow or deny, and reserve their names', async () => {
      const { lists } = temporary.store
      for (const name of ['allow', 'deny']) {
        await expect(lists.create({ owner: null, name })).rejects.toBeInstanceOf(FieldInvalidError)
      }
      await lists.create({ owner: null, name: 'sanctions' })
      await expect(lists.create({ owner: null, name: 'sanctions' })).rejects.toMatchObject({ constraint: 'unique' })
      await expect(lists.create({ owner: ours, name: 'sanctions' })).rejects.toBeInstanceOf(FieldInvalidError)
    })

    test('are visible only to their owner', async () => {
      const { lists } = temporary.store
      const list = await newList(theirs)
      expect(await lists.find(ours, list.name)).toBeNull()
      expect(await lists.find(null, list.name)).toBeNull()
      expect((await lists.list(ours)).map(({ name }) => name)).not.toContain(list.name)
      expect(await lists.edit(ours, list.name, [edit(evm(1))])).toEqual({ status: 'unknown' })
      expect(await lists.edit(null, list.name, [edit(evm(1))])).toEqual({ status: 'unknown' })
      expect(await lists.remove(ours, list.name)).toBe(false)
      expect(await reload(list)).toEqual(list)
    })

    test('announce each of their changes', async () => {
      const { lists, listSources, database } = temporary.store
      const before = await readNewest(database)
      const list = await newList()
      await lists.edit(ours, list.name, [edit(evm(1))])
      await write(list, chunk([evm(2)]))
      expect(await listSources.confirm(await listSources.set(list.id, settings), 0)).toBe(true)
      await listSources.remove(list.id)
      await lists.remove(ours, list.name)
      const change = { topic: 'list', subjectId: list.id, organizationId: ours } as const
      expect(await changesAfter(before)).toEqual(new Array(7).fill(change))
    })
  })

  describe('single entries', () => {
    test('are added and removed with their notes, on top of the base', async () => {
      const { lists } = temporary.store
      const list = await newList()
      await write(list, chunk([evm(1), evm(2), evm(3)], { memo: 'first' }), chunk([SOLANA]))
      const added = await lists.edit(ours, list.name, [
        edit(evm(4), true, { memo: 'new', author: 'bob', addedAtSeconds: 200 }),
        edit(evm(2), false),
      ])
      expect(added).toMatchObject({ status: 'edited', changed: 2, list: { entryCount: 4 } })
      const current = await reload(list)
      const find = async (address: string) => {
        const entry = await lists.findEntry(current, addressKey(address))
        return entry === null ? null : [entry.memo, entry.author, entry.addedAtSeconds]
      }
      expect(await find(evm(1))).toEqual(['first', 'alice', 100])
      expect(await find(evm(2))).toBeNull()
      expect(await find(evm(4))).toEqual(['new', 'bob', 200])
      expect(await find(SOLANA)).toEqual(['', 'alice', 100])
      expect(await find(evm(5))).toBeNull()
    })

    test('count once, even if they are added or removed repeatedly', async () => {
      const { lists } = temporary.store
      const list = await newList()
      await write(list, chunk([evm(1)]))
      const after = async (...edits: ListEdit[]) => {
        const result = await lists.edit(ours, list.name, edits)
        return result.status === 'edited' ? [result.changed, result.list.entryCount] : null
      }
      for (const [expected, ...edits] of [
        [[0, 1], edit(evm(1))],
        [[0, 1], edit(evm(9), false)],
        [[1, 2], edit(evm(2)), edit(evm(2))],
        [[0, 2], edit(evm(2), true, { memo: 'again' })],
        [[2, 0], edit(evm(1), false), edit(evm(2), false)],
        [[0, 0], edit(evm(1), false)],
        [[1, 1], edit(evm(1))],
      ] as const) {
        expect(await after(...edits)).toEqual([...expected])
      }
      // An entry that was added and removed, and is not in a base, leaves no edit.
      expect((await lists.readEdits(list.id)).map(({ key }) => addressOfKey(key))).toEqual([evm(1) as never])
    })

    test('are read and stored with few statements, which read no notes of other entries', async () => {
      const list = await newList()
      const chunks = Array.from({ length: 6 }, (_, at) =>
        chunk(
          Array.from({ length: 400 }, (__, index) => evm(400 * at + index)),
          { memo: `chunk ${at}` },
        ),
      )
      await write(list, ...chunks, chunk([SOLANA]))
      const texts: string[] = []
      const { database } = temporary.store
      const counted: Database = {
        ...database,
        transaction: (work, options) =>
          database.transaction((transaction) => {
            const count =
              <Result>(run: (text: string, parameters?: readonly SqlParameter[]) => Promise<Result>) =>
              (text: string, parameters?: readonly SqlParameter[]) => {
                texts.push(text)
                return run(text, parameters)
              }
            const { query, execute } = transaction
            return work({ ...transaction, query: count(query) as typeof query, execute: count(execute) })
          }, options),
      }
      const lists = createListTable(databaseScope(counted, temporary.clock))
      const result = await lists.edit(ours, list.name, [
        ...Array.from({ length: 1_000 }, (_, index) => edit(evm(index), false)),
        ...Array.from({ length: 999 }, (_, index) => edit(evm(2_000 + index), true, { memo: 'new' })),
        edit(SOLANA, false),
      ])
      // 1,001 entries are removed, and 599 of the added entries are new.
      expect(result).toMatchObject({ status: 'edited', changed: 1_600, list: { entryCount: 1_999 } })
      expect(texts.length).toBeLessThan(50)
      expect(texts.filter((text) => text.includes('notes'))).toEqual([])
      const found = await lists.findEntries(
        await reload(list),
        [evm(999), evm(1_000), evm(2_000), SOLANA].map(addressKey),
      )
      expect([...found.values()].map(({ key, memo }) => [addressOfKey(key), memo])).toEqual([
        [evm(1_000) as never, 'chunk 2'],
        [evm(2_000) as never, 'new'],
      ])
    })

    test('have a maximum number, beyond which the list must be replaced; a full list is reported first', async () => {
      const { lists } = temporary.store
      const list = await newList()
      const many = Array.from({ length: LIST_EDITS_MAX }, (_, index) => edit(evm(index + 1)))
      expect(await lists.edit(ours, list.name, many)).toMatchObject({ status: 'edited', changed: LIST_EDITS_MAX })
      expect(await lists.edit(ours, list.name, [edit(evm(0))])).toEqual({ status: 'edits-full' })
      await temporary.store.database.execute('UPDATE lists SET entry_count = ? WHERE id = ?', [
        LIST_ENTRIES_MAX,
        list.id,
      ])
      expect(await lists.edit(ours, list.name, [edit(evm(0))])).toEqual({ status: 'full' })
    })
  })

  describe('the lists of an organization', () => {
    const organization = async (slug: string): Promise<string> =>
      (await seedOrganization(temporary.store, slug)).organizationId

    test('have a maximum number, except for the allow and deny lists', async () => {
      const { lists } = temporary.store
      const owner = await organization('many-lists')
      const names = Array.from({ length: LISTS_PER_ORGANIZATION_MAX }, (_, index) => `many_${index}`)
      for (const name of names) await lists.create({ owner, name })
      await expect(lists.create({ owner, name: 'one_more' })).rejects.toMatchObject({
        code: 'CONFLICT',
        detail: 'an organization can have at most 100 lists: remove a list first',
      })
      for (const name of ['allow', 'deny']) await lists.create({ owner, name })
      await lists.create({ owner: await organization('few-lists'), name: 'one_more' })
      for (const name of ['allow', 'many_0', 'many_1']) await lists.remove(owner, name)
      await lists.create({ owner, name: 'one_more' })
    })

    test('have a maximum number of entries, for every way of adding them', async () => {
      const owner = await organization('many-entries')
      const scope = databaseScope(temporary.store.database, temporary.clock, { listEntriesMax: 10 })
      const lists = createListTable(scope)
      const bases = createListBaseTable(scope)
      const [first, second, shared] = [
        await lists.create({ owner, name: 'first' }),
        await lists.create({ owner, name: 'second' }),
        await newList(null),
      ]
      const upload = (list: AddressList, count: number) =>
        stage(list, chunk(Array.from({ length: count }, (_, index) => evm(index + 1))))
      const full = { code: 'CONFLICT', kind: 'list entries', maximum: 10 }
      expect(await activate(first, await upload(first, 7), bases)).toBe('activated')
      await lists.edit(owner, 'second', [edit(evm(1)), edit(evm(2)), edit(evm(3))])
      await expect(lists.edit(owner, 'second', [edit(evm(4))])).rejects.toMatchObject(full)
      await expect(activate(second, await upload(second, 4), bases)).rejects.toMatchObject(full)
      // One entry replaces another, and then there are fewer entries.
      await lists.edit(owner, 'second', [edit(evm(4)), edit(evm(3), false)])
      expect(await activate(first, await upload(first, 6), bases)).toBe('activated')
      expect(await activate(shared, await upload(shared, 11), bases)).toBe('activated')
      // The rejected base of four entries is still staged.
      const later = temporary.clock.unixSeconds() + 1_000
      await bases.keepStaged(await upload(first, 6), later)
      await expect(bases.keepStaged(await upload(first, 1), later)).rejects.toMatchObject({
        kind: 'list entries awaiting approval',
      })
      await bases.keepStaged(await upload(shared, 11), later)
    })
  })

  describe('a base', () => {
    test('has no effect until it is activated as a whole', async () => {
      const { lists, listBases } = temporary.store
      const list = await newList()
      await lists.edit(ours, list.name, [edit(evm(7))])
      const baseId = await stage(list, chunk([evm(1), evm(2)]))
      await listBases.append(baseId, [chunk([evm(3)]), chunk([SOLANA])])
      expect((await reload(list)).entryCount).toBe(1)
      expect(await activate(list, baseId)).toBe('activated')
      expect(await reload(list)).toMatchObject({ entryCount: 4, baseId })
      expect(await lists.readEdits(list.id)).toEqual([])
      expect(await listBases.find(baseId)).toEqual({ id: baseId, evmCount: 3, solanaCount: 1 })
      const [first] = await listBases.readKeys(baseId, 20, null, 1)
      expect(first).toEqual(new Uint8Array(chunk([evm(1), evm(2)]).keys))
      expect(await listBases.readKeys(baseId, 20, addressKey(evm(1)), 10)).toEqual([addressKey(evm(3))])
      expect(await listBases.readKeys(baseId, 20, addressKey(evm(3)), 10)).toEqual([])
      expect((await listBases.readChunks(baseId, 32, null, 10)).map(({ notes }) => notes)).toEqual([[NOTE]])
    })

    test('is not activated over a change that it does not include', async () => {
      const { lists, listBases } = temporary.store
      const list = await newList()
      const baseId = await stage(list)
      await lists.edit(ours, list.name, [edit(evm(1))])
      const activation = { ...activationOf(list, baseId), ifVersion: list.version }
      expect(await listBases.activate(activation)).toBe('changed-meanwhile')
      expect(await listBases.activate({ ...activation, listId: 'list_gone', ifVersion: null })).toBe('unknown')
      expect((await reload(list)).entryCount).toBe(1)
    })

    test('is swept a minute after its last use, or six hours after an upload that was not finished', async () => {
      const { lists, listBases, upkeep } = temporary.store
      const list = await newList()
      const old = await write(list, chunk([evm(1)]))
      const current = await write(list, chunk([evm(2)]))
      const abandoned = await stage(list, ...Array.from({ length: 40 }, (_, index) => chunk([evm(index + 1)])))
      await upkeep.sweep()
      expect(await listBases.readKeys(old, 20, null, 1)).toHaveLength(1)
      temporary.clock.advance(61)
      await upkeep.sweep()
      expect(await listBases.find(old)).toBeNull()
      expect(await listBases.readKeys(old, 20, null, 1)).toEqual([])
      expect(await listBases.find(abandoned)).not.toBeNull()
      temporary.clock.advance(6 * 3_600)
      await upkeep.sweep()
      expect(await listBases.find(abandoned)).toBeNull()
      expect(await listBases.find(current)).not.toBeNull()
      await lists.remove(ours, list.name)
      temporary.clock.advance(61)
      await upkeep.sweep()
      expect(await listBases.find(current)).toBeNull()
    })

    test('keeps the note of each entry', async () => {
      const { lists } = temporary.store
      const list = await newList()
      const notes: ListNote[] = [
        { memo: 'a "quoted", ünï memo', author: 'alice', addedAtSeconds: 1 },
        { memo: '', author: 'bob', addedAtSeconds: 1 },
        { memo: 'c', author: 'alice', addedAtSeconds: 2 },
      ]
      await write(list, { ...chunk([evm(1), evm(2), evm(3)]), notes })
      const current = await reload(list)
      for (const [index, note] of notes.entries()) {
        expect(await lists.findEntry(current, addressKey(evm(index + 1)))).toMatchObject(note)
      }
    })
  })

  describe('a source', () => {
    test('maintains its list, which people cannot change', async () => {
      const { lists, listSources } = temporary.store
      const list = await newList()
      expect(await listSources.set(list.id, settings)).toMatchObject({ ...settings, confirmedAtSeconds: null })
      expect(await reload(list)).toMatchObject({ keptBy: 'source', confirmedAtSeconds: null })
      expect(await lists.edit(ours, list.name, [edit(evm(1))])).toEqual({ status: 'kept-by-source' })
      const baseId = await stage(list)
      expect(await activate(list, baseId)).toBe('changed-meanwhile')
      expect([await listSources.remove(list.id), await listSources.remove(list.id)]).toEqual([true, false])
      expect(await activate(list, baseId)).toBe('activated')
    })

    test('is leased by one process when it is due, and by another after the lease expires', async () => {
      const { listSources, listBases } = temporary.store
      const { clock } = temporary
      const list = await newList(null)
      await listSources.set(list.id, settings)
      const taken = async (): Promise<ListSource> => {
        const source = await listSources.takeDue(600)
        if (source?.listId !== list.id) throw new Error('the source is not due')
        return source
      }
      await taken()
      expect(await listSources.takeDue(600)).toBeNull()
      clock.advance(601)
      const late = await taken()
      clock.advance(601)
      const again = await taken()
      // The result of an expired lease is discarded.
      await listSources.fail(late, 'late', 0)
      expect(await listSources.confirm(late, 0)).toBe(false)
      expect(await listSources.find(list.id)).toMatchObject({ failure: null, confirmedAtSeconds: null })
      await listSources.fail(again, 'no connection', clock.unixSeconds() + 300)
      expect(await listSources.takeDue(600)).toBeNull()
      clock.advance(301)
      const retried = await taken()
      expect(retried).toMatchObject({ failure: 'no connection', confirmedAtSeconds: null })
      const activation = activationOf(list, await stage(list, chunk([evm(1)])))
      const now = clock.unixSeconds()
      const file = { fileSha256: 'ab', fileBytes: 43, skippedCount: 2 }
      const activateWith = (token: string) =>
        listBases.activate({ ...activation, confirmation: { ...file, nextDueAtSeconds: now + 3_600, token } })
      expect(await activateWith(late.token)).toBe('changed-meanwhile')
      expect(await activateWith(retried.token)).toBe('activated')
      const times = { attemptedAtSeconds: now, confirmedAtSeconds: now, dueAtSeconds: now + 3_600 }
      expect(await listSources.find(list.id)).toMatchObject({ failure: null, ...file, ...times })
      expect(await reload(list)).toMatchObject({ entryCount: 1, confirmedAtSeconds: now })
      clock.advance(3_601)
      const due = await taken()
      expect(due.fileSha256).toBe('ab')
      expect(await listSources.confirm(due, clock.unixSeconds() + 3_600)).toBe(true)
      expect(await reload(list)).toMatchObject({ entryCount: 1, confirmedAtSeconds: clock.unixSeconds() })
      await listSources.remove(list.id)
    })

    test('of sanctioned persons announces each change to its shared list', async () => {
      const { screeningLists, lists, database } = temporary.store
      const source = { name: 'our-people', format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 } as const
      await screeningLists.set(source)
      const list = await lists.ofScreening('our-people', true)
      if (list === null) throw new Error('the shared list is missing')
      expect(list).toMatchObject({ keptBy: 'screening', isOfSanctioned: true, confirmedAtSeconds: null })
      const version = { bytes: new Uint8Array(3), sha256: 'ab', entries: 1, names: 1 }
      const read = { token: null, validators: {}, nextDueAtSeconds: 9e9 }
      const announced = { topic: 'list' as const, subjectId: list.id, organizationId: null }
      const confirm = async () => {
        const there = await screeningLists.find('our-people')
        await screeningLists.confirm({ name: 'our-people', token: there?.token ?? '' }, 9e9)
      }
      for (const change of [
        () => screeningLists.replace('our-people', version, read),
        () => screeningLists.replace('our-people', version, read),
        confirm,
        () => screeningLists.set(source),
        () => screeningLists.remove('our-people'),
      ]) {
        const before = await readNewest(database)
        await change()
        expect(await changesAfter(before)).toEqual([announced])
      }
      const theirs = await lists.create({ owner: ours, name: 'our_own_people' })
      expect(await reload(theirs)).toMatchObject({ keptBy: 'people', isOfSanctioned: false })
    })
  })
})
