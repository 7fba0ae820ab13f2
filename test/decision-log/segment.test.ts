// The writer when all goes well: chain, names, rotation, and what a new instance finds.
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DecisionLogError } from '../../src/decision-log/errors.ts'
import { parseHeaderLine } from '../../src/decision-log/record.ts'
import { isSlotName, nextSegmentName, parseSegmentName, slotName } from '../../src/decision-log/segment-name.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import {
  attestation,
  denial,
  type FileOperation,
  filesWith,
  manualClock,
  openTestSegment,
  range,
  readLines,
  recordsOf,
  removeTemporaryDirectories,
  START_MS,
  segmentNames,
  temporaryDirectory,
  withheld,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const headerOf = (directory: string, name: string) =>
  parseHeaderLine(readLines(join(directory, 'w00', name))[0] as string)

describe('a segment', () => {
  test('is named by time, slot and number, private, and each line carries the SHA-256 of the one before', () => {
    const directory = join(temporaryDirectory(), 'a', 'decisions')
    const writer = openTestSegment(directory)
    writer.append([attestation(1), denial(2)])
    writer.append([withheld(1)])
    writer.close()
    expect(writer.path).toBe(join(directory, 'w00', '20261120T101112.123Z-000001.ndjson'))
    expect(statSync(writer.path).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'w00')).mode & 0o777).toBe(0o700)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    const lines = readLines(writer.path)
    expect(lines).toHaveLength(4)
    for (const i of range(1, 4)) expect(JSON.parse(lines[i] as string).prev).toBe(sha256(lines[i - 1] as string))
    expect(readFileSync(writer.path, 'utf8')).toEndWith('}\n')
    expect(recordsOf(directory)).toEqual([attestation(1), denial(2), withheld(1)])
  })

  test('the chain can be checked with sed, tr and sha256sum alone', () => {
    const writer = openTestSegment(temporaryDirectory())
    writer.append([attestation(1), attestation(2, { policy_name: 'Größe 🔏' }), attestation(3)])
    const check = `sed -n 3p '${writer.path}' | tr -d '\\n' | sha256sum`
    const printed = Bun.spawnSync(['sh', '-c', check]).stdout.toString()
    expect(JSON.parse(readLines(writer.path)[3] as string).prev).toBe(printed.slice(0, 64))
  })

  test('takes a batch in one write, and flushes it only with sync', () => {
    for (const sync of [false, true]) {
      const seen: FileOperation[] = []
      const files = filesWith((operation) => void seen.push(operation))
      const writer = openTestSegment(temporaryDirectory(), { files, sync })
      seen.length = 0
      writer.append(range(0, 32).map((number) => attestation(number)))
      expect(seen).toEqual(sync ? ['write', 'syncData'] : ['write'])
      writer.close()
    }
  })

  test('goes on after short writes', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, {
      files: filesWith((operation) => (operation === 'write' ? 7 : undefined)),
    })
    writer.append([attestation(1), attestation(2)])
    writer.close()
    expect(recordsOf(directory)).toEqual([attestation(1), attestation(2)])
  })

  test('the folder knows the file before the first append: it is flushed after the creation', () => {
    const seen: FileOperation[] = []
    openTestSegment(temporaryDirectory(), { files: filesWith((operation) => void seen.push(operation)) })
    expect(seen).toEqual(['makeDirectory', 'create', 'write', 'syncPath'])
  })

  test('a record that can not be written is refused alone: the writer is fine', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    const wrong = [attestation(2, { signatures: [] }), attestation(2, { policy_name: 'x'.repeat(1_048_576) })]
    for (const record of wrong) {
      expect(() => writer.append([attestation(1), record])).toThrow(DecisionLogError)
      expect(writer.failure).toBeNull()
    }
    writer.append([attestation(1)])
    writer.close()
    expect(recordsOf(directory)).toEqual([attestation(1)])
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('takes the longest line that verification reads', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 10_000_000 })
    writer.append([attestation(1), attestation(2, { policy_name: 'ö'.repeat(523_000) }), attestation(3)])
    writer.close()
    expect((await verifyDecisions(directory)).ok).toBe(true)
    // A new instance finds its way back over it, and over one that ends the file.
    const next = openTestSegment(directory)
    next.append([attestation(4, { policy_name: 'x'.repeat(1_000_000) })])
    next.close()
    openTestSegment(directory).close()
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('is closed for good', () => {
    const seen: FileOperation[] = []
    const writer = openTestSegment(temporaryDirectory(), { files: filesWith((operation) => void seen.push(operation)) })
    seen.length = 0
    writer.close()
    writer.close()
    // The number of a closed descriptor may belong to another file.
    expect(seen).toEqual(['close'])
    expect(() => writer.append([attestation(1)])).toThrow(DecisionLogError)
  })

  test('an empty batch writes nothing', () => {
    const writer = openTestSegment(temporaryDirectory())
    writer.append([])
    expect(readLines(writer.path)).toHaveLength(1)
  })
})

