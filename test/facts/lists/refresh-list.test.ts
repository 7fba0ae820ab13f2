// Refreshes of lists from their sources: good files replace the list, bad files do not, and both are reported.
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

const dependencies = (overrides: Partial<RefreshDependencies> = {}): RefreshDependencies => {
  return { contents: stored.contents, sources: stored.store.listSources, clock: stored.clock, ...overrides }
}

const opening = (text: string | Error): Partial<RefreshDependencies> => ({
  open: async function* () {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  },
})
const createRefresher = (
  open: NonNullable<RefreshDependencies['open']>,
  onResult: (result: RefreshResult) => void = () => undefined,
) => createListRefresher({ ...dependencies({ open }), onResult, onError: (error) => expect.unreachable(String(error)) })

const addressesOf = async (list: Parameters<StoredLists['entries']>[0]): Promise<string[]> =>
  (await stored.entries(list)).map(([address]) => address)

describe('a source', () => {
  test('replaces the list, and an unchanged file confirms it', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    const path = join(folder.path, 'list.txt')
    writeFileSync(path, `${evm(1)}\n${SOLANA}\n`)
    await store.listSources.set(list.id, { ...SETTINGS, location: path })
    const refresh = async (): Promise<RefreshResult> =>
      refreshList(dependencies(), (await store.listSources.find(list.id))!)
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
    const dueAtSeconds = clock.unixSeconds() + 3_600
    expect(await store.listSources.find(list.id)).toMatchObject({ dueAtSeconds, failure: null })
  })

  test('with a bad file keeps the last good content, and the reason is one line', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    await refreshList(dependencies(opening(`${evm(1)}\n`)), source)
    const confirmedAt = clock.unixSeconds()
    const INVALID = 'line 1: not an EVM or Solana address'
    for (const [text, failure] of [
      [`${evm(2)}\nnonsense\n`, 'line 2: not an EVM or Solana address'],
      [`x\ny\n${evm(2)}\n`, `${INVALID}, and 1 more invalid line`],
      [`x\ny\n${evm(2)}\nz\n`, `${INVALID}, and 2 more invalid lines`],
      ['', 'the file contains no EVM or Solana address'],
      ['# maintenance\n', 'the file contains no EVM or Solana address'],
      [new FetchFailedError('the server responded with status 500'), 'the server responded with status 500'],
      // Only the class of an unexpected error is reported.
      [new TypeError('secret path'), 'TypeError'],
    ] as const) {
      clock.advance(10)
      const result = await refreshList(dependencies(opening(text)), source)
      expect(result).toMatchObject({ status: 'failed', failure })
      expect(await addressesOf(list)).toEqual([evm(1)])
      const dueAtSeconds = clock.unixSeconds() + 300
      const kept = { confirmedAtSeconds: confirmedAt, dueAtSeconds, failure }
      expect(await store.listSources.find(list.id)).toMatchObject(kept)
    }
  })

  test('without a length keeps the content if its format has no end marker', async () => {
    const { store, newList } = stored
    const answer = `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${evm(1)}\n`
    const socket = { data: (client: Bun.Socket) => void client.end(answer) }
    using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
    const list = await newList()
    const location = `http://127.0.0.1:${server.port}/list`
    const noLength = 'the server does not send the length of the file, so a truncated file would look complete'
    for (const [format, failure] of [
      ['text', noLength],
      ['csv', noLength],
      ['sdn-advanced', 'unexpected end of the document'],
    ] as const) {
      const source = await store.listSources.set(list.id, { ...SETTINGS, location, format, reach: 'loopback' })
      expect(await refreshList(dependencies(), source)).toMatchObject({ status: 'failed', failure })
    }
    expect(await addressesOf(list)).toEqual([])
  })

  test('that is interrupted by a shutdown keeps the content', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    const stopping = new AbortController()
    const open = async function* () {
      yield Buffer.from(`${evm(1)}\n`)
      stopping.abort()
    }
    const interrupted = await refreshList(dependencies({ open, signal: stopping.signal }), source)
    expect(interrupted).toMatchObject({ status: 'failed', failure: 'reading was interrupted' })
    expect(await addressesOf(list)).toEqual([])
  })

  test('can skip bad lines', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, { ...SETTINGS, skipsBadLines: true })
    const text = `${evm(1)}\nnonsense\nTR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t\n`
    const result = await refreshList(dependencies(opening(text)), source)
    expect(result).toMatchObject({ status: 'loaded', entries: 1, badLineCount: 1 })
    expect(await store.listSources.find(list.id)).toMatchObject({ skippedCount: 2 })
  })

  test.each([
    [join(folder.path, 'missing.txt'), 'the file could not be read (ENOENT)'],
    ['https://127.0.0.1/list.txt', 'resolves to an address that is not allowed'],
  ])('at %s fails: %s', async (location, failure) => {
    const source = await stored.store.listSources.set((await stored.newList()).id, { ...SETTINGS, location })
    expect(await refreshList(dependencies(), source)).toMatchObject({ failure })
  })

  test('that is removed during the refresh changes nothing', async () => {
    const { store, newList } = stored
    const list = await newList()
    const source = await store.listSources.set(list.id, SETTINGS)
    const open = async function* () {
      await store.listSources.remove(list.id)
      yield Buffer.from(`${evm(1)}\n`)
    }
    const result = await refreshList(dependencies({ open }), source)
    expect(result).toMatchObject({ status: 'failed', failure: KEEPER_CHANGED })
    expect(await addressesOf(list)).toEqual([])
  })

  const interleavings = [
    ['changed', (id: string) => stored.store.listSources.set(id, { ...SETTINGS, location: '/new' })],
    ['taken again', (id: string) => stored.store.listSources.take(id, 600)],
  ] as const
  const outcomes = [
    ['content', `${evm(1)}\n`],
    ['unchanged content', `${evm(9)}\n`],
    ['failure', 'nonsense\n'],
  ] as const
  const cases = interleavings.flatMap(([what, change]) =>
    outcomes.map(([name, text]) => [what, name, change, text] as const),
  )
  test.each(cases)('that is %s during the refresh ignores its %s', async (_what, _name, change, text) => {
    const { store, clock, newList } = stored
    const list = await newList()
    await refreshList(dependencies(opening(`${evm(9)}\n`)), await store.listSources.set(list.id, SETTINGS))
    clock.advance(100_000)
    const old = await store.listSources.take(list.id, 600)
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const open = async function* () {
      started.resolve()
      await gate.promise
      yield Buffer.from(text)
    }
    const reading = refreshList(dependencies({ open }), old!)
    await started.promise
    await change(list.id)
    const before = await store.listSources.find(list.id)
    gate.resolve()
    expect((await reading).status).toBe('failed')
    expect(await addressesOf(list)).toEqual([evm(9)])
    expect(await store.listSources.find(list.id)).toEqual(before)
  })
})

