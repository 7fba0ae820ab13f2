// Servers that are slow, endless, redirecting, lying about their length, or not who they say they are.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reach } from '../../src/domain/list.ts'
import { FetchFailedError, fetchBody, type GuardedRequest, guardedFetch } from '../../src/facts/guarded-fetch.ts'
import { createGuardedLookup, UrlRefusedError } from '../../src/facts/reachable.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts'

const cancelled: string[] = []
let release: () => void = () => undefined

const streaming = (
  path: string,
  pull: (controller: ReadableStreamDefaultController) => void | Promise<void>,
): Response =>
  new Response(
    new ReadableStream({
      pull,
      cancel: () => {
        cancelled.push(path)
        release()
      },
    }),
  )

const answer = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  switch (pathname) {
    case '/echo':
      return Response.json({
        method: request.method,
        body: await request.text(),
        host: request.headers.get('host'),
        encoding: request.headers.get('accept-encoding'),
        extra: request.headers.get('x-extra'),
      })
    case '/redirect':
      return new Response(null, { status: 302, headers: { location: '/echo' } })
    case '/never':
      return new Promise<never>(() => undefined)
    case '/begins':
      return streaming(pathname, (controller) => {
        controller.enqueue(new Uint8Array(10))
        return new Promise<void>(() => undefined)
      })
    case '/endless':
      return streaming(pathname, (controller) => controller.enqueue(new Uint8Array(65_536)))
    case '/compressed':
      return new Response(Bun.gzipSync('x'.repeat(100_000)), { headers: { 'content-encoding': 'gzip' } })
    case '/large':
      return new Response('x'.repeat(2_000))
    default:
      return new Response('internal secrets', { status: 500 })
  }
}

let plain: ReturnType<typeof Bun.serve>
let secure: ReturnType<typeof Bun.serve>
let short: Bun.TCPSocketListener
/** Sends as many chunks of one byte as the path says. */
let crumbs: Bun.TCPSocketListener
/** Sends the start of a body, framed as the path says, and keeps the connection open. */
let cut: Bun.TCPSocketListener
let cutSocket: Bun.Socket<unknown> | null = null
beforeAll(() => {
  plain = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  secure = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY },
    fetch: answer,
  })
  short = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort')
        socket.end()
      },
    },
  })
  const framing: Readonly<Record<string, string>> = {
    length: 'content-length: 100\r\n\r\nshort',
    chunks: 'transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n',
    nothing: 'connection: close\r\n\r\nshort',
  }
  cut = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket, request) => {
        cutSocket = socket
        socket.write(`HTTP/1.1 200 OK\r\n${framing[/\/([a-z]+) /.exec(request.toString())?.[1] ?? '']}`)
      },
    },
  })
  crumbs = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket, request) => {
        const chunks = '1\r\n#\r\n'.repeat(Number(/\/([0-9]+) /.exec(request.toString())?.[1]))
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
      },
    },
  })
})
afterAll(async () => {
  short.stop(true)
  crumbs.stop(true)
  cut.stop(true)
  await Promise.all([plain.stop(true), secure.stop(true)])
})

const ask = (path: string, overrides: Partial<GuardedRequest> = {}): Promise<string> =>
  fetchBody({
    url: `http://127.0.0.1:${plain.port}${path}`,
    reach: 'loopback',
    timeoutMs: 5_000,
    maxBytes: 1_000,
    ...overrides,
  }).then((body) => body.toString())

const problemOf = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.catch((thrown: unknown) => thrown)
  if (error instanceof FetchFailedError || error instanceof UrlRefusedError) return error.detail
  throw new Error(`it did not fail as it should: ${String(error)}`)
}

