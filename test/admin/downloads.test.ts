// Downloads: their number, order and time limits.
import { describe, expect, test } from 'bun:test'
import type { CommandActor } from '../../src/admin/actor.ts'
import { createDownloads, type DownloadCall } from '../../src/admin/downloads.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { harnessOfTest } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const openDownloads = () => {
  let timers: { readonly delayMs: number; readonly callback: () => void }[] = []
  const after = (delayMs: number, callback: () => void) => {
    const timer = { delayMs, callback }
    timers.push(timer)
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  /** Fires the timers with delays up to a maximum. */
  const fire = (maximumMs: number): void => {
    const due = timers.filter(({ delayMs }) => delayMs <= maximumMs)
    timers = timers.filter((timer) => !due.includes(timer))
    for (const { callback } of due) callback()
  }
  const downloads = createDownloads(after)
  let made = 0
  async function* parts(count: number): AsyncGenerator<string, void> {
    for (let part = 0; part < count; part++) {
      made += 1
      yield `${part}`
    }
  }
  const open = (organization: string, key: string, count = 2, stillAllowed = async () => true) => {
    const call: DownloadCall = {
      actor: { kind: 'key', principal: { keyId: key } } as unknown as CommandActor,
      organization: { id: organization },
      requestId: 'test',
      stillAllowed,
    }
    return downloads.respond(call, { filename: 'x', contentType: 'text/plain', parts: parts(count) })
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
  return { fire, open, isRefused, made: () => made }
}

describe('simultaneous downloads', () => {
  test('are limited to two per actor', () => {
    const { open, isRefused } = openDownloads()
    open('alpha', 'one')
    open('beta', 'one')
    expect([isRefused('gamma', 'one'), isRefused('alpha', 'two')]).toEqual([true, false])
  })

  test('are limited to four per organization', () => {
    const { open, isRefused } = openDownloads()
    for (const key of ['one', 'one', 'two', 'two']) open('alpha', key)
    expect([isRefused('alpha', 'three'), isRefused('beta', 'three')]).toEqual([true, false])
  })

  test('free their slots once, at the end or when the client disconnects', async () => {
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

test('a download that is not read for two minutes is aborted, and frees its slot', async () => {
  const { fire, open, isRefused } = openDownloads()
  const readers = [open('alpha', 'one'), open('alpha', 'one')].map(({ body }) => body?.getReader())
  await readers[1]?.read()
  fire(29_999)
  expect(isRefused('alpha', 'one')).toBe(true)
  fire(120_000)
  expect(isRefused('alpha', 'one')).toBe(false)
  for (const reader of readers) await expect(reader?.read()).rejects.toBeUndefined()
})

test('a part is produced only after the pause that follows the previous part of the organization', async () => {
  const { fire, open, made } = openDownloads()
  const readers = ['alpha', 'alpha', 'beta'].map((organization) => open(organization, organization).body?.getReader())
  const reads = readers.map((reader) => reader?.read())
  await nextTurn()
  expect(made()).toBe(2)
  // The pause does not count as a delay of the client.
  fire(120_000)
  await Promise.all(reads)
  expect(made()).toBe(3)
})

describe('an export', () => {
  const harness = harnessOfTest()
  const createAdmin = async () => {
    await harness.organization('alpha')
    return harness.person({ email: 'ada@example.com', deploymentAdmin: true })
  }

  test('has no idle timeout and closes its connection, and a refused export has a timeout', async () => {
    const { cookie } = await createAdmin()
    const limits: number[] = []
    const timeout = (_request: Request, seconds: number): void => void limits.push(seconds)
    const { server } = harness.plugin.listen({ hostname: '127.0.0.1', port: 0 })
    if (server === null) throw new Error('the listener did not start')
    Object.assign(server, { timeout })
    const get = async (format: string, headers = {}) => {
      const path = `admin/v1/organizations/alpha/audit/export?format=${format}`
      const response = await fetch(`${server.url}${path}`, { headers })
      return [response.status, response.headers.get('connection')]
    }
    try {
      expect(await get('csv')).toEqual([401, null])
      expect(await get('csv', { cookie })).toEqual([200, 'close'])
      expect(await get('none', { cookie })).toEqual([400, null])
      expect(limits).toEqual([30, 0, 0, 30])
    } finally {
      await server.stop(true)
    }
  })

  test('of any kind counts toward the limit, and a refused export is not recorded', async () => {
    const { cookie } = await createAdmin()
    const get = (path: string) => harness.api(toRequest('GET', path, { cookie }))
    const organization = '/organizations/alpha'
    const paths = [
      `${organization}/lists/partners/content`,
      '/lists/partners/content',
      `${organization}/audit/export?format=csv`,
      '/audit/export?format=csv',
      `${organization}/decisions/export?format=csv`,
    ]
    for (const owner of [organization, '']) {
      await harness.api(toRequest('POST', `${owner}/lists`, { cookie, body: { name: 'partners' } }))
    }
    const opened = await Promise.all(paths.slice(0, 2).map(get))
    expect(opened.map(({ status }) => status)).toEqual([200, 200])
    const refused = await Promise.all(paths.map(get))
    expect(refused.map(({ status }) => status)).toEqual(paths.map(() => 503))
    expect(await harness.audited({ actionPrefix: 'audit.export' })).toEqual([])
    for (const { body } of opened) await body?.cancel()
    for (const path of paths) {
      const response = await get(path)
      expect([path, response.status]).toEqual([path, 200])
      await response.text()
    }
  })
})
