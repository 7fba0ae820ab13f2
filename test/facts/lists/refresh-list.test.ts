// Sources: what is good becomes the list, what is bad leaves it, and both are told.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FetchFailedError } from '../../../src/facts/guarded-fetch.ts'
import {
  createListRefresher,
  type RefreshDependencies,
  type RefreshResult,
  refreshList,
} from '../../../src/facts/lists/refresh-list.ts'
import { KEEPER_CHANGED } from '../../../src/facts/lists/write-list.ts'
import { nextTurn } from '../../../src/lib/time.ts'
import { seedOrganization, temporaryFolder } from '../../store/temporary-store.ts'
import { evm, openStoredLists, SOLANA, type StoredLists } from './stored-lists.ts'

let stored: StoredLists
const folder = temporaryFolder()
beforeAll(async () => {
  stored = await openStoredLists()
})
afterAll(async () => {
  await stored.remove()
  folder.remove()
})

const SETTINGS = {
  location: '/unused',
  format: 'text',
  reach: 'public',
  skipsBadLines: false,
  intervalSeconds: 3_600,
} as const

const dependencies = (overrides: Partial<RefreshDependencies> = {}): RefreshDependencies => ({
  contents: stored.contents,
  sources: stored.store.listSources,
  clock: stored.clock,
  ...overrides,
})

const opening = (text: string | Error): Partial<RefreshDependencies> => ({
  open: async function* () {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  },
})

const addressesOf = async (list: Parameters<StoredLists['entries']>[0]): Promise<string[]> =>
  (await stored.entries(list)).map(([address]) => address)