describe('a guarded request', () => {
  test('carries its method, headers and body, and takes the body of a 200', async () => {
    const text = await ask('/echo', { method: 'POST', body: '{"ü":1}', headers: { 'x-extra': 'yes' } })
    expect(JSON.parse(text)).toMatchObject({ method: 'POST', body: '{"ü":1}', encoding: 'identity', extra: 'yes' })
    expect(JSON.parse(await ask('/echo'))).toMatchObject({ method: 'GET', body: '' })
  })

  test('follows no redirect', async () => {
    expect(await problemOf(ask('/redirect'))).toBe(
      'the server redirects (302), but redirects are not followed: use the final URL',
    )
  })

  test('takes no other status, and tells nothing of its body', async () => {
    expect(await problemOf(ask('/broken'))).toBe('the server responded with status 500')
  })

  test('ends at its time, before an answer and within one', async () => {
    for (const path of ['/never', '/begins']) {
      expect(await problemOf(ask(path, { timeoutMs: 60 }))).toBe('the request timed out')
    }
  })

  test('takes no more bytes than said, announced or not, and closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      release = resolve
    })
    expect(await problemOf(ask('/large'))).toBe('the response has more than 1000 bytes')
    expect(await problemOf(ask('/endless'))).toBe('the response has more than 1000 bytes')
    await closed
    expect(cancelled).toContain('/endless')
  })

  test('takes no answer in a great number of small chunks', async () => {
    const askFor = (count: number) => ask('', { url: `http://127.0.0.1:${crumbs.port}/${count}`, maxBytes: 10_000 })
    expect((await askFor(900)).length).toBe(900)
    expect(await problemOf(askFor(3_000))).toBe('the chunks of the response are too small')
    const url = `http://127.0.0.1:${crumbs.port}/3000`
    const streamed = guardedFetch({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 10_000 })
    let count = 0
    const read = async (): Promise<void> => {
      for await (const _ of streamed) count += 1
    }
    expect(await problemOf(read())).toBe('the chunks of the response are too small')
    expect(count).toBeLessThan(1_100)
  })

  test('takes nothing compressed: it would grow', async () => {
    expect(await problemOf(ask('/compressed', { maxBytes: 1_000_000 }))).toBe(
      'the server sent a content encoding that was not requested',
    )
  })

  test('takes no answer that ends early, and could not connect that is refused', async () => {
    const url = `http://127.0.0.1:${short.port}/`
    expect(await problemOf(ask('', { url }))).toMatch(/^(could not connect|the response ended early)/)
    expect(await problemOf(ask('', { url: 'http://127.0.0.1:1/' }))).toBe('could not connect (ECONNREFUSED)')
  })

  describe('whose answer is cut', () => {
    /** Reads the first bytes, cuts the connection, and reads the rest. */
    const askCut = async (framed: string, cutting: () => void, overrides: Partial<GuardedRequest> = {}) => {
      const url = `http://127.0.0.1:${cut.port}/${framed}`
      const stream = guardedFetch({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 1_000, ...overrides })
      expect(Buffer.from((await stream.next()).value ?? []).toString()).toBe('short')
      const rest = stream.next()
      cutting()
      return rest
    }
    const ends = (): void => void cutSocket?.end()
    const resets = (): void => void cutSocket?.terminate()

    test.each(['length', 'chunks'])('fails if the server sent its %s', async (framed) => {
      for (const cutting of [ends, resets]) {
        expect(await problemOf(askCut(framed, cutting, { needsLength: true }))).toMatch(
          /^(could not connect|the response ended early)/,
        )
      }
    })

    test('is complete without a length only if its format has an end', async () => {
      expect(await askCut('nothing', ends)).toEqual({ done: true, value: undefined })
      expect(await problemOf(ask('', { url: `http://127.0.0.1:${cut.port}/nothing`, needsLength: true }))).toBe(
        'the server does not send the length of the file, so a truncated file would look complete',
      )
    })

    test('fails if this process cut it: at its time limit, or when it is interrupted', async () => {
      const nothing = (): void => undefined
      expect(await problemOf(askCut('nothing', nothing, { timeoutMs: 100 }))).toBe('the request timed out')
      const interrupt = new AbortController()
      const cutting = (): void => interrupt.abort()
      expect(await problemOf(askCut('nothing', cutting, { signal: interrupt.signal }))).toBe(
        'the request was interrupted',
      )
    })
  })

  test('can be interrupted', async () => {
    const interrupt = new AbortController()
    const asked = problemOf(ask('/never', { signal: interrupt.signal }))
    interrupt.abort()
    expect(await asked).toBe('the request was interrupted')
  })

  test('ends when its reader stops reading', async () => {
    const closed = new Promise<void>((resolve) => {
      release = resolve
    })
    const url = `http://127.0.0.1:${plain.port}/endless`
    for await (const chunk of guardedFetch({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 1e9 })) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    await closed
  })

  test('goes to no address that is not allowed', async () => {
    const refused = 'resolves to an address that is not allowed'
    expect(await problemOf(ask('/echo', { reach: 'public' }))).toBe('must be an https URL')
    expect(await problemOf(ask('', { url: `https://127.0.0.1:${secure.port}/`, reach: 'public' }))).toBe(refused)
    expect(await problemOf(ask('', { url: `https://localhost:${secure.port}/`, reach: 'public' }))).toBe(refused)
  })
})

describe('over TLS', () => {
  test('a connection is reused within its reach, and never by a request that may not go there', async () => {
    const clients = new Set<number>()
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY },
      fetch: (request, self) => {
        clients.add(self.requestIP(request)?.port ?? 0)
        return new Response('internal')
      },
    })
    const url = `https://screener.example:${server.port}/`
    const resolveTo = (address: string) => async () => [{ address, family: 4 }]
    const askWithin = (reach: Reach, address: string) =>
      ask('', {
        url,
        reach,
        certificateAuthority: TEST_CERTIFICATE,
        lookup: createGuardedLookup(reach, resolveTo(address)),
      })
    expect(await askWithin('loopback', '127.0.0.1')).toBe('internal')
    expect(await askWithin('loopback', '127.0.0.1')).toBe('internal')
    expect(clients.size).toBe(1)
    const refused = 'resolves to an address that is not allowed'
    for (const reach of ['public', 'private'] as const) {
      expect(await problemOf(askWithin(reach, '127.0.0.1'))).toBe(refused)
    }
    expect(await problemOf(askWithin('public', '10.0.0.1'))).toBe(refused)
    expect(clients.size).toBe(1)
    await server.stop(true)
  })

  const trusted = {
    certificateAuthority: TEST_CERTIFICATE,
    lookup: createGuardedLookup('loopback', async () => [{ address: '127.0.0.1', family: 4 }]),
  }

  test('the connection goes to the address that was checked, and the certificate is of the name', async () => {
    const url = `https://screener.example:${secure.port}/echo`
    expect(JSON.parse(await ask('', { ...trusted, url }))).toMatchObject({ host: `screener.example:${secure.port}` })
    const other = `https://other.example:${secure.port}/echo`
    expect(await problemOf(ask('', { ...trusted, url: other }))).toMatch(/^could not connect/)
  })

  test('an unknown certificate is refused', async () => {
    const url = `https://screener.example:${secure.port}/echo`
    expect(await problemOf(ask('', { url, lookup: trusted.lookup }))).toMatch(/^could not connect/)
  })
})
