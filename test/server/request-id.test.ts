// Request ids: the caller's own, or a generated one.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRequestIds, isVisibleAscii } from '../../src/server/request-id.ts'

test.each(['a', 'trade-42', '!"#$%&~', 'x'.repeat(128), '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'])('keeps %s', (own) =>
  expect(createRequestIds()(own)).toBe(own),
)

test.each([
  ['a missing id', null],
  ['an empty id', ''],
  ['a long id', 'x'.repeat(129)],
  ['an id with a space', 'a b'],
  ['an id with a line feed', 'a\nb'],
  ['an id with a control character', 'a\u007f'],
  ['an id with other than ASCII characters', 'é'],
  ['two headers', 'a, b'],
])('replaces %s', (_name, header) => {
  const generated = createRequestIds()(header)
  expect(isVisibleAscii(generated, 128)).toBe(true)
  expect(generated).not.toBe(header ?? '')
})

test('never repeats a generated id, in one process or two', () => {
  const processes = [createRequestIds(), createRequestIds()]
  const ids = processes.flatMap((requestId) => Array.from({ length: 10_000 }, () => requestId(null)))
  expect(new Set(ids).size).toBe(20_000)
})

test('visible ASCII is 0x21 to 0x7e', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5 }), (text) => {
      expect(isVisibleAscii(text, 4)).toBe(/^[\x21-\x7e]{1,4}$/.test(text))
    }),
  )
})
