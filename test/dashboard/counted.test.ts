// Sentences of the dashboard with a number, taken from the source and filled with 0, 1, 2 and 1,000.
import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { relativeTime } from '../../src/dashboard/page/ui/relative-time.ts'
import { counted } from '../../src/lib/counted.ts'

const NUMBERS = [0, 1, 2, 1_000]
const CALL = /counted\( ?[^']*?, '([^']+)', '([^']+)',? ?\)/g

const sources = await Promise.all(
  ['src/dashboard/page/**/*.{ts,tsx}', 'src/modules/*/pages/*.{ts,tsx}']
    .flatMap((pattern) => [...new Glob(pattern).scanSync('.')])
    .sort()
    .map(async (path) => ({ path, text: (await Bun.file(path).text()).replaceAll(/\s+/g, ' ') })),
)

/** The text around a call in its template or element, to the ends of the sentence; other values are dots. */
const around = (text: string, from: number, to: number): readonly [before: string, after: string] => {
  const [head, tail] = [text.slice(0, from), text.slice(to)]
  const plain = (part: string): string => part.replaceAll(/\$?\{(?:' '|[^{}]*)\}/g, '…').replace(/\$?\{.*$/, '…')
  if (head.endsWith('${'))
    return [plain(head.slice(head.lastIndexOf('`') + 1, -2)), plain(tail.slice(1).split('`')[0] ?? '')]
  if (!/[^$]\{$/.test(head)) return ['', '']
  return [plain(head.slice(head.lastIndexOf('>') + 1, -1)), plain(tail.slice(1).split('<')[0] ?? '')]
}

const sentences = sources.flatMap(({ text }) =>
  [...text.matchAll(CALL)].map(({ 0: call, 1: one = '', 2: other = '', index }) => {
    const [before, after] = around(text, index, index + call.length)
    return (count: number): string => `${before}${counted(count, one, other)}${after.split('. ')[0]}`.trim()
  }),
)

test('sentences use the plural for 0, 2 and 1,000', () => {
  const [none, one, two, many] = NUMBERS.map((count) => sentences.map((sentenceOf) => sentenceOf(count)))
  expect(two?.map((text) => text.replace('2 ', '0 '))).toEqual(none ?? [])
  expect(two?.map((text) => text.replace('2 ', '1,000 '))).toEqual(many ?? [])
  expect(two?.map((text) => text.replace('2 ', '1 ')).filter((text, at) => text === one?.[at])).toEqual([])
})

test('relative times use the correct plural for 0, 1, 2 and 1,000', () => {
  const nowMs = Date.parse('2027-01-31T12:00:00Z')
  const times = NUMBERS.flatMap((count) =>
    [1, 60, 3_600, 86_400].map((size) => relativeTime(new Date(nowMs - count * size * 1_000).toISOString(), nowMs)),
  )
  for (const text of times)
    expect(text).not.toMatch(/\.|\b1 \w+s\b|\b(?:0|2|1,000) (?:second|minute|hour|day|month|year)\b/)
})

test('pages write a number with its noun or verb with only one function', () => {
  // `{items.length} wallets`, `${count} lines`, `${newer} are newer`, `count === 1 ? 'One'`.
  const beside =
    /\{[^{}]*(?:(?<!ac)[cC]ount|length|total|entries|retries|_left|toLocaleString\('en'\))[^{}]*\}\s+[a-z]+s\b/g
  const verb = /\$?\{[^{}]+\} (?:are|pass|fail|wait|were|have)\b/g
  const choice = /=== 1 \? ['`](?:1|[oO]n(?:c?e))\b/g
  const allowed = /counted\(|\} (?:is|was|has|as|bytes|this|ms)$/
  const wrong = sources.flatMap(({ path, text }) =>
    [beside, verb, choice].flatMap((pattern) =>
      [...text.matchAll(pattern)].flatMap(([found]) => (allowed.test(found) ? [] : [`${path}: ${found}`])),
    ),
  )
  expect(wrong).toEqual([])
})
