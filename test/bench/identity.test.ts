// The identity benchmark: its filled wallets, requests, streams and followed sessions.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { filledWallet, fillWallets } from '../../bench/identity/fill.ts'
import { createFollowedSessions } from '../../bench/identity/followed-changes.ts'
import { createStreamSet } from '../../bench/identity/streams.ts'
import { requestBytes } from '../../bench/load/requests.ts'
import { parseWalletAddress } from '../../src/domain/wallet.ts'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { newFolder } from '../support/folder.ts'

test('every filled wallet is stored as verified, with its person’s other wallet', async () => {
  const dataDirectory = newFolder()
  const store = await openStore({ path: join(dataDirectory, 'countersign.db'), clock: systemClock })
  try {
    const { id: organizationId } = await store.organizations.create({ slug: 'demo', name: 'demo', level: 1 })
    const progress: number[] = []
    await fillWallets({ dataDirectory }, 41_000, (wallets) => void progress.push(wallets))
    expect(progress).toEqual([40_000, 41_000])
    const query = { organizationId, environment: 'live', level: 1 } as const
    for (const number of [0, 1, 2, 12_345, 40_999]) {
      const address = parseWalletAddress(filledWallet(number))?.address
      const sessions = await store.walletStandings.loadSessions(query, address!)
      expect(sessions).toMatchObject([{ status: 'completed', own: true, connected: true, checkType: 'kyc' }])
      const wallets = await store.walletStandings.loadPersonWallets(query, sessions[0]?.personId ?? '')
      expect(wallets.map((wallet) => wallet.address).sort()).toEqual(
        [filledWallet(number - (number % 2)), filledWallet(number - (number % 2) + 1)].sort(),
      )
    }
  } finally {
    await store.close()
  }
}, 30_000)

test('a request has a content length if it needs one, and prevents header injection', () => {
  const url = new URL('http://127.0.0.1:1')
  const plan = { path: '/a?b=c', headers: { 'x-one': '1' } }
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
  expect(text(requestBytes(url, { ...plan, method: 'GET', body: null }))).toBe(
    'GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:1\r\nx-one: 1\r\n\r\n',
  )
  expect(text(requestBytes(url, { ...plan, method: 'POST', body: null }))).toEndWith('Content-Length: 0\r\n\r\n')
  expect(text(requestBytes(url, { ...plan, method: 'POST', body: '{"é":1}' }))).toEndWith(
    'Content-Length: 8\r\n\r\n{"é":1}',
  )
  expect(() => requestBytes(url, { ...plan, method: 'GET', body: null, headers: { a: 'b\r\nc: d' } })).toThrow(
    RangeError,
  )
})

test('a stream opens even if its response headers arrive in parts', async () => {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async data(socket) {
        const parts = ['HTTP/1.1 20', '0 OK\r\nContent-Type: text/event-stream\r\n', '\r\n{"status":"pending"}']
        for (const part of parts) {
          socket.write(part)
          socket.flush()
          for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
        }
      },
    },
  })
  const streams = createStreamSet({ url: `http://127.0.0.1:${server.port}`, key: 'k' }, () => undefined)
  await streams.open([{ wallet: '0x', sessionId: 's' }])
  streams.close()
  server.stop(true)
})

test('streams report each status after the first, and lost streams', async () => {
  let send: (text: string) => void = () => undefined
  let end: () => void = () => undefined
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            const frame = (text: string): void => controller.enqueue(Buffer.from(text))
            frame('id: 1\ndata: {"status":"pending"}\n\n')
            send = frame
            end = () => controller.close()
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  })
  const arrived: string[] = []
  const received = Promise.withResolvers<void>()
  const streams = createStreamSet({ url: server.url.origin, key: 'k' }, (index, status) => {
    arrived.push(`${index} ${status}`)
    received.resolve()
  })
  await streams.open([{ wallet: '0x', sessionId: 's' }])
  send(': keep-alive\n\n')
  send('id: 2\ndata: {"status":"completed"}\n\n')
  await received.promise
  expect(arrived).toEqual(['0 completed'])
  expect(streams.lost()).toBe(0)
  end()
  await server.stop(true)
  const giveUpMs = performance.now() + 5_000
  while (streams.lost() === 0 && performance.now() < giveUpMs) await new Promise((resolve) => setImmediate(resolve))
  expect(streams.lost()).toBe(1)
  streams.close()
})

test('refused streams count as lost, and all others open', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/refused')
        ? new Response(null, { status: 503 })
        : new Response('data: {"status":"pending"}\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  })
  const open = async (...ids: readonly string[]) => {
    const streams = createStreamSet({ url: server.url.origin, key: 'k' }, () => undefined)
    try {
      await streams.open(ids.map((sessionId) => ({ wallet: '0x', sessionId })))
      return streams.lost()
    } finally {
      streams.close()
    }
  }
  try {
    expect(await open('one', 'refused', 'two')).toBe(1)
    await expect(open('refused')).rejects.toThrow('a stream: HTTP/1.1 503')
  } finally {
    await server.stop(true)
  }
})

test('a stream that does not open in time counts as lost', async () => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const streams = createStreamSet({ url: `http://127.0.0.1:${server.port}`, key: 'k' }, () => undefined, 1)
  try {
    // With `rejects`, a promise that never settles would block the timeout of the test.
    const reason = await streams.open([{ wallet: '0x', sessionId: 's' }]).catch((cause: unknown) => String(cause))
    expect(reason).toContain('did not open within 1 ms')
    expect(streams.lost()).toBe(1)
  } finally {
    streams.close()
    server.stop(true)
  }
})

test('sessions are created until the time limit, and a second call adds more', async () => {
  let nowMs = 0
  let stepMs = 30
  let created = 0
  let opened = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method }) => {
      if (method === 'POST') {
        nowMs += stepMs
        return Response.json({ sessionId: `s${created++}` }, { status: 201 })
      }
      opened += 1
      return new Response('data: {"status":"pending"}\n\n', { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const followed = createFollowedSessions({ url: server.url.origin, key: 'k' }, () => nowMs)
  try {
    const sessions = await followed.follow({ streams: 100, limitMs: 20 })
    // The connections send one registration each before the first response.
    expect(sessions).toBe(32)
    expect([created, opened]).toEqual([32, 32])
    stepMs = 0
    expect(await followed.follow({ streams: 50, limitMs: 20 })).toBe(82)
    expect([created, opened]).toEqual([82, 82])
  } finally {
    followed.close()
    await server.stop(true)
  }
})
