// Values that programs are known to mishandle, by position. Short values are in test/data/hostile-values.json.
import short from '../data/hostile-values.json'

export const TEXTS: readonly string[] = [
  ...short.texts,
  'x'.repeat(255),
  'x'.repeat(256),
  'a'.repeat(10_000),
  '0'.repeat(1_000),
  '9'.repeat(400),
]

/** Numbers as JSON text. */
export const NUMBERS: readonly string[] = [...short.numbers, `1${'0'.repeat(500)}`]

/** Complete values as JSON text. */
export const TREES: readonly string[] = [
  ...short.trees,
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `[${'0,'.repeat(5_000)}0]`,
]

export const SEGMENTS: readonly string[] = [...short.segments, 'A'.repeat(201), 'a'.repeat(9_000)]

export const METHODS: readonly string[] = short.methods

export const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ...Object.entries(short.headers).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  ['host', 'x'.repeat(5_000)],
  ['authorization', `Bearer ${'x'.repeat(8_000)}`],
  ['cookie', 'a=b; '.repeat(1_000)],
  ['idempotency-key', 'x'.repeat(256)],
  ['x-forwarded-for', `${'1.1.1.1, '.repeat(500)}2.2.2.2`],
  ['x-long', 'x'.repeat(20_000)],
]
