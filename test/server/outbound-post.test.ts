// A POST to a customer's URL: forbidden addresses, and receivers that are slow, endless, redirecting or impersonated.
// The test uses the guard of the service.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reach } from '../../src/domain/list.ts'
import { createGuardedLookup, parseReachableUrl } from '../../src/facts/reachable.ts'
import { createOutboundPost, OutboundFailedError, type OutboundPostOptions } from '../../src/server/outbound-post.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '../facts/test-certificate.ts'

const received: { readonly path: string; readonly host: string | null; readonly body: string }[] = []
/** Resolves when a client of `/endless` disconnects. */
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
    case '/endless': {
      const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536))
      return new Response(new ReadableStream({ pull, cancel: () => hungUp.resolve() }))
    }
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
  const tls = { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }
  secure = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer, tls })
})
afterAll(async () => {
  await Promise.all([plain.stop(true), secure.stop(true)])
})

/** Resolves every name to the addresses. */
const resolving =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const postTo = (
  url: string,
  reach: Reach = 'loopback',
  { resolve, ...options }: Partial<OutboundPostOptions> & { readonly resolve?: ReturnType<typeof resolving> } = {},
) => {
  const parseUrl = (text: string) => parseReachableUrl(text, reach)
  const guard = { parseUrl, lookup: createGuardedLookup(reach, resolve) }
  return createOutboundPost({ guard, timeoutMs: 2_000, ...options })(url, {
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
  test('sends the body and returns the status', async () => {
    expect(await postTo(local('/taken'))).toEqual({ status: 201, retryAfterSeconds: null })
    expect(received.at(-1)).toMatchObject({ path: '/taken', body: '{"größe":1}' })
  })

  test('does not reuse its connection, because the next URL may resolve elsewhere', async () => {
    const ports = new Set<number>()
    await using counting = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request, server) => {
        ports.add(server.requestIP(request)?.port ?? 0)
        return new Response('taken', { status: 201, headers: { connection: 'keep-alive' } })
      },
    })
    for (let times = 0; times < 3; times++) await postTo(`http://127.0.0.1:${counting.port}/taken`)
    expect(ports.size).toBe(3)
  })

  test('follows no redirect', async () => {
    const before = received.length
    expect((await postTo(local('/redirect'))).status).toBe(307)
    expect(received.slice(before).map(({ path }) => path)).toEqual(['/redirect'])
  })

  test('returns the Retry-After of a busy receiver if it is in seconds', async () => {
    expect(await postTo(local('/busy'))).toEqual({ status: 503, retryAfterSeconds: 120 })
    expect(await postTo(local('/busy-until'))).toEqual({ status: 429, retryAfterSeconds: null })
  })

  test.each(['/never', '/drip'])('limits the time from the first byte to the last: %s', async (path) => {
    expect(await failure(postTo(local(path), 'loopback', { timeoutMs: 100 }))).toBe('the request timed out')
  })

  test('limits the size of the response, and disconnects', async () => {
    expect((await postTo(local('/endless'), 'loopback', { answerBytesMax: 100_000 })).status).toBe(200)
    await hungUp.promise
  })

  test('disconnects from an endless response in tiny chunks', async () => {
    const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n#\r\n'.repeat(3_000)}`
    const socket = { data: (client: Bun.Socket) => void client.write(answer) }
    using receiver = Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
    expect((await postTo(`http://127.0.0.1:${receiver.port}/`)).status).toBe(200)
  })

  test('reports the kind of a failure without the sent data', async () => {
    const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const { port } = free
    free.stop(true)
    expect(await failure(postTo(`http://127.0.0.1:${port}/canary`))).toMatch(/^could not connect( \(E[A-Z]+\))?$/)
  })
})

test('a receiver over TLS needs a certificate for its name', async () => {
  const options = { certificateAuthority: TEST_CERTIFICATE, resolve: resolving('127.0.0.1') }
  const { resolve } = options
  const post = (host: string, settings: object) => postTo(`https://${host}:${secure.port}/taken`, 'loopback', settings)
  // The name in the test certificate.
  expect((await post('screener.example', options)).status).toBe(201)
  expect(await failure(post('screener.example', { resolve }))).toStartWith('could not connect')
  expect(await failure(post('receiver.example', options))).toStartWith('could not connect')
})

describe('a POST is not sent to', () => {
  // test/facts/reachable.test.ts covers every spelling of addresses.
  test.each(['http://receiver.example/', 'https://127.0.0.1/', 'not a url'])('%s', async (url) => {
    expect(await failure(postTo(url, 'public'))).toStartWith('the URL ')
  })

  test('a name with a forbidden address', async () => {
    const attempt = postTo('https://receiver.example/', 'public', { resolve: resolving('1.1.1.1', '10.1.2.3') })
    expect(await failure(attempt)).toBe('the URL resolves to an address that is not allowed')
  })

  test('an address other than the checked address: a name is resolved only once', async () => {
    let lookups = 0
    const resolve = () => {
      lookups += 1
      return resolving(lookups === 1 ? '127.0.0.1' : '10.1.2.3')()
    }
    const before = received.length
    const url = `http://receiver.example:${plain.port}/taken`
    expect((await postTo(url, 'loopback', { resolve })).status).toBe(201)
    expect(lookups).toBe(1)
    expect(received.slice(before)).toMatchObject([{ host: `receiver.example:${plain.port}` }])
  })
})
