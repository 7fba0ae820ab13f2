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
const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels)

describe('what is refused', () => {
  test.each([
    ['nothing', ''],
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
    ['a lone surrogate deep inside', '[[{"a":{"b":"\\udfff"}}]]'],
  ])('malformed: %s', (_name, text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('MALFORMED_JSON')
  })

  test.each([
    ['side by side', '{"a":1,"a":2}'],
    ['apart', '{"a":1,"b":2,"c":3,"a":1}'],
    ['once escaped', '{"a":1,"\\u0061":2}'],
    ['both escaped, differently', '{"\\u0041/":1,"A\\/":2}'],
    ['empty keys', '{"":1,"":2}'],
    ['inside an object', '{"x":{"a":1,"a":1}}'],
    ['inside an array', '[[{"a":1,"a":1}]]'],
    ['in the second of two objects', '[{"a":1},{"a":1,"a":1}]'],
    ['integer-like keys', '{"1":1,"1":2}'],
    ['beside a key with a colon and quotes', '{"a\\":\\"":1,"b":":","b":2}'],
    ['with surrogate pairs', '{"\\ud83d\\ude00":1,"😀":2}'],
  ])('duplicate keys: %s', (_name, text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('DUPLICATE_KEY')
  })

  test('more than 16 levels, of either kind, also where the text is cut off', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(codeOf(() => parseStrictJson(nested(17, open, close)))).toBe('JSON_TOO_DEEP')
      expect(codeOf(() => parseStrictJson(open.repeat(100_000)))).toBe('JSON_TOO_DEEP')
    }
    expect(JSON_DEPTH_MAX).toBe(16)
    expect(parseStrictJson(nested(16, '[', ']'))).toBeArray()
    expect(parseStrictJson(`${'{"a":'.repeat(16)}1${'}'.repeat(16)}`)).toBeObject()
    // Brackets in strings are text, and siblings are no levels.
    expect(parseStrictJson(`["${'['.repeat(100)}",${'[],'.repeat(50)}{}]`)).toBeArray()
  })

  test('__proto__ as a key, at any level and however it is spelled; nothing is polluted', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"a":[{"__proto__":1}]}', '{"__pr\\u006fto__":{"x":1}}']) {
      expect(codeOf(() => parseStrictJson(text))).toBe('INVALID_REQUEST')
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(parseStrictJson('{"constructor":{"prototype":{"x":1}},"a":"__proto__"}')).toEqual({
      constructor: { prototype: { x: 1 } },
      a: '__proto__',
    })
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('a root that is no object, where one is needed', () => {
    for (const text of ['[]', '"x"', '1', 'null', 'true']) {
      expect(codeOf(() => parseStrictJsonObject(text))).toBe('INVALID_REQUEST')
    }
    expect(parseStrictJsonObject('{}')).toEqual({})
  })

  test('no error repeats the text or what the parser said of it', () => {
    try {
      parseStrictJson('{"csa_live_canary": nonsense}')
      throw new Error('accepted')
    } catch (error) {
      expect((error as CountersignError).detail).toBe('the request body is not valid JSON')
    }
  })
})

describe('what is accepted', () => {
  test('the same key in different objects', () => {
    expect(parseStrictJson('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}')).toEqual({
      a: { a: { a: 1 } },
      b: [{ a: 1 }, { a: 2 }],
    })
  })

  test('escapes in keys and values, colons and quotes in strings', () => {
    const value = { 'a"b\\': ':{[', '\\': '"', '\u2028': '😀', '': 'é' }
    expect(parseStrictJson(JSON.stringify(value))).toEqual(value)
    expect(parseStrictJson('{"a":"\\ud83d\\ude00"}')).toEqual({ a: '😀' })
  })

  test('large numbers, as JSON.parse rounds them', () => {
    expect(parseStrictJson('[1e400,-1e400,9007199254740993,1e-400]')).toEqual([
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      9007199254740992,
      0,
    ])
  })

  test('a scalar root', () => {
    for (const text of ['1', '"x"', 'null', 'true', ' [] ']) expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })
})

const escapeAll = (text: string): string => {
  let escaped = ''
  for (let i = 0; i < text.length; i++) escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`
  return escaped
}

describe('laws', () => {
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

  test('agrees with JSON.parse on every document without duplicate keys, however it is spaced', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (document, space) => {
        const text = JSON.stringify(document, null, space)
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('escaping any characters changes nothing', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.boolean()), (document, escaped) => {
        const text = JSON.stringify(document)
        let respelled = ''
        let inString = false
        for (let i = 0; i < text.length; i++) {
          const character = text[i]!
          if (inString && character === '\\') {
            const length = text[i + 1] === 'u' ? 6 : 2
            respelled += text.slice(i, i + length)
            i += length - 1
          } else if (character === '"') {
            inString = !inString
            respelled += character
          } else if (inString && escaped.next().value) {
            respelled += `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
          } else {
            respelled += character
          }
        }
        expect(parseStrictJson(respelled)).toEqual(JSON.parse(text))
      }),
      { numRuns: 100 },
    )
  })

  test('refuses a duplicate of any member, put anywhere, escaped or not', () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
        fc.nat(),
        fc.nat(),
        value,
        fc.boolean(),
        fc.nat(3),
        (members, which, where, other, escaped, levels) => {
          const names = Object.keys(members)
          const name = names[which % names.length]!
          const spelled = escaped ? `"${escapeAll(name)}"` : JSON.stringify(name)
          const parts = names.map((each) => `${JSON.stringify(each)}:${JSON.stringify(members[each])}`)
          parts.splice(where % (parts.length + 1), 0, `${spelled}:${JSON.stringify(other)}`)
          const text = `${'[{"x":'.repeat(levels)}{${parts.join(',')}}${'}]'.repeat(levels)}`
          expect(codeOf(() => parseStrictJson(text))).toBe('DUPLICATE_KEY')
        },
      ),
      { numRuns: 500 },
    )
  })

  test('any text is parsed as JSON.parse would, or refused', () => {
    const soup = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' '),
      maxLength: 30,
    })
    fc.assert(
      fc.property(soup, (text) => {
        const code = codeOf(() => parseStrictJson(text))
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        if (!valid) expect(code).toBeOneOf(['MALFORMED_JSON', 'JSON_TOO_DEEP'])
        else expect(code).toBeOneOf([null, 'DUPLICATE_KEY', 'JSON_TOO_DEEP'])
      }),
      { numRuns: 2_000 },
    )
  })
})

test('a document has at most 32,768 values: members, and elements after the first', () => {
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