describe('a list’s source', () => {
  test('becomes its content, and the same file again only confirms it', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    const path = join(folder.path, 'list.txt')
    writeFileSync(path, `${evm(1)}\n${SOLANA}\n`)
    await store.listSources.set(list.id, { ...SETTINGS, location: path })
    const refresh = async (): Promise<RefreshResult> => {
      const source = await store.listSources.find(list.id)
      if (source === null) throw new Error('no source')
      return refreshList(dependencies(), source)
    }
    expect(await refresh()).toMatchObject({ status: 'loaded', entries: 2 })
    expect(await addressesOf(list)).toEqual([evm(1), SOLANA])
    const loaded = await store.lists.findById(list.id)
    clock.advance(100)
    expect(await refresh()).toMatchObject({ status: 'confirmed', entries: 2 })
    const confirmed = await store.lists.findById(list.id)
    expect(confirmed).toMatchObject({ baseId: loaded?.baseId as string, confirmedAtSeconds: clock.unixSeconds() })
    writeFileSync(path, `${evm(2)}\n`)
    expect(await refresh()).toMatchObject({ status: 'loaded', entries: 1 })
    expect(await addressesOf(list)).toEqual([evm(2)])
    expect(await store.listSources.find(list.id)).toMatchObject({
      dueAtSeconds: clock.unixSeconds() + 3_600,
      failure: null,
    })
  })

  test('that is bad leaves the last good content, and says why in one line', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    await refreshList(dependencies(opening(`${evm(1)}\n`)), source)
    const confirmedAt = clock.unixSeconds()
    const failureOf = async (text: string | Error): Promise<string> => {
      clock.advance(10)
      const result = await refreshList(dependencies(opening(text)), source)
      expect(await addressesOf(list)).toEqual([evm(1)])
      const kept = await store.listSources.find(list.id)
      expect(kept).toMatchObject({ confirmedAtSeconds: confirmedAt, dueAtSeconds: clock.unixSeconds() + 300 })
      if (result.status !== 'failed') throw new Error('it was taken')
      expect(kept?.failure).toBe(result.failure)
      return result.failure
    }
    expect(await failureOf(`${evm(2)}\nnonsense\n`)).toBe('line 2: not an EVM or Solana address')
    expect(await failureOf(`x\ny\n${evm(2)}\n`)).toEndWith(
      'line 1: not an EVM or Solana address, and 1 more invalid line',
    )
    expect(await failureOf(`x\ny\n${evm(2)}\nz\n`)).toBe(
      'line 1: not an EVM or Solana address, and 2 more invalid lines',
    )
    expect(await failureOf('')).toBe('the file contains no EVM or Solana address')
    expect(await failureOf('# maintenance\n')).toBe('the file contains no EVM or Solana address')
    expect(await failureOf(new FetchFailedError('the server responded with status 500'))).toBe(
      'the server responded with status 500',
    )
    // Of an error that is not ours, only the class is told.
    expect(await failureOf(new TypeError('secret path'))).toBe('TypeError')
  })

  test('that may be truncated leaves the content', async () => {
    const { store, newList } = stored
    const body = `${evm(1)}\n`
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`)
        },
      },
    })
    try {
      const list = await newList()
      const location = `http://127.0.0.1:${server.port}/list`
      const failureOf = async (format: 'text' | 'csv' | 'sdn-advanced'): Promise<string | null> => {
        const source = await store.listSources.set(list.id, { ...SETTINGS, location, format, reach: 'loopback' })
        const result = await refreshList(dependencies(), source)
        return result.status === 'failed' ? result.failure : null
      }
      const noLength = 'the server does not send the length of the file, so a truncated file would look complete'
      expect(await failureOf('text')).toBe(noLength)
      expect(await failureOf('csv')).toBe(noLength)
      // XML has an end of its own, so its length is not required.
      expect(await failureOf('sdn-advanced')).toBe('unexpected end of the document')
      expect(await addressesOf(list)).toEqual([])
    } finally {
      server.stop(true)
    }
  })

  test('that ends because this process stops leaves the content', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    const stopping = new AbortController()
    const open = async function* () {
      yield Buffer.from(`${evm(1)}\n`)
      stopping.abort()
    }
    expect(await refreshList(dependencies({ open, signal: stopping.signal }), source)).toMatchObject({
      status: 'failed',
      failure: 'reading was interrupted',
    })
    expect(await addressesOf(list)).toEqual([])
  })

  test('may be told to skip bad lines', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, { ...SETTINGS, skipsBadLines: true })
    const text = `${evm(1)}\nnonsense\nTR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t\n`
    const result = await refreshList(dependencies(opening(text)), source)
    expect(result).toMatchObject({ status: 'loaded', entries: 1, badLineCount: 1 })
    expect(await store.listSources.find(list.id)).toMatchObject({ skippedCount: 2 })
  })

  test('that is missing is said to be', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, { ...SETTINGS, location: join(folder.path, 'missing.txt') })
    expect(await refreshList(dependencies(), source)).toMatchObject({ failure: 'the file could not be read (ENOENT)' })
    const url = await store.listSources.set(list.id, { ...SETTINGS, location: 'https://127.0.0.1/list.txt' })
    expect(await refreshList(dependencies(), url)).toMatchObject({
      failure: 'resolves to an address that is not allowed',
    })
  })

  test('that was taken away while it was read changes nothing', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    const result = await refreshList(
      dependencies({
        open: async function* () {
          await store.listSources.remove(list.id)
          yield Buffer.from(`${evm(1)}\n`)
        },
      }),
      source,
    )
    expect(result).toMatchObject({ status: 'failed', failure: KEEPER_CHANGED })
    expect(await addressesOf(list)).toEqual([])
  })

  // A reading of the old source, held until the source has been changed or taken again.
  const interleavings = [
    ['changed', 'to another file', (id: string) => stored.store.listSources.set(id, { ...SETTINGS, location: '/new' })],
    ['taken again', 'by hand', (id: string) => stored.store.listSources.take(id, 600)],
  ] as const
  for (const [what, how, change] of interleavings) {
    for (const [outcome, text] of [
      ['content', `${evm(1)}\n`],
      ['unchanged content', `${evm(9)}\n`],
      ['failure', 'nonsense\n'],
    ] as const) {
      test(`that is ${what} (${how}) while it is read is not given the old reading’s ${outcome}`, async () => {
        const { store, clock, newList } = stored
        const list = await newList()
        await refreshList(dependencies(opening(`${evm(9)}\n`)), await store.listSources.set(list.id, SETTINGS))
        clock.advance(100_000)
        const old = await store.listSources.take(list.id, 600)
        if (old === null) throw new Error('no source')
        const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const reading = refreshList(
          dependencies({
            open: async function* () {
              begun.resolve()
              await gate.promise
              yield Buffer.from(text)
            },
          }),
          old,
        )
        await begun.promise
        await change(list.id)
        const before = await store.listSources.find(list.id)
        gate.resolve()
        expect((await reading).status).toBe('failed')
        // Neither the entries nor a word of the old reading: not fresh, not failed, as due as it was.
        expect(await addressesOf(list)).toEqual([evm(9)])
        expect(await store.listSources.find(list.id)).toEqual(before)
      })
    }
  }
})

