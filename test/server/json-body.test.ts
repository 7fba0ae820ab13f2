// Reading of JSON bodies: content types, sizes, encodings, and bodies that never end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { nextTurn } from '../../src/lib/time.ts'
import { createDeadlines } from '../../src/server/deadline.ts'
import {
  BodyFragmentedError,
  ContentLengthInvalidError,
  isJsonContentType,
  JSON_BODY_MAX_BYTES,
  readJsonBody,
} from '../../src/server/json-body.ts'
import { jsonResponse, problemResponse } from '../../src/server/response.ts'
import { exchange } from './exchange.ts'
import { createManualClock, createManualTimers } from './manual-clock.ts'

const clock = createManualClock()
const timers = createManualTimers()
const late: unknown[] = []
let onLate: () => void = () => undefined
let onReading: () => void = () => undefined
const deadlines = createDeadlines({
  clock,
  after: timers.after,
  durationMs: 25_000,
  reportLate: (error) => {
    late.push(error)
    onLate()
  },
})

const JSON_TYPE = { 'content-type': 'application/json' }
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      try {
        const text = await deadlines.watch(() => {
          const reading = readJsonBody(request)
          onReading()
          return reading
        })
        return jsonResponse(JSON.stringify({ text }), 'r')
      } catch (error) {
        return problemResponse(error, 'r')
      }
    },
  })
})
afterAll(async () => {
  deadlines.stop()
  await server.stop(true)
})

const post = async (body: Bun.BodyInit | null, headers: Record<string, string> = JSON_TYPE) => {
  const response = await fetch(server.url, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const refusalOf = async (...parameters: Parameters<typeof post>) => {
  const { status, body } = await post(...parameters)
  return [status, body['code']]
}
const requestOf = (body: Bun.BodyInit, headers: Record<string, string> = {}): Request =>
  new Request('http://x/', { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } })

/** A body without Content-Length: fetch sends a stream in chunks. */
const chunked = (...chunks: Uint8Array[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('a body in tiny chunks is rejected, because each chunk costs processor time', async () => {
  const read = (size: number) =>
    readJsonBody(requestOf(chunked(...Array.from({ length: 1_010 }, () => bytes('x'.repeat(size)))))).catch(
      (error: unknown) => error,
    )
  expect(await read(1)).toBeInstanceOf(BodyFragmentedError)
  expect(await read(200)).toBe('x'.repeat(202_000))
})

describe('the content type', () => {
  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'Application/Json ; Charset="utf-8"',
  ])('%s is JSON', async (type) => {
    expect(isJsonContentType(type)).toBe(true)
    expect((await post('{}', { 'content-type': type })).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; x=y',
    'application/json; boundary=x',
    'application/json;',
    'application/json, text/plain',
    'application /json',
    'text/plain; application/json',
    '',
  ])('%p is not JSON', async (type) => {
    expect(isJsonContentType(type)).toBe(false)
    expect(await refusalOf('{}', { 'content-type': type })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test('is required', async () => expect((await post(bytes('{}') as Bun.BodyInit, {})).status).toBe(415))

  test.each([
    ...['gzip', 'br', 'deflate', 'identity, gzip', 'x'].map((encoding) => [encoding, 415] as const),
    ['Identity', 200] as const,
  ])('with the encoding %s is %d', async (encoding, status) => {
    expect((await post('{}', { ...JSON_TYPE, 'content-encoding': encoding })).status).toBe(status)
  })
})

describe('the size', () => {
  test('is at most 256 KiB, with and without Content-Length', async () => {
    expect(JSON_BODY_MAX_BYTES).toBe(262_144)
    const largest = 'x'.repeat(JSON_BODY_MAX_BYTES)
    expect(await post(largest)).toEqual({ status: 200, body: { text: largest } })
    expect((await post(chunked(bytes(largest)))).status).toBe(200)
    const twoBytes = 'é'.repeat(JSON_BODY_MAX_BYTES / 2 + 1)
    for (const body of [`${largest}x`, chunked(bytes(`${largest}x`)), chunked(bytes(largest), bytes('x')), twoBytes]) {
      expect(await refusalOf(body)).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    }
  })

  test('is compared with Content-Length before the body is read', () => {
    const request = requestOf('{}', { 'content-length': String(JSON_BODY_MAX_BYTES + 1) })
    expect(() => readJsonBody(request)).toThrow('exceeds 262144 bytes')
    expect(request.bodyUsed).toBe(false)
  })

  test.each(['x', '1e9', 'Infinity', '-1', '+2', '0x2', '2.0', '2, 2', '2,2', '999999999, 999999999'])(
    'cannot be %p',
    (size) => {
      expect(() => readJsonBody(requestOf('{}', { 'content-length': size }))).toThrow(new ContentLengthInvalidError())
    },
  )

  test('cannot occur twice', async () => {
    const size = 'Content-Length: 2\r\n'
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    const answer = await exchange(Number(server.port), `${head}${size}${size}Connection: close\r\n\r\n{}`)
    expect(answer).toStartWith('HTTP/1.1 400 ')
    expect(answer).toContain('"code":"INVALID_REQUEST"')
  })

  test('can have a different limit', async () => {
    const request = () => requestOf('{}', { 'content-length': '2' })
    expect(() => readJsonBody(request(), { maxBytes: 1 })).toThrow('exceeds 1 bytes')
    expect(await readJsonBody(request(), { maxBytes: 2 })).toBe('{}')
  })

  test('limits an endless body, and the next request works', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536
        if (sent > 64 * JSON_BODY_MAX_BYTES) controller.close()
        else controller.enqueue(new Uint8Array(65_536).fill(120))
      },
    })
    expect((await post(endless)).status).toBe(413)
    expect((await post('{}')).status).toBe(200)
  })

  test('stops the reading of a body at the limit', async () => {
    let pulled = 0
    let cancelled = false
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(65_536))
        if (pulled > 1_000) controller.close()
      },
      cancel() {
        cancelled = true
      },
    })
    await expect(readJsonBody(requestOf(body))).rejects.toThrow('exceeds 262144 bytes')
    expect(cancelled).toBe(true)
    expect(pulled).toBeLessThan(10)
  })

  test('can be zero', async () => {
    expect(await post(null)).toEqual({ status: 200, body: { text: '' } })
    expect(await readJsonBody(new Request('http://x/', { headers: JSON_TYPE }))).toBe('')
  })
})

