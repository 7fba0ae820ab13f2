// The lists in memory: what is changed is there, whole, and what cannot be read is known to be unread.
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
  test('are all there once they are loaded', async () => {
    const { contents, newList, add, take, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([...Array.from({ length: 9_000 }, (_, index) => evm(index)), SOLANA]))
    await add(list, evm(10_000))
    await take(list, evm(5))
    const shared = await store.lists.create({ owner: null, name: 'shared_list' })
    const { served, worker, reader } = serve()
    await served.load()
    expect([evm(0), evm(8_999), evm(10_000), SOLANA].map((address) => reader().contains(list.name, address))).toEqual(
      new Array(4).fill(true),
    )
    expect([evm(5), evm(9_000)].map((address) => reader().contains(list.name, address))).toEqual([false, false])
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

  test('follow every change: entries, whole lists, sources, removal', async () => {
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
    // A single change costs no second copy of the list.
    const images = published.filter(({ id }) => id === list.id)
    expect(images.at(-1)?.entries).toBe(images.at(-2)?.entries as SharedArrayBuffer)
    await rewriteList(contents, list.id)
    await changed()
    expect([reader().contains(list.name, evm(2)), reader().contains(list.name, evm(3))]).toEqual([false, true])
    const settings = {
      location: '/x',
      format: 'text',
      reach: 'public',
      skipsBadLines: false,
      intervalSeconds: 60,
    } as const
    await store.listSources.set(list.id, settings)
    await changed()
    expect(reader().ageSeconds(list.name)).toBeNull()
    await store.lists.remove(organizationId, list.name)
    await changed()
    expect(reader().ageSeconds(list.name)).toBeNull()
    expect(reader().contains(list.name, evm(3))).toBe(false)
    expect(served.all().map(({ name }) => name)).not.toContain(list.name)
  })

  test('find out by themselves what changed when changes were missed', async () => {
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

  test('that can’t be read decide nothing after two seconds, and again once they can', async () => {
    const { contents, newList, add, store } = stored
    const list = await newList()
    await replaceList(contents, list.id, chunksOf([evm(3)]))
    await add(list, evm(1))
    const fresh = await newList()
    await add(fresh, evm(2))
    let broken = false
    let attempts = 0
    let checks = 0
    const repairAfter = 12
    const { served, reader, clock, errors } = serve({
      lists: {
        ...store.lists,
        listAll: async () => (await store.lists.listAll()).filter(({ id }) => id !== fresh.id),
        readEditKeys: (listId) => {
          if (!broken) return store.lists.readEditKeys(listId)
          attempts += 1
          if (attempts === repairAfter) broken = false
          return Promise.reject(new Error('the store is locked'))
        },
      },
      wait: async (milliseconds) => {
        const behindMs = clock.monotonicMs()
        clock.advance(milliseconds)
        if (behindMs <= 2_000) {
          // Within the time that a change may take, what was there still counts.
          expect(reader().contains(list.name, evm(1))).toBe(true)
          expect(served.behindSinceMs()).toBe(0)
          return
        }
        checks += 1
        expect(served.behindSinceMs()).toBeNull()
        expect(() => reader().contains(list.name, evm(1))).toThrow(DependencyUnavailableError)
        // One that was never read is not taken for one that does not exist.
        expect(() => reader().contains(fresh.name, evm(2))).toThrow(DependencyUnavailableError)
        expect(served.all().filter(({ current }) => !current)).toHaveLength(2)
      },
    })
    await served.load()
    broken = true
    served.changed(list.id, stored.organizationId)
    served.changed(fresh.id, stored.organizationId)
    await served.settled()
    expect(errors).toHaveLength(repairAfter)
    expect(checks).toBeGreaterThan(0)
    expect(reader().contains(list.name, evm(1))).toBe(true)
    // Its base has not changed, and is still in memory.
    expect(reader().contains(list.name, evm(3))).toBe(true)
    expect(reader().contains(fresh.name, evm(2))).toBe(true)
  })

  test('are behind from the report of a change until it is published', async () => {
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
    for (const report of [() => served.changed(list.id, stored.organizationId), served.changedAll]) {
      clock.advance(1_000)
      seen.length = 0
      await add(list, evm(clock.monotonicMs()))
      report()
      expect(served.behindSinceMs()).toBe(clock.monotonicMs())
      await served.settled()
      expect(new Set(seen)).toEqual(new Set([clock.monotonicMs()]))
      expect(served.behindSinceMs()).toBeNull()
      expect(reader().contains(list.name, evm(clock.monotonicMs()))).toBe(true)
    }
  })

  test('are read again if they change while they are read', async () => {
    const { newList, add, store, organizationId } = stored
    const list = await newList()
    let finds = 0
    const { served, reader } = serve({
      lists: {
        ...store.lists,
        findById: async (listId) => {
          const row = await store.lists.findById(listId)
          finds += 1
          // After the last check of the version, and before the list is published.
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
    /** Readings of our lists wait until `release`; theirs do not. */
    const serveWhileOursWait = async () => {
      const { newList, add, store } = stored
      const theirs = (await seedOrganization(store, `theirs-${crypto.randomUUID().slice(0, 8)}`)).organizationId
      const ours = [await newList(), await newList()]
      const names = new Set(ours.map(({ id }) => id))
      const gate = Promise.withResolvers<void>()
      let isWaiting = false
      const parts = serve({
        lists: {
          ...store.lists,
          readEditKeys: async (listId) => {
            if (isWaiting && names.has(listId)) await gate.promise
            return store.lists.readEditKeys(listId)
          },
        },
      })
      await parts.served.load()
      isWaiting = true
      const fresh = await newList()
      names.add(fresh.id)
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

    test('decide nothing after two seconds if their change still waits, or is still being read', async () => {
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

  test('decide nothing after two seconds if any may have changed and their rows cannot be read', async () => {
    const { newList, add, store } = stored
    const list = await newList()
    let broken = false
    const { served, clock, timers, reader } = serve({
      lists: {
        ...store.lists,
        listAll: () => (broken ? Promise.reject(new Error('the store is locked')) : store.lists.listAll()),
      },
      wait: async (milliseconds) => {
        clock.advance(milliseconds)
        if (clock.monotonicMs() < 5_000) return
        expect(() => reader().contains(list.name, evm(1))).toThrow(DependencyUnavailableError)
        broken = false
      },
    })
    await served.load()
    broken = true
    await add(list, evm(1))
    served.changedAll()
    expect(timers.delayMs()).toBe(2_000)
    await served.settled()
    expect(broken).toBe(false)
    expect(reader().contains(list.name, evm(1))).toBe(true)
  })

  test('never mix the entries of one version with the changes of another', async () => {
    const { contents, newList, add, store } = stored
    const list = await newList()
    await add(list, evm(1))
    let interrupted = false
    const { served, reader } = serve({
      lists: {
        ...store.lists,
        // Between the list and its single changes, the changes become part of its base.
        readEditKeys: async (listId) => {
          if (!interrupted) {
            interrupted = true
            await rewriteList(contents, list.id)
          }
          return store.lists.readEditKeys(listId)
        },
      },
    })
    await served.load()
    expect(reader().contains(list.name, evm(1))).toBe(true)
  })

  test('whose stored form is damaged let the service start, and decide nothing', async () => {
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

  test('that the store can’t list at the start stop the start', async () => {
    const { served } = serve({
      lists: { ...stored.store.lists, listAll: () => Promise.reject(new Error('the store is locked')) },
    })
    await expect(served.load()).rejects.toThrow('the store is locked')
  })
})
