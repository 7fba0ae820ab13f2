// Guarded requests to servers that are slow, endless, redirecting, truncated or impersonated.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reach } from '../../src/domain/list.ts'
import { FetchFailedError, fetchBody, type GuardedRequest, guardedFetch } from '../../src/facts/guarded-fetch.ts'
import { createGuardedLookup, UrlRefusedError } from '../../src/facts/reachable.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts'

const cancelled: string[] = []
let release: () => void = () => undefined

const streaming = (path: string, pull: (controller: ReadableStreamDefaultController) => void | Promise<void>) => {
  const cancel = (): void => {
    cancelled.push(path)
    release()
  }
  return new Response(new ReadableStream({ pull, cancel }))
}

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
    case '/302':
    case '/300':
      return new Response(null, { status: Number(pathname.slice(1)), headers: { location: '/echo' } })
    case '/never':
      return new Promise<never>(() => undefined)
    case '/begins':
      return streaming(pathname, (controller) => {
        controller.enqueue(new Uint8Array(10))
        return new Promise<void>(() => undefined)
      })
    case '/endless':
      return streaming(pathname, (controller) => controller.enqueue(new Uint8Array(65_536)))
    case '/1000':
    case '/1001':
      return streaming(pathname, (controller) => {
        controller.enqueue(new Uint8Array(Number(pathname.slice(1))))
        controller.close()
      })
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
/** Servers that write raw responses, depending on the path of the request. */
let short: Bun.TCPSocketListener
let crumbs: Bun.TCPSocketListener
let cut: Bun.TCPSocketListener
let cutSocket: Bun.Socket<unknown> | null = null

const FRAMING: Readonly<Record<string, string>> = {
  length: 'content-length: 100\r\n\r\nshort',
  chunks: 'transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n',
  nothing: 'connection: close\r\n\r\nshort',
}
const TLS = { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }
const listen = (respond: (socket: Bun.Socket<unknown>, path: string) => void) => {
  const data = (socket: Bun.Socket<unknown>, request: Buffer) =>
    respond(socket, /\/([a-z0-9]*) /.exec(request.toString())?.[1] ?? '')
  return Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data } })
}
beforeAll(() => {
  plain = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  secure = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: TLS, fetch: answer })
  short = listen((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'))
  // Sends the start of a body and keeps the connection open.
  cut = listen((socket, path) => {
    cutSocket = socket
    socket.write(`HTTP/1.1 200 OK\r\n${FRAMING[path]}`)
  })
  crumbs = listen((socket, path) => {
    const chunks = '1\r\n#\r\n'.repeat(Number(path))
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
  })
})
afterAll(async () => {
  for (const listener of [short, crumbs, cut]) listener.stop(true)
  await Promise.all([plain.stop(true), secure.stop(true)])
})

const fetchText = (path: string, overrides: Partial<GuardedRequest> = {}): Promise<string> => {
  const url = `http://127.0.0.1:${plain.port}${path}`
  return fetchBody({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 1_000, ...overrides }).then(String)
}
const from = (port: number | undefined, path: string | number = ''): Partial<GuardedRequest> => ({
  url: `http://127.0.0.1:${port}/${path}`,
})

const problemOf = async (fetched: Promise<unknown>): Promise<string> => {
  const error = await fetched.catch((thrown: unknown) => thrown)
  if (error instanceof FetchFailedError || error instanceof UrlRefusedError) return error.detail
  throw new Error(`unexpected outcome: ${String(error)}`)
}
const DISCONNECTED = /^(could not connect|the response ended early)/
const FORBIDDEN = 'resolves to an address that is not allowed'