describe('rotation', () => {
  test('by size: a segment that has reached it is followed by one that names its length and last line', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 3_000 })
    for (const number of range(0, 12)) writer.append([attestation(number)])
    writer.close()
    const names = segmentNames(directory)
    expect(names.map((name) => parseSegmentName(name)?.number)).toEqual(range(1, names.length + 1))
    expect(names.length).toBeGreaterThan(2)
    for (const i of range(1, names.length)) {
      const before = join(directory, 'w00', names[i - 1] as string)
      expect(headerOf(directory, names[i] as string)).toMatchObject({
        number: i + 1,
        previous_segment: names[i - 1],
        previous_hash: sha256(readLines(before).at(-1) as string),
        previous_length: statSync(before).size,
        previous_torn_bytes: 0,
      })
      expect(statSync(before).size).toBeGreaterThanOrEqual(3_000)
    }
    expect(recordsOf(directory)).toEqual(range(0, 12).map((number) => attestation(number)))
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('by size: one byte less than it takes another batch, exactly as many bytes takes none', () => {
    const lengthOf = (path: string): number => statSync(path).size
    const probe = openTestSegment(temporaryDirectory())
    probe.append([attestation(1)])
    for (const [missing, segments] of [
      [1, 1],
      [0, 2],
    ] as const) {
      const directory = temporaryDirectory()
      const writer = openTestSegment(directory, { maxBytes: lengthOf(probe.path) + missing })
      writer.append([attestation(1)])
      writer.append([attestation(2)])
      writer.close()
      expect(segmentNames(directory)).toHaveLength(segments)
    }
    probe.close()
  })

  test('by UTC day, also when the clock is set back', async () => {
    const directory = temporaryDirectory()
    const clock = manualClock(Date.UTC(2026, 10, 20, 23, 59, 59, 999))
    const writer = openTestSegment(directory, { clock })
    writer.append([attestation(1)])
    expect(segmentNames(directory)).toHaveLength(1)
    clock.nowMs += 1
    writer.append([attestation(2)])
    clock.nowMs += 1_000
    writer.append([attestation(3)])
    expect(segmentNames(directory)).toEqual([
      '20261120T235959.999Z-000001.ndjson',
      '20261121T000000.000Z-000002.ndjson',
    ])
    clock.nowMs -= 3_600_000
    writer.append([attestation(4)])
    // The name does not go back in time, so that names keep sorting in the order of writing.
    expect(segmentNames(directory)[2]).toBe('20261121T000000.000Z-000003.ndjson')
    writer.append([attestation(5)])
    writer.close()
    expect(segmentNames(directory)).toHaveLength(3)
    expect(recordsOf(directory)).toHaveLength(5)
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })
})

