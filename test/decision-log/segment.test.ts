// The writer if nothing fails: chain, names, rotation, and a second instance.
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
  attestations,
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
  writeSegment,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const headerOf = (directory: string, name: string) =>
  parseHeaderLine(readLines(join(directory, 'w00', name))[0] as string)
const expectSound = async (directory: string): Promise<void> => expect((await verifyDecisions(directory)).ok).toBe(true)

/** File operations, and a list of their names. */
const watchedFiles = () => {
  const seen: FileOperation[] = []
  return { seen, files: filesWith((operation) => void seen.push(operation)) }
}

describe('a segment', () => {
  test('is private, named by time and number, and each line contains the SHA-256 of the previous line', () => {
    const directory = join(temporaryDirectory(), 'a', 'decisions')
    const writer = openTestSegment(directory)
    writer.append([attestation(1), denial(2)])
    writer.append([withheld(1)])
    writer.close()
    expect(writer.path).toBe(join(directory, 'w00', '20261120T101112.123Z-000001.ndjson'))
    const modes = [writer.path, join(directory, 'w00'), directory].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o600, 0o700, 0o700])
    const lines = readLines(writer.path)
    expect(lines).toHaveLength(4)
    for (const i of range(1, 4)) expect(JSON.parse(lines[i] as string).prev).toBe(sha256(lines[i - 1] as string))
    expect(readFileSync(writer.path, 'utf8')).toEndWith('}\n')
    expect(recordsOf(directory)).toEqual([attestation(1), denial(2), withheld(1)])
  })

  test('has a chain that sed, tr and sha256sum can check', () => {
    const records = [attestation(1), attestation(2, { policy_name: 'Größe 🔏' }), attestation(3)]
    const path = writeSegment(temporaryDirectory(), records)
    const printed = Bun.spawnSync(['sh', '-c', `sed -n 3p '${path}' | tr -d '\\n' | sha256sum`]).stdout.toString()
    expect(JSON.parse(readLines(path)[3] as string).prev).toBe(printed.slice(0, 64))
  })

  test.each([false, true])(
    'flushes its folder after its creation, and writes a batch in one call (sync %p)',
    (sync) => {
      const { seen, files } = watchedFiles()
      const writer = openTestSegment(temporaryDirectory(), { files, sync })
      const flushes: FileOperation[] = sync ? ['syncData'] : []
      expect(seen).toEqual(['makeDirectory', 'create', 'write', ...flushes, 'syncPath'])
      seen.length = 0
      writer.append(attestations(0, 32))
      writer.append([])
      expect(seen).toEqual(['write', ...flushes])
      writer.close()
    },
  )

  test('continues after short writes', () => {
    const directory = temporaryDirectory()
    const files = filesWith((operation) => (operation === 'write' ? 7 : undefined))
    writeSegment(directory, attestations(1, 3), { files })
    expect(recordsOf(directory)).toEqual(attestations(1, 3))
  })

  test('refuses an invalid record, and the writer remains usable', async () => {
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
    await expectSound(directory)
  })

  test('accepts the longest line that verification reads', async () => {
    const directory = temporaryDirectory()
    const records = [attestation(1), attestation(2, { policy_name: 'ö'.repeat(523_000) }), attestation(3)]
    writeSegment(directory, records, { maxBytes: 10_000_000 })
    await expectSound(directory)
    // A new instance reads back past long lines in the middle and at the end of a file.
    writeSegment(directory, [attestation(4, { policy_name: 'x'.repeat(1_000_000) })])
    writeSegment(directory, [])
    await expectSound(directory)
  })

  test('closes its file once, and then refuses appends', () => {
    const { seen, files } = watchedFiles()
    const writer = openTestSegment(temporaryDirectory(), { files })
    seen.length = 0
    writer.close()
    writer.close()
    // The number of a closed descriptor may belong to another file.
    expect(seen).toEqual(['close'])
    expect(() => writer.append([attestation(1)])).toThrow(DecisionLogError)
  })
})