describe('the schedule', () => {
  test('refreshes each due source once, and no other sources', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    const read: string[] = []
    const results: RefreshResult[] = []
    const refresher = createRefresher(
      async function* ({ location }) {
        read.push(location)
        yield Buffer.from(`${evm(read.length)}\n`)
      },
      (result) => results.push(result),
    )
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

  test('refreshes the sources of other organizations while a source waits for a slow server', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    const other = await seedOrganization(store, 'theirs')
    const [slow, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const read: string[] = []
    const refresher = createRefresher(async function* ({ location }) {
      if (location === '/slow') {
        waiting.resolve()
        await slow.promise
      }
      read.push(location)
      yield Buffer.from(`${evm(read.length)}\n`)
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

  test('ends the refreshes of a changed source, so that they do not occupy a reader', async () => {
    const { store, clock, newList } = stored
    clock.advance(100_000)
    let [running, started] = [0, 0]
    const refresher = createRefresher(async function* ({ location }, signal) {
      if (!location.startsWith('/endless')) return yield Buffer.from(`${evm(1)}\n`)
      running += 1
      started += 1
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      running -= 1
    })
    await refresher.refreshDue()
    const list = await newList()
    const refreshing: Promise<void>[] = []
    for (let change = 1; change <= 6; change++) {
      await store.listSources.set(list.id, { ...SETTINGS, location: `/endless${change}` })
      refreshing.push(refresher.refreshDue())
      while (started < change) await nextTurn()
      expect(running).toBe(1)
    }
    await refresher.stop()
    await Promise.all(refreshing)
    await store.listSources.remove(list.id)
  })

  test('stops immediately, and an interrupted source remains due', async () => {
    const { store, clock, newList } = stored
    const list = await newList()
    await store.listSources.set(list.id, { ...SETTINGS, location: '/endless' })
    const started = Promise.withResolvers<void>()
    const refresher = createRefresher(async function* ({ location }, signal) {
      if (location === '/endless') {
        started.resolve()
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
      }
      yield Buffer.from(`${evm(1)}\n`)
    })
    const refreshing = refresher.refreshDue()
    await started.promise
    await refresher.stop()
    await refreshing
    const dueAtSeconds = clock.unixSeconds()
    expect(await store.listSources.find(list.id)).toMatchObject({ failure: 'reading was interrupted', dueAtSeconds })
    await store.listSources.remove(list.id)
  })
})
