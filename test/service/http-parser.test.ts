// Requests that reach no route. docs/attestation-api.md lists the responses of Bun's HTTP parser; update the list if a version
// of Bun changes a response.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exchange } from '../server/exchange.ts'
import { atFreePorts, freePort, type RunningService, startService } from './start-service.ts'

const HOST = 'Host: 127.0.0.1\r\nConnection: close\r\n'
const get = (headers: string, target = '/'): string => `GET ${target} HTTP/1.1\r\n${HOST}${headers}\r\n`
const post = (headers: string, body = ''): string => `POST / HTTP/1.1\r\n${HOST}${headers}\r\n${body}`

/** Malformed requests, by the entry in the documentation. */
const BYTES: Readonly<Record<string, readonly string[]>> = {
  'Not HTTP, a TLS handshake on a listener without TLS, or no `Host`': [
    'hello\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
  ],
  'A request target that is neither a path nor a URL': [get('', 'livez'), `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  'A malformed header: no colon, folded, a space in its name, a NUL byte': [
    get('X-A\r\n'),
    get('X-A: b\r\n c\r\n'),
    get('X-A : b\r\n'),
    get('X-A: a\0b\r\n'),
  ],
  'A malformed `Content-Length`, differing values, or one with chunks': [
    post('Content-Length: abc\r\n'),
    post('Content-Length: -1\r\n'),
    post('Content-Length: 18446744073709551616\r\n'),
    post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'),
    post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  ],
  'A `Content-Length` above 9007199254740991': [post('Content-Length: 9007199254740993\r\n')],
  'Request line and headers above 16 KiB together, or more than 198 headers': [
    get(`X-A: ${'a'.repeat(16_384)}\r\n`),
    get('', `/${'a'.repeat(16_384)}`),
    // HOST contains two headers.
    get('X-A: a\r\n'.repeat(197)),
  ],
  'A version other than HTTP/1.0 and HTTP/1.1, or lines that end in a bare LF': [
    `GET / HTTP/2.0\r\n${HOST}\r\n`,
    'GET /\r\n\r\n',
    `GET / HTTP/1.1\n${HOST.replaceAll('\r', '')}\n`,
  ],
  'A method that Bun does not know, or one in lower case': [
    `BREW / HTTP/1.1\r\n${HOST}\r\n`,
    `get / HTTP/1.1\r\n${HOST}\r\n`,
  ],
  'A second request before the answer to the first (HTTP pipelining)': ['/', '/livez', '/docs', '/metrics'].map(
    (target) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n${get('', target)}`,
  ),
}
/** The entry that needs a route that reads the body. */
const CHUNKS = 'Malformed chunks, once the route reads the body'

const PAGE = readFileSync(join(import.meta.dir, '..', '..', 'docs/attestation-api.md'), 'utf8')
const table = new Map(
  [...(PAGE.split('### Errors of the HTTP parser')[1] ?? '').matchAll(/^- (\d{3}|closed without answer): (.+)$/gm)].map(
    ([, answer = '', sent = '']) => [sent, answer],
  ),
)

let service: RunningService
/** Ports by listener. */
let ports: Readonly<Record<string, number>>

beforeAll(async () => {
  await atFreePorts(async () => {
    ports = { api: freePort(), portal: freePort(), dashboard: freePort(), metrics: freePort() }
    const environment = Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [`COUNTERSIGN_${name.toUpperCase()}_LISTEN`, `127.0.0.1:${port}`]),
    )
    service = await startService({ environment: { ...environment, COUNTERSIGN_WORKERS: '1' } })
  })
})
afterAll(async () => {
  await service.stop()
})

/** Returns the status, and the content type of the body. */
const answerOf = (received: string): { readonly answer: string; readonly body: string } => {
  const [head = '', body = ''] = received.split('\r\n\r\n')
  const type = /^content-type: (.+)$/im.exec(head)?.[1]?.trim() ?? ''
  return { answer: /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'closed without answer', body: body === '' ? '' : type }
}

test('the documentation lists exactly the requests of this test', () => {
  expect([...table.keys()].sort()).toEqual([...Object.keys(BYTES), CHUNKS].sort())
})

describe.each(['api', 'portal', 'dashboard', 'metrics'])('at %s', (listener) => {
  const send = async (bytes: string) => answerOf(await exchange(ports[listener] ?? 0, bytes))

  test('the parser responds as documented', async () => {
    for (const [what, all] of Object.entries(BYTES)) {
      for (const bytes of all) {
        const sent = `${what}: ${JSON.stringify(bytes.slice(0, 80))}`
        expect({ sent, ...(await send(bytes)) }).toEqual({ sent, answer: table.get(what) ?? '', body: '' })
      }
    }
  })

  test('other methods and bodies of any length get problem+json', async () => {
    const path = { api: '/v2/attestation', portal: '/api/enter', dashboard: '/admin/v1/me', metrics: '/metrics' }[
      listener
    ]
    for (const method of ['PATCH', 'TRACE', 'PROPFIND', 'CONNECT', 'LOCK']) {
      const { answer, body } = await send(`${method} ${path} HTTP/1.1\r\n${HOST}\r\n`)
      // The admin API authenticates first.
      expect(`${method} ${answer} ${body}`).toMatch(/^\w+ 40[15] application\/problem\+json$/)
    }
    for (const length of [12 * 1024 ** 2, 2 * 1024 ** 3, Number.MAX_SAFE_INTEGER]) {
      const { answer, body } = await send(
        `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`,
      )
      expect(`${length} ${answer} ${body}`).toMatch(/^\d+ 4(01|03|05|13) application\/problem\+json$/)
    }
  })
})

test.each([
  [
    'malformed chunks',
    'Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n',
    { answer: table.get(CHUNKS) ?? '', body: '' },
  ],
  [
    'a body above the limit of the route',
    'Content-Length: 2147483648\r\n\r\n{',
    { answer: '413', body: 'application/problem+json' },
  ],
])('%s in an authenticated request', async (_name, rest, expected) => {
  const key = `x-api-key: ${service.quickstart['ATTESTATION_API_KEY']}\r\nContent-Type: application/json\r\n`
  const received = await exchange(ports['api'] ?? 0, `POST /v2/attestation HTTP/1.1\r\n${HOST}${key}${rest}`)
  expect(answerOf(received)).toEqual(expected)
})
