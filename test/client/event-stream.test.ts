// The event stream parser: the examples of the standard, and arbitrary network chunks.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEventParser, EventTooLongError } from '../../src/client/event-stream.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => createEventParser().push(bytes(text))
const dataOf = (text: string): string[] => parse(text).map(({ data }) => data)

describe('the parser', () => {
  test('reads the examples of the standard (WHATWG HTML, 9.2.6)', () => {
    expect(dataOf('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual(['YHOO\n+2\n10'])
    expect(parse(': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n')).toEqual(
      [
        { data: 'first event', lastEventId: '1' },
        { data: 'second event', lastEventId: null },
      ],
    )
    expect(dataOf('data\n\ndata\ndata\n\ndata:')).toEqual(['', '\n'])
    expect(dataOf('data:test\n\ndata: test\n\n')).toEqual(['test', 'test'])
  })

  test('accepts any line ending and a leading byte order mark, and skips comments and unknown fields', () => {
    expect(dataOf('\uFEFFdata: a\r\rdata: b\r\n\r\n: keep-alive\n\nevent: x\ncolour: red\ndata: c\n\n')).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  test('returns an event only after its empty line', () => {
    const parser = createEventParser()
    expect(parser.push(bytes('data: a\n'))).toEqual([])
    expect(parser.push(bytes('\n'))).toEqual([{ data: 'a', lastEventId: null }])
    expect(parser.push(bytes('data: never\n'))).toEqual([])
  })

  test('starts with the given event id, and reads the retry field', () => {
    const parser = createEventParser('41')
    expect(parser.push(bytes('retry: 3000\ndata: a\n\nid: 42\ndata: b\n\n'))).toEqual([
      { data: 'a', lastEventId: '41' },
      { data: 'b', lastEventId: '42' },
    ])
    expect(parser.retryMs()).toBe(3000)
    parser.push(bytes('retry: soon\n'))
    expect(parser.retryMs()).toBe(3000)
  })

  test('ignores an id that is invalid in a header', () => {
    expect(parse('id: ü\ndata: a\n\n')).toEqual([{ data: 'a', lastEventId: null }])
  })

  test('returns the same events for any division into chunks', () => {
    const line = fc.constantFrom('data: ä🦊', 'data:x', 'id: 7', ': keep-alive', '', 'retry: 5', 'data')
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')))
      .map((lines) => `${lines.map((pair) => pair.join('')).join('')}data: end\n\n`)
    fc.assert(
      fc.property(text, fc.array(fc.nat(12)), (whole, sizes) => {
        const all = bytes(whole)
        const parser = createEventParser()
        const events = []
        let at = 0
        for (const size of sizes) {
          events.push(...parser.push(all.subarray(at, at + size)))
          at += size
        }
        events.push(...parser.push(all.subarray(Math.min(at, all.length))))
        expect(events).toEqual(parse(whole))
        expect(events.at(-1)?.data.endsWith('end')).toBe(true)
      }),
    )
  })

  test('refuses an event that is too long, in any division into chunks', () => {
    const part = 'x'.repeat(30_000)
    const pushAll = (parts: readonly string[]) => () => {
      const parser = createEventParser()
      for (const text of parts) parser.push(bytes(text))
    }
    expect(pushAll([`data: ${part}`, part, part])).toThrow(EventTooLongError)
    expect(pushAll(Array(3).fill(`data: ${part}\n`))).toThrow(EventTooLongError)
    expect(pushAll([`data: ${part}\n`.repeat(3)])).toThrow(EventTooLongError)
    expect(pushAll([`: ${part.repeat(3)}\n\n`])).toThrow(EventTooLongError)
    expect(pushAll(['data\n'.repeat(65_537)])).toThrow(EventTooLongError)
    expect(pushAll([`data: ${part}\ndata: ${part}\n`, '\n'])).not.toThrow()
  })

  test('reads a stream of any length', () => {
    const parser = createEventParser()
    const event = bytes(`data: ${'x'.repeat(60_000)}\n\n`)
    for (let i = 0; i < 40; i++) expect(parser.push(event)).toHaveLength(1)
  })

  test('reads each byte once if a server sends one byte at a time', () => {
    const parser = createEventParser()
    const letter = bytes('x')
    const before = process.cpuUsage()
    for (let i = 0; i < 60_000; i++) parser.push(letter)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(150)
  })
})
