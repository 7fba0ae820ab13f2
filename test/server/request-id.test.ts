import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRequestIds, isVisibleAscii } from '../../src/server/request-id.ts'

describe('request ids', () => {
  test("the caller's own is kept", () => {
    const requestId = createRequestIds()
    for (const own of ['a', 'trade-42', '!"#$%&~', 'x'.repeat(128), '4bf92f35-77b3-4da6-a3ce-929d0e0e4736']) {
      expect(requestId(own)).toBe(own)
    }
  })

  test.each([
    ['none', null],
    ['an empty one', ''],
    ['one that is too long', 'x'.repeat(129)],
    ['one with a space', 'a b'],
    ['one with a line feed', 'a\nb'],
    ['one with a control character', 'a\u007f'],
    ['one that is not ASCII', 'é'],
    ['two headers', 'a, b'],
  ])('%s: one is made', (_name, header) => {
    const made = createRequestIds()(header)
    expect(isVisibleAscii(made, 128)).toBe(true)
    expect(made).not.toBe(header ?? '')
  })

  test('made ones never repeat, in one process or two', () => {
    const processes = [createRequestIds(), createRequestIds()]
    const ids = processes.flatMap((requestId) => Array.from({ length: 10_000 }, () => requestId(null)))
    expect(new Set(ids).size).toBe(20_000)
  })

  test('isVisibleAscii is 0x21 to 0x7e', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5 }), (text) => {
        expect(isVisibleAscii(text, 4)).toBe(/^[\x21-\x7e]{1,4}$/.test(text))
      }),
    )
  })
})
