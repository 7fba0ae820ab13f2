// Lists in memory: complete after each change, and unusable while a change cannot be read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addressKey } from '../../../src/domain/address-key.ts'
import { DependencyUnavailableError } from '../../../src/domain/errors.ts'
import type { ListImage } from '../../../src/domain/list-image.ts'
import { createServedLists, type ServedListsDependencies } from '../../../src/facts/lists/serve-lists.ts'
import { replaceList, rewriteList } from '../../../src/facts/lists/write-list.ts'
import { createLists } from '../../../workers/signing/worker-lists.ts'
import { createManualClock, createManualTimers } from '../../server/manual-clock.ts'
import { seedOrganization } from '../../store/temporary-store.ts'
import { until } from '../../support/until.ts'
import { chunksOf, evm, openStoredLists, SOLANA, type StoredLists } from './stored-lists.ts'

let stored: StoredLists
beforeAll(async () => {
  stored = await openStoredLists()
})
afterAll(() => stored.remove())

const serve = (overrides: Partial<ServedListsDependencies> = {}) => {
  const { store } = stored
  const clock = createManualClock()
  const worker = createLists({ unixMs: () => clock.unixSeconds() * 1000 })
  const timers = createManualTimers()
  const published: ListImage[] = []
  const errors: unknown[] = []
  const served = createServedLists({
    lists: store.lists,
    bases: store.listBases,
    publish: (images, removedIds) => {
      published.push(...images)
      worker.update(images, removedIds)
    },
    clock,
    onError: (error) => errors.push(error),
    after: timers.after,
    wait: async (milliseconds) => clock.advance(milliseconds),
    ...overrides,
  })
  return { served, clock, timers, worker, published, errors, reader: () => worker.of(stored.organizationId) }
}