describe('the schedule', () => {
  test('reads what is due, each once, and nothing before its time', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    const read: string[] = []
    const results: RefreshResult[] = []
    const refresher = createListRefresher({
      ...dependencies({
        open: async function* ({ location }) {
          read.push(location)
          yield Buffer.from(`${evm(read.length)}\n`)
        },
      }),
      onResult: (result) => results.push(result),
      onError: (error) => {
        throw error
      },
    })
    await refresher.refreshDue()
    read.length = 0
    results.length = 0
    for (const location of ['/a', '/b']) await store.listSources.set((await newList()).id, { ...SETTINGS, location })
    await Promise.all([refresher.refreshDue(), refresher.refreshDue()])
    expect(read.sort()).toEqual(['/a', '/b'])
    expect(results.map(({ status }) => status)).toEqual(['loaded', 'loaded'])
    await refresher.refreshDue()
    expect(read).toHaveLength(2)
    clock.advance(3_600)
    await refresher.refreshDue()
    expect(read.filter((location) => location === '/a')).toHaveLength(2)
    await refresher.stop()
  })

  test('reads the sources of other organizations while one waits for a slow server', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    const other = await seedOrganization(store, 'theirs')
    const slow = Promise.withResolvers<void>()
    const waiting = Promise.withResolvers<void>()
    const read: string[] = []
    const refresher = createListRefresher({
      ...dependencies({
        open: async function* ({ location }) {
          if (location === '/slow') {
            waiting.resolve()
            await slow.promise
          }
          read.push(location)
          yield Buffer.from(`${evm(read.length)}\n`)
        },
      }),
      onResult: () => undefined,
      onError: (error) => {
        throw error
      },
    })
    await refresher.refreshDue()
    read.length = 0
    await store.listSources.set((await newList()).id, { ...SETTINGS, location: '/slow' })
    const first = refresher.refreshDue()
    await waiting.promise
    await store.listSources.set((await newList()).id, { ...SETTINGS, location: '/ours' })
    const theirs = await store.lists.create({ owner: other.organizationId, name: 'theirs' })
    await store.listSources.set(theirs.id, { ...SETTINGS, location: '/theirs' })
    const shared = await store.lists.create({ owner: null, name: 'shared' })
    await store.listSources.set(shared.id, { ...SETTINGS, location: '/shared' })
    const second = refresher.refreshDue()
    const confirmed = async (id: string) => (await store.listSources.find(id))?.confirmedAtSeconds
    while ((await confirmed(theirs.id)) === null || (await confirmed(shared.id)) === null) await nextTurn()
    expect(read.toSorted()).toEqual(['/shared', '/theirs'])
    slow.resolve()
    await Promise.all([first, second])
    expect(read.slice(2)).toEqual(['/slow', '/ours'])
    await refresher.stop()
  })

  test('ends the reads of a source that was changed, so that they occupy no reader', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    let reading = 0
    let ours = 0
    const refresher = createListRefresher({
      ...dependencies({
        open: async function* ({ location }, signal) {
          if (!location.startsWith('/endless')) return yield Buffer.from(`${evm(1)}\n`)
          reading += 1
          ours += 1
          await new Promise((resolve) => signal?.addEventListener('abort', resolve))
          reading -= 1
        },
      }),
      onResult: () => undefined,
      onError: () => undefined,
    })
    await refresher.refreshDue()
    const list = await newList()
    const refreshing: Promise<void>[] = []
    for (let change = 1; change <= 6; change++) {
      await store.listSources.set(list.id, { ...SETTINGS, location: `/endless${change}` })
      refreshing.push(refresher.refreshDue())
      while (ours < change) await nextTurn()
      expect(reading).toBe(1)
    }
    await refresher.stop()
    await Promise.all(refreshing)
    await store.listSources.remove(list.id)
  })

  test('stops at once, and leaves an interrupted source due', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    await store.listSources.set(list.id, { ...SETTINGS, location: '/endless' })
    const begun = Promise.withResolvers<void>()
    const refresher = createListRefresher({
      ...dependencies({
        open: async function* (source, signal) {
          if (source.location === '/endless') {
            begun.resolve()
            await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
          }
          yield Buffer.from(`${evm(1)}\n`)
        },
      }),
      onResult: () => undefined,
      onError: () => undefined,
    })
    const refreshing = refresher.refreshDue()
    await begun.promise
    await refresher.stop()
    await refreshing
    expect(await store.listSources.find(list.id)).toMatchObject({
      failure: 'reading was interrupted',
      dueAtSeconds: clock.unixSeconds(),
    })
    await store.listSources.remove(list.id)
  })
})