describe('a guarded request', () => {
  test('sends its method, headers and body, and returns the body of a 200 response', async () => {
    const text = await fetchText('/echo', { method: 'POST', body: '{"ü":1}', headers: { 'x-extra': 'yes' } })
    expect(JSON.parse(text)).toMatchObject({ method: 'POST', body: '{"ü":1}', encoding: 'identity', extra: 'yes' })
    expect(JSON.parse(await fetchText('/echo'))).toMatchObject({ method: 'GET', body: '' })
  })

  test.each<[string, Partial<GuardedRequest>, string]>([
    ['/302', {}, 'the server redirects (302), but redirects are not followed: use the final URL'],
    ['/300', {}, 'the server redirects (300), but redirects are not followed: use the final URL'],
    ['/broken', {}, 'the server responded with status 500'],
    ['/never', { timeoutMs: 60 }, 'the request timed out'],
    ['/begins', { timeoutMs: 60 }, 'the request timed out'],
    // Decompression could exceed the limit.
    ['/compressed', { maxBytes: 1_000_000 }, 'the server sent a content encoding that was not requested'],
    ['', { url: 'http://127.0.0.1:1/' }, 'could not connect (ECONNREFUSED)'],
    ['/echo', { reach: 'public' }, 'must be an https URL'],
    ['', { url: 'https://127.0.0.1/', reach: 'public' }, FORBIDDEN],
    ['', { url: 'https://localhost/', reach: 'public' }, FORBIDDEN],
  ])('fails for %s with %j: %s', async (path, overrides, problem) => {
    expect(await problemOf(fetchText(path, overrides))).toBe(problem)
  })

  test('accepts a response of unknown length up to the limit', async () => {
    expect(await fetchText('/1000')).toHaveLength(1_000)
    expect(await problemOf(fetchText('/1001'))).toBe('the response has more than 1000 bytes')
  })

  test('limits the size of the response, with and without a length, and closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      release = resolve
    })
    for (const path of ['/large', '/endless']) {
      expect(await problemOf(fetchText(path))).toBe('the response has more than 1000 bytes')
    }
    await closed
    expect(cancelled).toContain('/endless')
  })

  test('limits the number of small chunks', async () => {
    const fetchCrumbs = (count: number) => fetchText('', { ...from(crumbs.port, count), maxBytes: 10_000 })
    expect((await fetchCrumbs(900)).length).toBe(900)
    expect(await problemOf(fetchCrumbs(3_000))).toBe('the chunks of the response are too small')
    const url = `http://127.0.0.1:${crumbs.port}/3000`
    let count = 0
    const read = async (): Promise<void> => {
      for await (const _ of guardedFetch({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 10_000 })) count += 1
    }
    expect(await problemOf(read())).toBe('the chunks of the response are too small')
    expect(count).toBeLessThan(1_100)
  })

  test('fails if the response ends early', async () => {
    expect(await problemOf(fetchText('', from(short.port)))).toMatch(DISCONNECTED)
  })

  describe('whose response is truncated', () => {
    /** Reads the first bytes, cuts the connection, and reads the rest. */
    const readCut = async (framing: string, cutting: () => void, overrides: Partial<GuardedRequest> = {}) => {
      const url = `http://127.0.0.1:${cut.port}/${framing}`
      const stream = guardedFetch({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 1_000, ...overrides })
      expect(Buffer.from((await stream.next()).value ?? []).toString()).toBe('short')
      const rest = stream.next()
      cutting()
      return rest
    }
    const end = (): void => void cutSocket?.end()
    const reset = (): void => void cutSocket?.terminate()

    test.each(['length', 'chunks'])('fails if the server sent its %s', async (framing) => {
      for (const cutting of [end, reset]) {
        expect(await problemOf(readCut(framing, cutting, { needsLength: true }))).toMatch(DISCONNECTED)
      }
    })

    test('is complete without a length only if its format has an end marker', async () => {
      expect(await readCut('nothing', end)).toEqual({ done: true, value: undefined })
      expect(await problemOf(fetchText('', { ...from(cut.port, 'nothing'), needsLength: true }))).toBe(
        'the server does not send the length of the file, so a truncated file would look complete',
      )
    })

    test('fails at its time limit or when it is interrupted', async () => {
      expect(await problemOf(readCut('nothing', () => undefined, { timeoutMs: 100 }))).toBe('the request timed out')
      const interrupt = new AbortController()
      const interrupted = readCut('nothing', () => interrupt.abort(), { signal: interrupt.signal })
      expect(await problemOf(interrupted)).toBe('the request was interrupted')
    })
  })

  test('can be interrupted', async () => {
    const interrupt = new AbortController()
    const interrupted = problemOf(fetchText('/never', { signal: interrupt.signal }))
    interrupt.abort()
    expect(await interrupted).toBe('the request was interrupted')
  })

  test('ends if its reader stops', async () => {
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
})

describe('over TLS', () => {
  test('a connection is reused for the same reach, and never for a narrower reach', async () => {
    const clients = new Set<number>()
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: TLS,
      fetch: (request, self) => {
        clients.add(self.requestIP(request)?.port ?? 0)
        return new Response('internal')
      },
    })
    const url = `https://screener.example:${server.port}/`
    const fetchWithin = (reach: Reach, address: string) => {
      const lookup = createGuardedLookup(reach, async () => [{ address, family: 4 }])
      return fetchText('', { url, reach, certificateAuthority: TEST_CERTIFICATE, lookup })
    }
    for (let times = 0; times < 2; times++) expect(await fetchWithin('loopback', '127.0.0.1')).toBe('internal')
    expect(clients.size).toBe(1)
    for (const [reach, address] of [
      ['public', '127.0.0.1'],
      ['private', '127.0.0.1'],
      ['public', '10.0.0.1'],
    ] as const) {
      expect(await problemOf(fetchWithin(reach, address))).toBe(FORBIDDEN)
    }
    expect(clients.size).toBe(1)
  })

  test('the connection goes to the checked address, and needs a trusted certificate for the name', async () => {
    const lookup = createGuardedLookup('loopback', async () => [{ address: '127.0.0.1', family: 4 }])
    const trusted = { certificateAuthority: TEST_CERTIFICATE, lookup }
    const urlOf = (host: string) => `https://${host}:${secure.port}/echo`
    const text = await fetchText('', { ...trusted, url: urlOf('screener.example') })
    expect(JSON.parse(text)).toMatchObject({ host: `screener.example:${secure.port}` })
    for (const untrusted of [
      { ...trusted, url: urlOf('other.example') },
      { lookup, url: urlOf('screener.example') },
    ]) {
      expect(await problemOf(fetchText('', untrusted))).toMatch(/^could not connect/)
    }
  })
})
