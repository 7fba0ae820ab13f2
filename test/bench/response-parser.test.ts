// The HTTP response parser of the load generator.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createResponseParser, ResponseMalformedError } from '../../bench/load/response-parser.ts'

const collect = () => {
  const seen: { readonly status: number; readonly body: string; readonly closing: boolean }[] = []
  const parser = createResponseParser(({ status, bytes, bodyStart, bodyEnd, closing }) => {
    seen.push({ status, body: Buffer.from(bytes.subarray(bodyStart, bodyEnd)).toString(), closing })
  })
  return { seen, parser }
}

const response = (status: number, body: string, headers = ''): string =>
  `HTTP/1.1 ${status} Some Reason\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe('response parser', () => {
  test('reads any responses in any division into chunks', () => {
    const responses = fc.array(
      fc.record({ status: fc.constantFrom(200, 400, 408, 503), body: fc.string({ maxLength: 60, unit: 'grapheme' }) }),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(responses, fc.array(fc.nat(400), { maxLength: 6 }), (wanted, cuts) => {
        const { seen, parser } = collect()
        const bytes = Buffer.from(wanted.map(({ status, body }) => response(status, body)).join(''))
        const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
        for (let i = 1; i < edges.length; i++) parser.push(bytes.subarray(edges[i - 1], edges[i]))
        expect(seen.map(({ status, body }) => ({ status, body }))).toEqual(wanted)
      }),
    )
  })

  test.each([
    [
      'header names in any case, and a closing connection',
      'HTTP/1.1 503 X\r\nCONNECTION: Close\r\ncontent-length:2\r\n\r\nno',
      { status: 503, body: 'no', closing: true },
    ],
    ['a 204 without a length', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', closing: false }],
    [
      'headers with names like Content-Length',
      response(200, 'body', 'Content-Length-Hint: 1\r\nX-Content-Length: 2\r\n'),
      { status: 200, body: 'body', closing: false },
    ],
  ])('reads %s', (_what, text, expected) => {
    const { seen, parser } = collect()
    parser.push(Buffer.from(text))
    expect(seen).toEqual([expected])
  })

  test.each([
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a bad length', 'HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\na'],
    ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\na'],
    ['a huge length', 'HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\na'],
    ['no status line', 'hello there, nice to see you\r\nContent-Length: 1\r\n\r\na'],
  ])('refuses %s', (_what, text) => {
    const { seen, parser } = collect()
    expect(() => parser.push(Buffer.from(text))).toThrow(ResponseMalformedError)
    expect(seen).toEqual([])
  })

  test('reset discards an incomplete response', () => {
    const { seen, parser } = collect()
    parser.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Le'))
    parser.reset()
    parser.push(Buffer.from(response(400, 'x')))
    expect(seen.map(({ status }) => status)).toEqual([400])
  })
})
