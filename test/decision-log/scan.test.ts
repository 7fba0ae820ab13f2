// Reading a slot in order, from any position, while it grows and rotates, and after crashes.
import { afterEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseRecordLine } from '../../src/decision-log/record.ts'
import { createSlotScanner, type ScanPosition, type SlotScanner } from '../../src/decision-log/scan.ts'
import { listSegments, type SegmentName } from '../../src/decision-log/segment-name.ts'
import type { SegmentWriter } from '../../src/decision-log/types.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
  uuidOf,
  withheld,
} from './fixtures.ts'

const opened: SlotScanner[] = []

afterEach(() => {
  for (const scanner of opened.splice(0)) scanner.close()
  removeTemporaryDirectories()
})

const scan = (directory: string, from: ScanPosition | null = null): SlotScanner => {
  const scanner = createSlotScanner(directory, 'w00', from)
  opened.push(scanner)
  return scanner
}

/** Takes the remaining lines; returns their uuids. */
const rest = (scanner: SlotScanner): string[] => {
  const uuids: string[] = []
  for (let line = scanner.peek(); line !== null; line = scanner.peek()) {
    uuids.push(parseRecordLine(line.text).record.uuid)
    scanner.take()
  }
  return uuids
}

const append = (writer: SegmentWriter, ...numbers: number[]): void => writer.append(numbers.map((n) => attestation(n)))
const uuids = (...numbers: number[]): string[] => numbers.map(uuidOf)

describe('a slot', () => {
  test('without a folder has no lines, and is read when the folder exists', () => {
    const directory = temporaryDirectory()
    const scanner = scan(directory)
    expect(rest(scanner)).toEqual([])
    expect(scanner.position()).toBeNull()
    append(openTestSegment(directory), 1, 2)
    expect(rest(scanner)).toEqual(uuids(1, 2))
  })

  test('is followed while it grows; a line remains the next one until it is consumed', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    const scanner = scan(directory)
    append(writer, 1)
    expect(scanner.peek()).toEqual(scanner.peek())
    expect(rest(scanner)).toEqual(uuids(1))
    append(writer, 2, 3)
    writer.append([withheld(2)])
    expect(rest(scanner)).toEqual(uuids(2, 3, 2))
  })

  test('is read across rotations, each line with its position', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 2_000 })
    for (const n of range(0, 12)) append(writer, n)
    expect(segmentNames(directory).length).toBeGreaterThan(3)
    const scanner = scan(directory)
    const found: string[] = []
    for (let line = scanner.peek(); line !== null; line = scanner.peek()) {
      const file = readFileSync(join(directory, 'w00', line.segment))
      expect(file.toString('utf8', line.offset, line.offset + line.length)).toBe(line.text)
      found.push(parseRecordLine(line.text).record.uuid)
      scanner.take()
    }
    expect(found).toEqual(uuids(...range(0, 12)))
  })

  test('loses no lines if a segment grows and rotates between two reads', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 2_000 })
    append(writer, 1)
    let meanwhile = (): void => undefined
    const list = (path: string): readonly SegmentName[] => {
      meanwhile()
      return listSegments(path)
    }
    const scanner = createSlotScanner(directory, 'w00', null, list)
    opened.push(scanner)
    expect(rest(scanner)).toEqual(uuids(1))
    // When the scanner looks for a successor, the segment grows and rotates.
    meanwhile = () => {
      meanwhile = () => undefined
      for (const n of [2, 3, 4]) append(writer, n)
    }
    expect(rest(scanner)).toEqual(uuids(2, 3, 4))
    expect(segmentNames(directory)).toHaveLength(2)
  })

  test('can be read from any earlier position', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 2_000 })
    for (const n of range(0, 9)) append(writer, n)
    const scanner = scan(directory)
    const places: ScanPosition[] = []
    for (let line = scanner.peek(); line !== null; line = scanner.peek()) {
      scanner.take()
      const position = scanner.position()
      if (position !== null) places.push(position)
    }
    for (const [index, place] of places.entries()) {
      expect(rest(scan(directory, place))).toEqual(uuids(...range(index + 1, 9)))
    }
  })

  test('is read from the next segment if the segment of the position is missing', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 1_000 })
    for (const n of range(0, 4)) append(writer, n)
    const [first = ''] = segmentNames(directory)
    const gone = first.replace('000001.ndjson', '000000.ndjson')
    expect(rest(scan(directory, { segment: gone, offset: 99 }))).toEqual(uuids(0, 1, 2, 3))
  })
})

describe('an incomplete log', () => {
  test('does not return a line without a line break', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    append(writer, 1, 2)
    const [name = ''] = segmentNames(directory)
    const path = join(directory, 'w00', name)
    const whole = readFileSync(path)
    truncateSync(path, whole.length - 5)
    const scanner = scan(directory)
    expect(rest(scanner)).toEqual(uuids(1))
    writeFileSync(path, whole)
    expect(rest(scanner)).toEqual(uuids(2))
  })

  test('is read past a torn tail when the next segment exists', () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    append(first, 1)
    appendFileSync(first.path, '{"prev":"torn')
    const scanner = scan(directory)
    expect(rest(scanner)).toEqual(uuids(1))
    append(openTestSegment(directory), 2)
    expect(rest(scanner)).toEqual(uuids(2))
    expect(scanner.takeCuts()).toEqual([])
  })

  test.each(['complete', 'being written', 'after a gap'])(
    'reports uncounted lines, if the next header is %s',
    (next) => {
      const directory = temporaryDirectory()
      const first = openTestSegment(directory)
      append(first, 1, 2)
      const name = segmentNames(directory)[0] ?? ''
      const path = join(directory, 'w00', name)
      const scanner = scan(directory)
      const whole = readFileSync(path)
      const end = whole.lastIndexOf(10, whole.length - 2) + 1
      expect(rest(scanner)).toEqual(uuids(1, 2))
      // As after a failed write, whose line the next segment does not count.
      truncateSync(path, end)
      const second = openTestSegment(directory)
      append(second, 3)
      writeFileSync(path, whole)
      if (next === 'being written') {
        const written = readFileSync(second.path)
        truncateSync(second.path, 20)
        expect(rest(scanner)).toEqual([])
        writeFileSync(second.path, written)
      }
      if (next === 'after a gap') {
        const { length } = 'YYYYMMDDTHHMMSS.mmmZ-'
        const renumbered =
          basename(second.path).slice(0, length) + basename(second.path).slice(length).replace('2', '3')
        renameSync(second.path, join(directory, 'w00', renumbered))
        writeFileSync(second.path, 'torn')
      }
      expect(rest(scanner)).toEqual(uuids(3))
      const { segment, offset } = scanner.position() ?? {}
      expect(offset).toBe(statSync(join(directory, 'w00', segment ?? '')).size)
      expect(scanner.takeCuts()).toEqual([{ segment: name, length: end }])
      expect(scanner.takeCuts()).toEqual([])
    },
  )

  test('returns an invalid line unchanged', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    append(writer, 1)
    appendFileSync(writer.path, 'not json\n')
    const scanner = scan(directory)
    scanner.peek()
    scanner.take()
    expect(scanner.peek()?.text).toBe('not json')
  })
})
