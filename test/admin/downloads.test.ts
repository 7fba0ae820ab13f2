// Downloads that nobody reads, or that are many: how many at once, in whose turn, and for how long.
import { afterAll, describe, expect, test } from 'bun:test'
import type { CommandActor } from '../../src/admin/actor.ts'
import { createDownloads, type DownloadCall } from '../../src/admin/downloads.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

/** Timers that fire when a test says so, in the order of their delays. */
const createTimers = () => {
  let timers: { readonly delayMs: number; readonly callback: () => void }[] = []
  return {
    after: (delayMs: number, callback: () => void) => {
      const timer = { delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    fire: (mostMs: number) => {
      const due = timers.filter(({ delayMs }) => delayMs <= mostMs)
      timers = timers.filter((timer) => !due.includes(timer))
      for (const { callback } of due) callback()
    },
  }
}

const callOf = (organization: string, key: string, stillAllowed = async () => true): DownloadCall => ({
  actor: { kind: 'key', principal: { keyId: key } } as unknown as CommandActor,
  organization: { id: organization },
  requestId: 'test',
  stillAllowed,
})

const openDownloads = () => {
  const timers = createTimers()
  const downloads = createDownloads(timers.after)
  let made = 0
  async function* parts(count: number): AsyncGenerator<string, void> {
    for (let part = 0; part < count; part++) {
      made += 1
      yield `${part}`
    }
  }
  const open = (organization: string, key: string, count = 2, stillAllowed?: () => Promise<boolean>) => {
    const file = { filename: 'x', contentType: 'text/plain', parts: parts(count) }
    return downloads.respond(callOf(organization, key, stillAllowed), file)
  }
  const isRefused = (organization: string, key: string): boolean => {
    try {
      void open(organization, key).body?.cancel()
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 5 })
      return true
    }
  }
  return { timers, open, isRefused, made: () => made }
}

describe('downloads at once', () => {
  test('an actor has two', () => {
    const { open, isRefused } = openDownloads()
    open('alpha', 'one')
    open('beta', 'one')
    expect([isRefused('gamma', 'one'), isRefused('alpha', 'two')]).toEqual([true, false])
  })

  test('an organization has four', () => {
    const { open, isRefused } = openDownloads()
    for (const key of ['one', 'one', 'two', 'two']) open('alpha', key)
    expect([isRefused('alpha', 'three'), isRefused('beta', 'three')]).toEqual([true, false])
  })

  test('the end frees a slot, and so does the client’s leaving, once', async () => {
    const { open, isRefused } = openDownloads()
    const whole = open('alpha', 'one', 0)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const left = open('alpha', 'one', 1, () => promise)
    expect(isRefused('alpha', 'one')).toBe(true)
    expect(await whole.text()).toBe('')
    open('alpha', 'one')
    expect(isRefused('alpha', 'one')).toBe(true)
    const reader = left.body?.getReader()
    const read = reader?.read()
    await reader?.cancel()
    resolve(false)
    expect(await read).toMatchObject({ done: true })
    open('alpha', 'one')
    expect(isRefused('alpha', 'one')).toBe(true)
  })
})

test('a download whose client takes no part for two minutes is cut, and its slot is free', async () => {
  const { timers, open, isRefused } = openDownloads()
  const [unopened, begun] = [open('alpha', 'one'), open('alpha', 'one')]
  const readers = [unopened, begun].map(({ body }) => body?.getReader())
  await readers[1]?.read()
  timers.fire(29_999)
  expect(isRefused('alpha', 'one')).toBe(true)
  timers.fire(120_000)
  expect(isRefused('alpha', 'one')).toBe(false)
  for (const reader of readers) await expect(reader?.read()).rejects.toBeUndefined()
})

test('a part is made when the organization’s pause after its previous part has passed', async () => {
  const { timers, open, made } = openDownloads()
  const readers = ['alpha', 'alpha', 'beta'].map((organization) => open(organization, organization).body?.getReader())
  const reads = readers.map((reader) => reader?.read())
  await nextTurn()
  expect(made()).toBe(2)
  // Waiting for a turn is not the client's delay.
  timers.fire(120_000)
  await Promise.all(reads)
  expect(made()).toBe(3)
})

test('a refused download’s connection has an idle limit, and an accepted one may be silent and is closed at the end', async () => {
  const harness = await startHarness()
  afterAll(() => harness.close())
  await harness.organization('alpha')
  const { cookie } = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
  const limits: number[] = []
  const timeout = (_request: Request, seconds: number): void => void limits.push(seconds)
  const { server } = harness.plugin.listen({ hostname: '127.0.0.1', port: 0 })
  if (server === null) throw new Error('the listener did not start')
  Object.assign(server, { timeout })
  const get = async (path: string, headers = {}) => {
    const response = await fetch(`${server.url}admin/v1/organizations/alpha${path}`, { headers })
    return [response.status, response.headers.get('connection')]
  }
  try {
    expect(await get('/audit/export?format=csv')).toEqual([401, null])
    expect(await get('/audit/export?format=csv', { cookie })).toEqual([200, 'close'])
    expect(await get('/audit/export?format=none', { cookie })).toEqual([400, null])
    expect(limits).toEqual([30, 0, 0, 30])
  } finally {
    await server.stop(true)
  }
})

test('every export counts, and a refused one is not recorded', async () => {
  const harness = await startHarness()
  afterAll(() => harness.close())
  await harness.organization('alpha')
  const { cookie } = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
  const get = (path: string) => harness.api(toRequest('GET', path, { cookie }))
  const organization = '/organizations/alpha'
  const paths = [
    `${organization}/lists/partners/content`,
    '/lists/partners/content',
    `${organization}/audit/export?format=csv`,
    '/audit/export?format=csv',
    `${organization}/decisions/export?format=csv`,
  ]
  for (const owner of [organization, ''])
    await harness.api(toRequest('POST', `${owner}/lists`, { cookie, body: { name: 'partners' } }))
  const opened = await Promise.all(paths.slice(0, 2).map(get))
  expect(opened.map(({ status }) => status)).toEqual([200, 200])
  const refused = await Promise.all(paths.map(get))
  expect(refused.map(({ status }) => status)).toEqual(paths.map(() => 503))
  const { items } = await harness.store.audit.page({ actionPrefix: 'audit.export' }, { after: null, limit: 1 })
  expect(items).toEqual([])
  for (const { body } of opened) await body?.cancel()
  for (const path of paths) {
    const response = await get(path)
    expect([path, response.status]).toEqual([path, 200])
    await response.text()
  }
})
