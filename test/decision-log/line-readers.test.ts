// The readers of lines, compared with the split text, for lines that end anywhere in a chunk.
import { afterEach, expect, test } from 'bun:test'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { findSlotEnd, slotLinesBackwards, wholeLength } from '../../src/decision-log/backwards.ts'
import { DecisionLineMalformedError } from '../../src/decision-log/errors.ts'
import { forEachLine } from '../../src/decision-log/forwards.ts'
import { MAX_LINE_BYTES } from '../../src/decision-log/record.ts'
import { nextSegmentName, type SegmentName } from '../../src/decision-log/segment-name.ts'
import { removeTemporaryDirectories, START_MS, temporaryDirectory } from './fixtures.ts'

afterEach(removeTemporaryDirectories)

/** Size of the smallest chunk of a reader. */
const CHUNK = 65_536
/** Lengths of lines that end shortly before, at and after the end of a chunk. */
const length = fc.oneof(
  fc.nat(4),
  fc
    .tuple(fc.constantFrom(1, 1, 1, 2, 4, 16), fc.integer({ min: -3, max: 3 }))
    .map(([chunks, off]) => Math.min(chunks * CHUNK + off, MAX_LINE_BYTES)),
)
const file = fc.record({
  lengths: fc.array(length, { maxLength: 5 }),
  /** Length of the torn tail. */
  torn: fc.oneof(fc.constant(0), length),
})

interface Line {
  readonly segment: string
  readonly start: number
  readonly text: string
}

/** Different letters, so that lines in another order differ. */
const textOf = (index: number, bytes: number): string => String.fromCharCode(97 + index).repeat(bytes)

test('complete lines of any length are read backwards and forwards', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 2 }), async (files) => {
      const directory = join(temporaryDirectory(), 'w00')
      mkdirSync(directory)
      const expected: Line[] = []
      let last: { segment: SegmentName; end: number; tornBytes: number } | null = null
      let newest: SegmentName | null = null
      for (const { lengths, torn } of files) {
        newest = nextSegmentName(START_MS, newest)
        const { name } = newest
        const path = join(directory, name)
        const lines: Line[] = []
        for (const [index, bytes] of lengths.entries()) {
          const before = lines.at(-1)
          const start = before === undefined ? 0 : before.start + before.text.length + 1
          lines.push({ segment: name, start, text: textOf(index, bytes) })
        }
        const whole = lines.map(({ text }) => `${text}\n`).join('')
        const content = `${whole}${'x'.repeat(torn)}`
        writeFileSync(path, content)
        expected.push(...lines)
        if (whole.length > 0) last = { segment: newest, end: whole.length, tornBytes: torn }

        const descriptor = openSync(path, 'r')
        const ends = lines.flatMap(({ start }) => [start - 1, start, start + 1])
        for (const end of [...ends, whole.length, content.length].filter((offset) => offset >= 0)) {
          expect(wholeLength(descriptor, end)).toBe(content.slice(0, end).lastIndexOf('\n') + 1)
        }
        closeSync(descriptor)

        const seen: string[] = []
        let read = 0
        const end = await forEachLine(
          path,
          content.length,
          (line) => seen.push(line.toString()),
          (bytes) => (read += bytes),
        )
        expect([end, read]).toEqual([whole.length, content.length])
        expect(seen).toEqual(lines.map(({ text }) => text))
      }
      expect(findSlotEnd(directory)).toEqual({ newest, position: last })
      if (last === null) return
      const backwards = [...slotLinesBackwards(directory, last)].map(({ segment, start, bytes }) => ({
        segment: segment.name,
        start,
        text: bytes.toString(),
      }))
      expect(backwards).toEqual(expected.reverse())
    }),
    { numRuns: 80 },
  )
})

test('a line that is too long is refused in both directions', async () => {
  const directory = join(temporaryDirectory(), 'w00')
  mkdirSync(directory)
  const segment = nextSegmentName(START_MS, null)
  const path = join(directory, segment.name)
  const ignore = (): void => undefined
  for (const bytes of [MAX_LINE_BYTES + 1, 3 * MAX_LINE_BYTES]) {
    const content = `\n${'a'.repeat(bytes)}\n`
    writeFileSync(path, content)
    await expect(forEachLine(path, content.length, ignore, ignore)).rejects.toThrow(DecisionLineMalformedError)
    const from = { segment, end: content.length, tornBytes: 0 }
    expect(() => [...slotLinesBackwards(directory, from)]).toThrow(DecisionLineMalformedError)
  }
})