describe('the encoding', () => {
  test.each([
    ['a single continuation byte', [0x22, 0x80, 0x22]],
    ['0xff', [0xff]],
    ['an overlong form', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['an incomplete sequence', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('cannot be %s', async (_name, octets) => {
    for (const body of [new Uint8Array(octets) as Bun.BodyInit, chunked(new Uint8Array(octets))]) {
      expect(await refusalOf(body)).toEqual([400, 'MALFORMED_JSON'])
    }
    // A failure does not affect later bodies, which share the decoder.
    expect(await post('é')).toEqual({ status: 200, body: { text: 'é' } })
  })

  test('keeps a byte order mark, which the parser refuses', async () => {
    const body = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]) as Bun.BodyInit
    expect((await post(body)).body).toEqual({ text: '\ufeff{}' })
  })

  test('joins characters across chunks', async () => {
    const [first, second] = [new Uint8Array([0x22, 0xf0, 0x9f]), new Uint8Array([0x98, 0x80, 0x22])]
    expect((await post(chunked(first, second))).body).toEqual({ text: '"😀"' })
  })
})

describe('a body that never ends', () => {
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const partial = [
    ['Content-Length', `${HEAD}Content-Length: 10\r\n\r\n{"a":`],
    ['chunked', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
  ] as const

  const open = async (sent: string): Promise<{ socket: Socket; reading: Promise<void>; answer: Promise<string> }> => {
    const { promise: reading, resolve } = Promise.withResolvers<void>()
    onReading = resolve
    const socket = connect(Number(server.port), '127.0.0.1')
    const answer = new Promise<string>((resolve, reject) => {
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
        if (text.includes('}')) resolve(text)
      })
      socket.on('error', reject)
    })
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(sent)
    return { socket, reading, answer }
  }

  test.each(partial)('with %s gets 408 at the deadline, and the next request works', async (_name, sent) => {
    late.length = 0
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    onLate = resolve
    const { socket, reading, answer } = await open(sent)
    await reading
    expect(deadlines.active()).toBe(1)
    clock.advance(25_000)
    timers.fire()
    expect(await answer).toStartWith('HTTP/1.1 408 ')
    expect(deadlines.active()).toBe(0)
    socket.destroy()
    await ended
    expect(late).toHaveLength(1)
    onReading = () => undefined
    expect((await post('{}')).status).toBe(200)
  })

  test.each(partial)('with %s is dropped if the client leaves', async (_name, sent) => {
    const { socket, reading } = await open(sent)
    await reading
    expect(deadlines.active()).toBe(1)
    socket.destroy()
    // The server notices the end of the connection in a later turn of the event loop.
    while (deadlines.active() > 0) await nextTurn()
    onReading = () => undefined
    expect((await post('{}')).status).toBe(200)
  })
})