describe('served lists', () => {
  test('are complete once loaded', async () => {
    const { contents, newList, add, take, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([...Array.from({ length: 9_000 }, (_, index) => evm(index)), SOLANA]))
    await add(list, evm(10_000))
    await take(list, evm(5))
    const shared = await store.lists.create({ owner: null, name: 'shared_list' })
    const { served, worker, reader } = serve()
    await served.load()
    const contained = (...addresses: string[]) => addresses.map((address) => reader().contains(list.name, address))
    expect(contained(evm(0), evm(8_999), evm(10_000), SOLANA)).toEqual([true, true, true, true])
    expect(contained(evm(5), evm(9_000))).toEqual([false, false])
    expect(worker.of('another').contains(list.name, evm(0))).toBe(false)
    expect(worker.of('another').ageSeconds(shared.name)).toBe(0)
    expect(served.all().find(({ name }) => name === list.name)).toEqual({
      organizationId: stored.organizationId,
      name: list.name,
      entryCount: 9_001,
      keptBy: 'people',
      ageSeconds: null,
      current: true,
    })
  })

  test('follow each change: entries, whole lists, sources, removal', async () => {
    const { contents, newList, add, take, store, organizationId } = stored
    const { served, reader, published } = serve()
    await served.load()
    const list = await newList()
    const changed = async (): Promise<void> => {
      served.changed(list.id, stored.organizationId)
      await served.settled()
    }
    await add(list, evm(1))
    await changed()
    expect(reader().contains(list.name, evm(1))).toBe(true)
    await replaceList(contents, list.id, chunksOf([evm(2)]))
    await changed()
    expect([reader().contains(list.name, evm(1)), reader().contains(list.name, evm(2))]).toEqual([false, true])
    await take(list, evm(2))
    await add(list, evm(3))
    await changed()
    // A single change does not copy the list.
    const images = published.filter(({ id }) => id === list.id)
    expect(images.at(-1)?.entries).toBe(images.at(-2)?.entries as SharedArrayBuffer)
    await rewriteList(contents, list.id)
    await changed()
    expect([reader().contains(list.name, evm(2)), reader().contains(list.name, evm(3))]).toEqual([false, true])
    const options = { format: 'text', reach: 'public', skipsBadLines: false, intervalSeconds: 60 } as const
    await store.listSources.set(list.id, { location: '/x', ...options })
    await changed()
    expect(reader().ageSeconds(list.name)).toBeNull()
    await store.lists.remove(organizationId, list.name)
    await changed()
    expect(reader().ageSeconds(list.name)).toBeNull()
    expect(reader().contains(list.name, evm(3))).toBe(false)
    expect(served.all().map(({ name }) => name)).not.toContain(list.name)
  })

  test('detect missed changes', async () => {
    const { newList, add, store, organizationId } = stored
    const kept = await newList()
    const gone = await newList()
    const { served, reader } = serve()
    await served.load()
    const fresh = await newList()
    await add(kept, evm(1))
    await add(fresh, evm(2))
    await store.lists.remove(organizationId, gone.name)
    served.changedAll()
    await served.settled()
    expect(reader().contains(kept.name, evm(1))).toBe(true)
    expect(reader().contains(fresh.name, evm(2))).toBe(true)
    expect(reader().ageSeconds(gone.name)).toBeNull()
  })

  test('are unusable two seconds after an unreadable change, until it can be read', async () => {
    const { contents, newList, add, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([evm(3)]))
    await add(list, evm(1))
    const fresh = await newList()
    await add(fresh, evm(2))
    let isBroken = false
    let attempts = 0
    let checks = 0
    const repairAfter = 12
    const { served, reader, clock, errors } = serve({
      lists: {
        ...store.lists,
        listAll: async () => (await store.lists.listAll()).filter(({ id }) => id !== fresh.id),
        readEditKeys: (listId) => {
          if (!isBroken) return store.lists.readEditKeys(listId)
          attempts += 1
          if (attempts === repairAfter) isBroken = false
          return Promise.reject(new Error('the store is locked'))
        },
      },
      wait: async (milliseconds) => {
        const behindMs = clock.monotonicMs()
        clock.advance(milliseconds)
        if (behindMs <= 2_000) {
          // The earlier content is used within the time limit of a change.
          expect(reader().contains(list.name, evm(1))).toBe(true)
          expect(served.behindSinceMs()).toBe(0)
          return
        }
        checks += 1
        expect(served.behindSinceMs()).toBeNull()
        expect(() => reader().contains(list.name, evm(1))).toThrow(DependencyUnavailableError)
        // A list that was never read does not count as missing.
        expect(() => reader().contains(fresh.name, evm(2))).toThrow(DependencyUnavailableError)
        expect(served.all().filter(({ current }) => !current)).toHaveLength(2)
      },
    })
    await served.load()
    isBroken = true
    served.changed(list.id, stored.organizationId)
    served.changed(fresh.id, stored.organizationId)
    await served.settled()
    expect(errors).toHaveLength(repairAfter)
    expect(checks).toBeGreaterThan(0)
    expect(reader().contains(list.name, evm(1))).toBe(true)
    // The base in memory is unchanged.
    expect(reader().contains(list.name, evm(3))).toBe(true)
    expect(reader().contains(fresh.name, evm(2))).toBe(true)
  })

  test('are outdated from the notification of a change until its publication', async () => {
    const { newList, add, store } = stored
    const list = await newList()
    const seen: (number | null)[] = []
    const { served, clock, reader } = serve({
      lists: {
        ...store.lists,
        listAll: async () => {
          seen.push(served.behindSinceMs())
          return store.lists.listAll()
        },
        readEditKeys: async (listId) => {
          seen.push(served.behindSinceMs())
          return store.lists.readEditKeys(listId)
        },
      },
    })
    await served.load()
    for (const notify of [() => served.changed(list.id, stored.organizationId), served.changedAll]) {
      clock.advance(1_000)
      seen.length = 0
      await add(list, evm(clock.monotonicMs()))
      notify()
      expect(served.behindSinceMs()).toBe(clock.monotonicMs())
      await served.settled()
      expect(new Set(seen)).toEqual(new Set([clock.monotonicMs()]))
      expect(served.behindSinceMs()).toBeNull()
      expect(reader().contains(list.name, evm(clock.monotonicMs()))).toBe(true)
    }
  })

  test('are read again if they change during a read', async () => {
    const { newList, add, store, organizationId } = stored
    const list = await newList()
    let finds = 0
    const { served, reader } = serve({
      lists: {
        ...store.lists,
        findById: async (listId) => {
          const row = await store.lists.findById(listId)
          finds += 1
          // A change after the last check of the version and before the publication.
          if (finds === 2) {
            await add(list, evm(1))
            served.changed(list.id, organizationId)
          }
          return row
        },
      },
    })
    served.changed(list.id, organizationId)
    await served.settled()
    expect(reader().contains(list.name, evm(1))).toBe(true)
    expect(served.behindSinceMs()).toBeNull()
  })

  describe('of several organizations', () => {
    /**
     * Lists of our organization, whose reads wait for `release`, and an organization whose lists are read without
     * delay.
     */
    const serveWhileOursWait = async () => {
      const { newList, add, store } = stored
      const theirs = (await seedOrganization(store, `theirs-${crypto.randomUUID().slice(0, 8)}`)).organizationId
      const ours = [await newList(), await newList()]
      const ids = new Set(ours.map(({ id }) => id))
      const gate = Promise.withResolvers<void>()
      let isWaiting = false
      const parts = serve({
        lists: {
          ...store.lists,
          readEditKeys: async (listId) => {
            if (isWaiting && ids.has(listId)) await gate.promise
            return store.lists.readEditKeys(listId)
          },
        },
      })
      await parts.served.load()
      isWaiting = true
      const fresh = await newList()
      ids.add(fresh.id)
      for (const list of [...ours, fresh]) {
        await add(list, evm(1))
        parts.served.changed(list.id, stored.organizationId)
      }
      return { ...parts, theirs, ours, fresh, release: gate.resolve }
    }

    test('do not wait for each other', async () => {
      const { served, worker, theirs, published, release } = await serveWhileOursWait()
      const deny = await stored.store.lists.create({ owner: theirs, name: 'deny' })
      const entry = { key: addressKey(evm(7)), memo: '', author: 'alice', addedAtSeconds: 1, present: true }
      await stored.store.lists.edit(theirs, 'deny', [entry])
      served.changed(deny.id, theirs)
      await until(async () => published.some(({ id }) => id === deny.id))
      expect(worker.of(theirs).contains('deny', evm(7))).toBe(true)
      release()
      await served.settled()
    })

    test('are unusable after two seconds if their change waits or is still being read', async () => {
      const { served, clock, timers, reader, ours, fresh, release } = await serveWhileOursWait()
      const all = [...ours, fresh]
      const reportedMs = clock.monotonicMs()
      clock.advance(1_999)
      expect(timers.delayMs()).toBe(2_000)
      expect(served.behindSinceMs()).toBe(reportedMs)
      expect(reader().contains(ours[0]?.name ?? '', evm(1))).toBe(false)
      clock.advance(1)
      timers.fire()
      await until(async () => served.behindSinceMs() === null)
      for (const { name } of all) expect(() => reader().contains(name, evm(1))).toThrow(DependencyUnavailableError)
      release()
      await served.settled()
      for (const { name } of all) expect(reader().contains(name, evm(1))).toBe(true)
    })
  })

  test('are unusable after two seconds if any list may have changed and the rows are unreadable', async () => {
    const { newList, add, store } = stored
    const list = await newList()
    let isBroken = false
    const { served, clock, timers, reader } = serve({
      lists: {
        ...store.lists,
        listAll: () => (isBroken ? Promise.reject(new Error('the store is locked')) : store.lists.listAll()),
      },
      wait: async (milliseconds) => {
        clock.advance(milliseconds)
        if (clock.monotonicMs() < 5_000) return
        expect(() => reader().contains(list.name, evm(1))).toThrow(DependencyUnavailableError)
        isBroken = false
      },
    })
    await served.load()
    isBroken = true
    await add(list, evm(1))
    served.changedAll()
    expect(timers.delayMs()).toBe(2_000)
    await served.settled()
    expect(isBroken).toBe(false)
    expect(reader().contains(list.name, evm(1))).toBe(true)
  })

  test('never combine the base of one version with the edits of another', async () => {
    const { contents, newList, add, store } = stored
    const list = await newList()
    await add(list, evm(1))
    let isRewritten = false
    const { served, reader } = serve({
      lists: {
        ...store.lists,
        // The edits become part of a new base after the list was read.
        readEditKeys: async (listId) => {
          if (!isRewritten) {
            isRewritten = true
            await rewriteList(contents, list.id)
          }
          return store.lists.readEditKeys(listId)
        },
      },
    })
    await served.load()
    expect(reader().contains(list.name, evm(1))).toBe(true)
  })

  test('are unusable if their stored form is damaged, and the service starts', async () => {
    const { newList, contents, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([evm(1), evm(2)]))
    const { served, reader, errors } = serve({
      lists: { ...store.lists, listAll: async () => (await store.lists.listAll()).filter(({ id }) => id === list.id) },
      bases: {
        ...store.listBases,
        readKeys: async (...call) => (await store.listBases.readKeys(...call)).map((keys) => keys.toReversed()),
      },
    })
    await served.load()
    expect(errors).toHaveLength(1)
    expect(() => reader().contains(list.name, evm(1))).toThrow(DependencyUnavailableError)
    served.stop()
  })

  test('prevent the start if the store cannot enumerate them', async () => {
    const listAll = () => Promise.reject(new Error('the store is locked'))
    const { served } = serve({ lists: { ...stored.store.lists, listAll } })
    await expect(served.load()).rejects.toThrow('the store is locked')
  })
})
