import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
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

const post = async (
  body: Bun.BodyInit | null,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(server.url, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Without a Content-Length: fetch sends a stream in chunks. */
const chunked = (...chunks: Uint8Array[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('a body in tiny chunks is refused, since each chunk costs time', async () => {
  const read = (count: number, size: number) =>
    readJsonBody(
      new Request('http://localhost/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: chunked(...Array.from({ length: count }, () => bytes('x'.repeat(size)))),
      }),
    ).catch((error: unknown) => error)
  expect(await read(1_010, 1)).toBeInstanceOf(BodyFragmentedError)
  expect(await read(1_010, 200)).toBe('x'.repeat(202_000))
})

describe('content type', () => {
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
  ])('%p is not', async (type) => {
    expect(isJsonContentType(type)).toBe(false)
    const { status, body } = await post('{}', { 'content-type': type })
    expect({ status, code: body['code'] }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  test('none is not', async () => {
    expect((await post(bytes('{}') as Bun.BodyInit, {})).status).toBe(415)
  })

  test('a compressed body is refused, identity is not compressed', async () => {
    const json = { 'content-type': 'application/json' }
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x']) {
      expect((await post('{}', { ...json, 'content-encoding': encoding })).status).toBe(415)
    }
    expect((await post('{}', { ...json, 'content-encoding': 'Identity' })).status).toBe(200)
  })
})

describe('size', () => {
  test('256 KiB and not a byte more, announced or chunked', async () => {
    expect(JSON_BODY_MAX_BYTES).toBe(262_144)
    const largest = 'x'.repeat(JSON_BODY_MAX_BYTES)
    expect(await post(largest)).toEqual({ status: 200, body: { text: largest } })
    expect((await post(chunked(bytes(largest)))).status).toBe(200)
    for (const body of [`${largest}x`, chunked(bytes(`${largest}x`)), chunked(bytes(largest), bytes('x'))]) {
      const refused = await post(body)
      expect({ status: refused.status, code: refused.body['code'] }).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    }
    // Bytes count, not characters.
    expect((await post('é'.repeat(JSON_BODY_MAX_BYTES / 2 + 1))).status).toBe(413)
  })

  test('an announced size over the limit is refused before anything is read', () => {
    const request = new Request('http://x/', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'content-length': String(JSON_BODY_MAX_BYTES + 1) },
    })
    expect(() => readJsonBody(request)).toThrow('exceeds 262144 bytes')
    expect(request.bodyUsed).toBe(false)
  })

  test('a size that is not digits is 400, whatever it is', () => {
    for (const size of ['x', '1e9', 'Infinity', '-1', '+2', '0x2', '2.0', '2, 2', '2,2', '999999999, 999999999']) {
      const headers = { 'content-type': 'application/json', 'content-length': size }
      expect(() => readJsonBody(new Request('http://x/', { method: 'POST', body: '{}', headers }))).toThrow(
        new ContentLengthInvalidError(),
      )
    }
  })

  test('a size that is sent twice is 400', async () => {
    const size = 'Content-Length: 2\r\n'
    const answer = await exchange(
      Number(server.port),
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${size}${size}Connection: close\r\n\r\n{}`,
    )
    expect(answer).toStartWith('HTTP/1.1 400 ')
    expect(answer).toContain('"code":"INVALID_REQUEST"')
  })

  test('another limit', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '2' }
    const request = () => new Request('http://x/', { method: 'POST', body: '{}', headers })
    expect(() => readJsonBody(request(), { maxBytes: 1 })).toThrow('exceeds 1 bytes')
    expect(await readJsonBody(request(), { maxBytes: 2 })).toBe('{}')
  })

  test('an endless body ends at the limit, and the next request works', async () => {
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

  test('what comes after the limit is neither read nor kept', async () => {
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
    const request = new Request('http://x/', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    await expect(readJsonBody(request)).rejects.toThrow('exceeds 262144 bytes')
    expect(cancelled).toBe(true)
    expect(pulled).toBeLessThan(10)
  })

  test('no body is an empty text', async () => {
    expect(await post(null)).toEqual({ status: 200, body: { text: '' } })
    expect(await readJsonBody(new Request('http://x/', { headers: { 'content-type': 'application/json' } }))).toBe('')
  })
})

describe('encoding', () => {
  test.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['0xff', [0xff]],
    ['an overlong form', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut sequence', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('%s is refused', async (_name, octets) => {
    for (const body of [new Uint8Array(octets) as Bun.BodyInit, chunked(new Uint8Array(octets))]) {
      const { status, body: problem } = await post(body)
      expect({ status, code: problem['code'] }).toEqual({ status: 400, code: 'MALFORMED_JSON' })
    }
    // The decoder is shared: a failure leaves nothing behind.
    expect(await post('é')).toEqual({ status: 200, body: { text: 'é' } })
  })

  test('a byte order mark stays, for the parser to refuse', async () => {
    expect((await post(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]) as Bun.BodyInit)).body).toEqual({
      text: '\ufeff{}',
    })
  })

  test('a character cut in two by the chunks is one character', async () => {
    const [first, second] = [new Uint8Array([0x22, 0xf0, 0x9f]), new Uint8Array([0x98, 0x80, 0x22])]
    expect((await post(chunked(first, second))).body).toEqual({ text: '"😀"' })
  })
})

describe('bodies that never end', () => {
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const partial = [
    ['announced', `${HEAD}Content-Length: 10\r\n\r\n{"a":`],
    ['chunked', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
  ] as const

  const open = async (sent: string): Promise<{ socket: Socket; reading: Promise<void>; answer: Promise<string> }> => {
    const reading = new Promise<void>((resolve) => {
      onReading = resolve
    })
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

  test.each(partial)('%s: 408 at the deadline, and the next request works', async (_name, sent) => {
    late.length = 0
    const ended = new Promise<void>((resolve) => {
      onLate = resolve
    })
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

  test.each(partial)('%s: a client that leaves is forgotten', async (_name, sent) => {
    const { socket, reading } = await open(sent)
    await reading
    expect(deadlines.active()).toBe(1)
    socket.destroy()
    // The server notices on its own turn of the loop.
    while (deadlines.active() > 0) await new Promise((resolve) => setImmediate(resolve))
    onReading = () => undefined
    expect((await post('{}')).status).toBe(200)
  })
})
