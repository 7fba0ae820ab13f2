// A POST to a place that a customer named: where it may lead, and receivers that are slow, endless, redirecting or not who
// they say they are. The guard is the one that the service uses.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reach } from '../../src/domain/list.ts'
import { createGuardedLookup, parseReachableUrl } from '../../src/facts/reachable.ts'
import { createOutboundPost, OutboundFailedError, type OutboundPostOptions } from '../../src/server/outbound-post.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '../facts/test-certificate.ts'

const received: { readonly path: string; readonly host: string | null; readonly body: string }[] = []
/** Resolves when a client of `/endless` has hung up. */
const hungUp = Promise.withResolvers<void>()

const answer = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  received.push({ path: pathname, host: request.headers.get('host'), body: await request.text() })
  switch (pathname) {
    case '/redirect':
      return new Response(null, { status: 307, headers: { location: '/taken' } })
    case '/busy':
      return new Response('later', { status: 503, headers: { 'retry-after': '120' } })
    case '/busy-until':
      return new Response('later', { status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } })
    case '/never':
      return new Promise<never>(() => undefined)
    case '/endless':
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => hungUp.resolve(),
        }),
      )
    case '/drip':
      return new Response(new ReadableStream({ pull: () => new Promise<void>(() => undefined) }))
    default:
      return new Response('taken', { status: 201 })
  }
}

let plain: ReturnType<typeof Bun.serve>
let secure: ReturnType<typeof Bun.serve>
beforeAll(() => {
  plain = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  secure = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: answer,
    tls: { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY },
  })
})
afterAll(async () => {
  await Promise.all([plain.stop(true), secure.stop(true)])
})

/** Names that lead where they are told to. */
const resolving =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const postTo = (
  url: string,
  reach: Reach = 'loopback',
  options: Partial<OutboundPostOptions> & { readonly resolve?: ReturnType<typeof resolving> } = {},
) => {
  const { resolve, ...others } = options
  const guard = {
    parseUrl: (text: string) => parseReachableUrl(text, reach),
    lookup: createGuardedLookup(reach, resolve),
  }
  return createOutboundPost({ guard, timeoutMs: 2_000, ...others })(url, {
    headers: { 'content-type': 'application/json', 'x-test': 'yes' },
    body: '{"größe":1}',
  })
}
const local = (path: string): string => `http://127.0.0.1:${plain.port}${path}`
const failure = async (attempt: Promise<unknown>): Promise<string> => {
  try {
    await attempt
  } catch (error) {
    expect(error).toBeInstanceOf(OutboundFailedError)
    return (error as OutboundFailedError).detail
  }
  throw new Error('it was sent')
}

describe('a POST', () => {
  test('brings the body and answers with the status', async () => {
    expect(await postTo(local('/taken'))).toEqual({ status: 201, retryAfterSeconds: null })
    expect(received.at(-1)).toMatchObject({ path: '/taken', body: '{"größe":1}' })
  })

  test('uses no connection again: the next one may lead elsewhere', async () => {
    const ports = new Set<number>()
    const counting = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request, server) => {
        ports.add(server.requestIP(request)?.port ?? 0)
        return new Response('taken', { status: 201, headers: { connection: 'keep-alive' } })
      },
    })
    try {
      for (let times = 0; times < 3; times++) await postTo(`http://127.0.0.1:${counting.port}/taken`)
      expect(ports.size).toBe(3)
    } finally {
      await counting.stop(true)
    }
  })

  test('follows no redirect', async () => {
    const before = received.length
    expect((await postTo(local('/redirect'))).status).toBe(307)
    expect(received.slice(before).map(({ path }) => path)).toEqual(['/redirect'])
  })

  test('tells how long a busy receiver wants to be left alone, where it says so in seconds', async () => {
    expect(await postTo(local('/busy'))).toEqual({ status: 503, retryAfterSeconds: 120 })
    expect(await postTo(local('/busy-until'))).toEqual({ status: 429, retryAfterSeconds: null })
  })

  test('gives a receiver so much time, from the first byte to the last', async () => {
    expect(await failure(postTo(local('/never'), 'loopback', { timeoutMs: 100 }))).toBe('the request timed out')
    expect(await failure(postTo(local('/drip'), 'loopback', { timeoutMs: 100 }))).toBe('the request timed out')
  })

  test('reads so much of an answer and hangs up', async () => {
    expect((await postTo(local('/endless'), 'loopback', { answerBytesMax: 100_000 })).status).toBe(200)
    await hungUp.promise
  })

  test('hangs up on an answer in tiny chunks, which goes on', async () => {
    const crumbs = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n#\r\n'.repeat(3_000)}`)
        },
      },
    })
    try {
      expect((await postTo(`http://127.0.0.1:${crumbs.port}/`)).status).toBe(200)
    } finally {
      crumbs.stop(true)
    }
  })

  test('names the kind of a failure and nothing that was sent', async () => {
    const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const { port } = free
    free.stop(true)
    expect(await failure(postTo(`http://127.0.0.1:${port}/canary`))).toMatch(/^could not connect( \(E[A-Z]+\))?$/)
    expect(await failure(postTo(`http://127.0.0.1:${port}/canary`))).not.toContain('canary')
  })
})

describe('over TLS a receiver', () => {
  const options = { certificateAuthority: TEST_CERTIFICATE, resolve: resolving('127.0.0.1') }
  const secured = (host: string): string => `https://${host}:${secure.port}/taken`

  test('is who its certificate says', async () => {
    // The name that the test certificate is made out to.
    expect((await postTo(secured('screener.example'), 'loopback', options)).status).toBe(201)
    const { resolve } = options
    expect(await failure(postTo(secured('screener.example'), 'loopback', { resolve }))).toStartWith('could not connect')
    expect(await failure(postTo(secured('receiver.example'), 'loopback', options))).toStartWith('could not connect')
  })
})

describe('a POST to a place that may not be asked is not sent', () => {
  // Each spelling of an address is in facts/reachable.test.ts, whose guard the service gives.
  test.each(['http://receiver.example/', 'https://127.0.0.1/', 'not a url'])('%s', async (url) => {
    expect(await failure(postTo(url, 'public'))).toStartWith('the URL ')
  })

  test('a name with an address that is not allowed', async () => {
    const attempt = postTo('https://receiver.example/', 'public', { resolve: resolving('1.1.1.1', '10.1.2.3') })
    expect(await failure(attempt)).toBe('the URL resolves to an address that is not allowed')
  })

  test('a name that is one thing when checked and another when used: it is looked up once', async () => {
    let lookups = 0
    const first = resolving('127.0.0.1')
    const second = resolving('10.1.2.3')
    const turning = () => {
      lookups += 1
      return (lookups === 1 ? first : second)()
    }
    const before = received.length
    const url = `http://receiver.example:${plain.port}/taken`
    expect((await postTo(url, 'loopback', { resolve: turning })).status).toBe(201)
    expect(lookups).toBe(1)
    expect(received.slice(before)).toMatchObject([{ host: `receiver.example:${plain.port}` }])
  })
})