describe('rotation', () => {
  test('starts a segment that names the length and the last line of the previous one', async () => {
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
    expect(recordsOf(directory)).toEqual(attestations(0, 12))
    await expectSound(directory)
  })

  test('happens at exactly the maximum size', () => {
    const { size } = statSync(writeSegment(temporaryDirectory(), [attestation(1)]))
    const segments = [size + 1, size].map((maxBytes) => {
      const directory = temporaryDirectory()
      const writer = openTestSegment(directory, { maxBytes })
      for (const number of [1, 2]) writer.append([attestation(number)])
      writer.close()
      return segmentNames(directory).length
    })
    expect(segments).toEqual([1, 2])
  })

  test('happens at each UTC day, even if the clock is set back', async () => {
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
    // The name is at least as recent as the last line, so that names sort in write order.
    expect(segmentNames(directory)[2]).toBe('20261121T000001.000Z-000003.ndjson')
    writer.append([attestation(5)])
    writer.close()
    expect(segmentNames(directory)).toHaveLength(3)
    expect(recordsOf(directory)).toHaveLength(5)
    await expectSound(directory)
  })
})

describe('a new instance', () => {
  test.each([
    ['', 0, []],
    ['{"prev":"', 9, [expect.stringContaining('torn tail')]],
  ])(
    'opens a segment after the last complete line, and records the torn tail %j',
    async (torn, torn_bytes, warnings) => {
      const directory = temporaryDirectory()
      const first = openTestSegment(directory)
      first.append([attestation(1)])
      const { size } = statSync(first.path)
      appendFileSync(first.path, torn)
      const before = readFileSync(first.path)
      const second = writeSegment(directory, [attestation(2)])
      expect(second).not.toBe(first.path)
      expect(readFileSync(first.path)).toEqual(before)
      expect(headerOf(directory, segmentNames(directory)[1] as string)).toMatchObject({
        previous_segment: segmentNames(directory)[0],
        previous_length: size,
        previous_torn_bytes: torn_bytes,
      })
      const report = await verifyDecisions(directory)
      expect([report.ok, report.segments[0]?.warnings]).toEqual([true, warnings])
    },
  )

  test('skips files without a complete line, but not their numbers', async () => {
    const directory = temporaryDirectory()
    writeSegment(directory, [])
    writeFileSync(join(directory, 'w00', '20261120T101112.124Z-000002.ndjson'), '')
    writeFileSync(join(directory, 'w00', '20261120T101112.124Z-000003.ndjson'), '{"kind":"segm')
    writeFileSync(join(directory, 'w00', 'notes.txt'), 'not a segment')
    writeSegment(directory, [])
    expect(headerOf(directory, '20261120T101112.124Z-000004.ndjson')).toMatchObject({
      previous_segment: '20261120T101112.123Z-000001.ndjson',
    })
    await expectSound(directory)
  })

  test('with sync flushes the segment of a killed instance before it refers to it', () => {
    const directory = temporaryDirectory()
    openTestSegment(directory)
    const { seen, files } = watchedFiles()
    openTestSegment(directory, { sync: true, files })
    expect(seen).toEqual(['makeDirectory', 'syncPath', 'create', 'write', 'syncData', 'syncPath'])
  })

  test('opens after a damaged line that is too long', () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    appendFileSync(first.path, Buffer.alloc(3_000_000))
    appendFileSync(first.path, '\n')
    const second = openTestSegment(directory)
    second.append([attestation(1)])
    expect(second.failure).toBeNull()
  })

  test('of another slot has a separate chain', async () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) writeSegment(directory, [], { slot })
    expect(segmentNames(directory, 'w01')).toEqual(['20261120T101112.123Z-000001.ndjson'])
    expect((await verifyDecisions(directory)).segments).toHaveLength(2)
  })

  test('reports that its folder cannot be created, and opens once the folder can be created', () => {
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
  test('of slots are valid as a path element', () => {
    expect(slotName(0)).toBe('w00')
    expect(slotName(123)).toBe('w123')
    for (const bad of ['', '.', '..', 'a/b', 'W00', '-a', 'a.b', 'a'.repeat(65)]) expect(isSlotName(bad)).toBe(false)
    expect(() => openTestSegment(temporaryDirectory(), { slot: '../w00' })).toThrow(RangeError)
  })

  test('of segments sort by time and by number', () => {
    const first = nextSegmentName(START_MS, null)
    expect(first).toEqual({ name: '20261120T101112.123Z-000001.ndjson', stamp: '20261120T101112.123Z', number: 1 })
    expect(nextSegmentName(START_MS - 5, first).name > first.name).toBe(true)
    expect(parseSegmentName(first.name)).toEqual(first)
    expect(parseSegmentName(`${first.name}.gz`)).toBeNull()
  })
})

test('verification detects a segment that another process truncates during a write', async () => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append([attestation(1)])
  truncateSync(writer.path, 0)
  writer.append([attestation(2)])
  writer.close()
  expect((await verifyDecisions(directory)).ok).toBe(false)
})