describe('a new instance', () => {
  test('opens a segment of its own, tied to the last complete line, and leaves the old one alone', async () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    first.append([attestation(1)])
    const before = readFileSync(first.path)
    const second = openTestSegment(directory)
    second.append([attestation(2)])
    second.close()
    expect(second.path).not.toBe(first.path)
    expect(readFileSync(first.path)).toEqual(before)
    expect(headerOf(directory, segmentNames(directory)[1] as string)).toMatchObject({
      previous_segment: segmentNames(directory)[0],
      previous_length: before.length,
      previous_torn_bytes: 0,
    })
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('notes a torn tail', async () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    first.append([attestation(1)])
    const size = statSync(first.path).size
    appendFileSync(first.path, '{"prev":"')
    const second = openTestSegment(directory)
    expect(headerOf(directory, segmentNames(directory)[1] as string)).toMatchObject({
      previous_length: size,
      previous_torn_bytes: 9,
    })
    second.close()
    const report = await verifyDecisions(directory)
    expect(report.ok).toBe(true)
    expect(report.segments[0]?.warnings).toHaveLength(1)
  })

  test('passes over files without a whole line, but not over their numbers', async () => {
    const directory = temporaryDirectory()
    openTestSegment(directory).close()
    writeFileSync(join(directory, 'w00', '20261120T101112.124Z-000002.ndjson'), '')
    writeFileSync(join(directory, 'w00', '20261120T101112.124Z-000003.ndjson'), '{"kind":"segm')
    writeFileSync(join(directory, 'w00', 'notes.txt'), 'not a segment')
    openTestSegment(directory).close()
    expect(headerOf(directory, '20261120T101112.124Z-000004.ndjson')).toMatchObject({
      previous_segment: '20261120T101112.123Z-000001.ndjson',
    })
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('with sync, flushes what a killed instance left before it builds on it', () => {
    const directory = temporaryDirectory()
    openTestSegment(directory)
    const seen: FileOperation[] = []
    openTestSegment(directory, { sync: true, files: filesWith((operation) => void seen.push(operation)) })
    expect(seen).toEqual(['makeDirectory', 'syncPath', 'create', 'write', 'syncData', 'syncPath'])
  })

  test('is not stopped by a last line of damaged, endless bytes', () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    appendFileSync(first.path, Buffer.alloc(3_000_000))
    appendFileSync(first.path, '\n')
    const second = openTestSegment(directory)
    second.append([attestation(1)])
    expect(second.failure).toBeNull()
  })

  test('leaves other slots alone: each has its own chain', async () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) openTestSegment(directory, { slot }).close()
    expect(segmentNames(directory, 'w01')).toEqual(['20261120T101112.123Z-000001.ndjson'])
    expect((await verifyDecisions(directory)).segments).toHaveLength(2)
  })

  test('reports a folder that can not be made, and opens once it can', () => {
    const directory = join(temporaryDirectory(), 'decisions')
    writeFileSync(directory, 'in the way')
    const writer = openTestSegment(directory)
    expect(writer.path).toBe('')
    expect(writer.failure?.reason).toMatch(/EEXIST|ENOTDIR/)
    expect(() => writer.append([attestation(1)])).toThrow(DecisionLogError)
    Bun.spawnSync(['rm', directory])
    writer.append([attestation(1)])
    expect(writer.failure).toBeNull()
    expect(recordsOf(directory)).toEqual([attestation(1)])
  })
})

describe('names', () => {
  test('of slots are one path element', () => {
    expect(slotName(0)).toBe('w00')
    expect(slotName(123)).toBe('w123')
    for (const bad of ['', '.', '..', 'a/b', 'W00', '-a', 'a.b', 'a'.repeat(65)]) expect(isSlotName(bad)).toBe(false)
    expect(() => openTestSegment(temporaryDirectory(), { slot: '../w00' })).toThrow(RangeError)
  })

  test('of segments sort by time and number', () => {
    const first = nextSegmentName(START_MS, null)
    expect(first).toEqual({ name: '20261120T101112.123Z-000001.ndjson', stamp: '20261120T101112.123Z', number: 1 })
    expect(nextSegmentName(START_MS - 5, first).name > first.name).toBe(true)
    expect(parseSegmentName(first.name)).toEqual(first)
    expect(parseSegmentName(`${first.name}.gz`)).toBeNull()
  })
})

test('a segment cut by someone else while its writer lives is found by verification', async () => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append([attestation(1)])
  truncateSync(writer.path, 0)
  writer.append([attestation(2)])
  writer.close()
  expect((await verifyDecisions(directory)).ok).toBe(false)
})
