// The strict JSON parser: its refusals, and properties that compare it with JSON.parse.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CountersignError, type ErrorCode } from '../../src/domain/errors.ts'
import { JSON_DEPTH_MAX, parseStrictJson, parseStrictJsonObject } from '../../src/server/strict-json.ts'

const codeOf = (run: () => unknown): ErrorCode | null => {
  try {
    run()
    return null
  } catch (error) {
    if (error instanceof CountersignError) return error.code
    throw error
  }
}

describe('refuses', () => {
  test.each([
    ['an empty text', ''],
    ['spaces', ' \n'],
    ['half an object', '{"a":'],
    ['an unterminated string', '{"a":"b'],
    ['a string ending in an escape', '{"a":"b\\'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{"a":1/**/}'],
    ['two documents', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
    ['NaN', '{"a":NaN}'],
    ['a leading zero', '{"a":01}'],
    ['a raw control character', '{"a":"\u0001"}'],
    ['colons without members', ':::'],
    ['only an opening quote', '"'],
    ['a lone high surrogate', '{"a":"\\ud800"}'],
    ['a lone low surrogate', '{"a":["x\\udc00"]}'],
    ['a lone surrogate in a key', '{"\\ud800":1}'],
    ['a lone surrogate in nested values', '[[{"a":{"b":"\\udfff"}}]]'],
  ])('malformed: %s', (_name, text) => expect(codeOf(() => parseStrictJson(text))).toBe('MALFORMED_JSON'))

  test.each([
    ['adjacent', '{"a":1,"a":2}'],
    ['apart', '{"a":1,"b":2,"c":3,"a":1}'],
    ['once escaped', '{"a":1,"\\u0061":2}'],
    ['both escaped, differently', '{"\\u0041/":1,"A\\/":2}'],
    ['empty keys', '{"":1,"":2}'],
    ['inside an object', '{"x":{"a":1,"a":1}}'],
    ['inside an array', '[[{"a":1,"a":1}]]'],
    ['in the second of two objects', '[{"a":1},{"a":1,"a":1}]'],
    ['integer-like keys', '{"1":1,"1":2}'],
    ['next to a key with a colon and quotes', '{"a\\":\\"":1,"b":":","b":2}'],
    ['with surrogate pairs', '{"\\ud83d\\ude00":1,"😀":2}'],
  ])('duplicate keys: %s', (_name, text) => expect(codeOf(() => parseStrictJson(text))).toBe('DUPLICATE_KEY'))

  test.each([
    ['[', '', ']'],
    ['{"a":', '1', '}'],
  ])('more than 16 levels of %s', (open, inner, close) => {
    const nested = (levels: number): string => open.repeat(levels) + inner + close.repeat(levels)
    expect(codeOf(() => parseStrictJson(nested(17)))).toBe('JSON_TOO_DEEP')
    expect(codeOf(() => parseStrictJson(open.repeat(100_000)))).toBe('JSON_TOO_DEEP')
    expect(parseStrictJson(nested(JSON_DEPTH_MAX))).toBeDefined()
    // Brackets in strings and siblings are not levels.
    expect(parseStrictJson(`["${'['.repeat(100)}",${'[],'.repeat(50)}{}]`)).toBeArray()
  })
})

test('__proto__ as a key, in any spelling, and pollutes no prototype', () => {
  for (const text of ['{"__proto__":{"x":1}}', '{"a":[{"__proto__":1}]}', '{"__pr\\u006fto__":{"x":1}}']) {
    expect(codeOf(() => parseStrictJson(text))).toBe('INVALID_REQUEST')
  }
  const accepted = '{"constructor":{"prototype":{"x":1}},"a":"__proto__"}'
  expect(parseStrictJson(accepted)).toEqual({
    constructor: { prototype: { x: 1 } },
    a: '__proto__',
  })
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

test('a root other than an object, if an object is required', () => {
  for (const text of ['[]', '"x"', '1', 'null', 'true']) {
    expect(codeOf(() => parseStrictJsonObject(text))).toBe('INVALID_REQUEST')
  }
  expect(parseStrictJsonObject('{}')).toEqual({})
})

test('invalid text without repeating it in the error', () => {
  const parse = () => parseStrictJson('{"csa_live_canary": nonsense}')
  expect(parse).toThrow(expect.objectContaining({ detail: 'the request body is not valid JSON' }))
})

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
  JSON.stringify({ 'a"b\\': ':{[', '\\': '"', '\u2028': '😀', '': 'é' }),
  '{"a":"\\ud83d\\ude00"}',
  '[1e400,-1e400,9007199254740993,1e-400]',
  '1',
  '"x"',
  'null',
  'true',
  ' [] ',
])('accepts %s', (text) => expect(parseStrictJson(text)).toEqual(JSON.parse(text)))

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

describe('a property', () => {
  const key = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('a', 'b', '"', '\\', ':', 'é'))
  const value = fc
    .letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      ),
    }))
    .value.filter((document) => !JSON.stringify(document).includes('__proto__'))

  test('documents without duplicate keys are parsed as by JSON.parse, with any spaces', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (document, space) => {
        const text = JSON.stringify(document, null, space)
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('escaped characters change nothing', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.boolean()), (document, choices) => {
        const text = JSON.stringify(document)
        let isInString = false
        const respelled = text.replaceAll(/\\u....|\\.|[^\\]/gs, (unit) => {
          if (unit === '"') isInString = !isInString
          return isInString && unit.length === 1 && unit !== '"' && choices.next().value ? escaped(unit) : unit
        })
        expect(parseStrictJson(respelled)).toEqual(JSON.parse(text))
      }),
      { numRuns: 100 },
    )
  })

  test('a duplicate of any member is refused at any position, escaped or not', () => {
    const members = fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
    const duplicate = fc.record({ which: fc.nat(), at: fc.nat(), other: value, isEscaped: fc.boolean() })
    fc.assert(
      fc.property(members, duplicate, fc.nat(3), (object, { which, at, other, isEscaped }, levels) => {
        const names = Object.keys(object)
        const name = names[which % names.length]!
        const spelled = isEscaped ? `"${name.split('').map(escaped).join('')}"` : JSON.stringify(name)
        const parts = names.map((each) => `${JSON.stringify(each)}:${JSON.stringify(object[each])}`)
        parts.splice(at % (parts.length + 1), 0, `${spelled}:${JSON.stringify(other)}`)
        const text = `${'[{"x":'.repeat(levels)}{${parts.join(',')}}${'}]'.repeat(levels)}`
        expect(codeOf(() => parseStrictJson(text))).toBe('DUPLICATE_KEY')
      }),
      { numRuns: 500 },
    )
  })

  test('any text is parsed as by JSON.parse, or refused', () => {
    const characters = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ')
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 30 }), (text) => {
        let codes: (ErrorCode | null)[] = [null, 'DUPLICATE_KEY', 'JSON_TOO_DEEP']
        try {
          JSON.parse(text)
        } catch {
          codes = ['MALFORMED_JSON', 'JSON_TOO_DEEP']
        }
        expect(codeOf(() => parseStrictJson(text))).toBeOneOf(codes)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('a document has at most 32,768 values, counting members and further elements', () => {
  const members = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join()}}`
  expect(Object.keys(parseStrictJsonObject(members(16_384)))).toHaveLength(16_384)
  expect(() => parseStrictJsonObject(members(16_385))).toThrow('more than 32768 values')
  expect(() => parseStrictJsonObject(`{"a":[${'1,'.repeat(32_768)}1]}`)).toThrow('more than 32768 values')
})

test('a document has at most 4,096 escape sequences, unless its reader allows more', () => {
  const text = (count: number) => `{"a":"${'\\\\'.repeat(count)}"}`
  expect(parseStrictJson(text(4_096))).toEqual({ a: '\\'.repeat(4_096) })
  expect(() => parseStrictJson(text(4_097))).toThrow('more than 4096 escape sequences')
  expect(parseStrictJson(text(4_097), 5_000)).toEqual({ a: '\\'.repeat(4_097) })
})
