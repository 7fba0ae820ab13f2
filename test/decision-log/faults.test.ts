// Disks that fail: nothing that was acknowledged is lost, nothing that was not acknowledged counts, nothing is appended
// to half a line, and the log heals by itself (invariant 2; faults, "EIO, ENOSPC on write and fsync", "disk full").
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DecisionLogError } from '../../src/decision-log/errors.ts'
import { readTail } from '../../src/decision-log/tail.ts'
import type { LogRecord } from '../../src/decision-log/types.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import {
  attestation,
  type FileOperation,
  filesWith,
  manualClock,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  systemError,
  temporaryDirectory,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

/** What a reader of the log sees, acknowledgements between segments respected. */
const countedRecords = (directory: string): LogRecord[] =>
  readTail(directory, 10_000).entries.map((entry) => entry.record)

/** Files of which the named operations fail; `write` lets some bytes through first. */
const failingFiles = () => {
  const state = { failing: new Set<FileOperation>(), code: 'EIO', letThrough: 0 }
  const files = filesWith((operation) => {
    if (!state.failing.has(operation)) return undefined
    if (operation === 'write' && state.letThrough > 0) {
      const allowed = state.letThrough
      state.letThrough = 0
      return allowed
    }
    throw systemError(state.code)
  })
  return { state, files }
}

const OPERATIONS: FileOperation[] = [
  'makeDirectory',
  'create',
  'write',
  'truncate',
  'syncData',
  'close',
  'remove',
  'size',
  'syncPath',
]

describe('a failing disk', () => {
  for (const code of ['ENOSPC', 'EIO']) {
    for (const letThrough of [0, 1, 500, 1_500]) {
      test(`${code} after ${letThrough} bytes: nothing of the batch counts, and a new segment heals`, async () => {
        const directory = temporaryDirectory()
        const { state, files } = failingFiles()
        const writer = openTestSegment(directory, { files })
        writer.append([attestation(1)])
        const path = writer.path
        const good = readFileSync(path)

        state.failing = new Set(['write'])
        state.code = code
        state.letThrough = letThrough
        expect(() => writer.append([attestation(2), attestation(3)])).toThrow(DecisionLogError)
        expect(writer.failure).toMatchObject({ reason: code, code: 'DEPENDENCY_UNAVAILABLE' })
        expect(readFileSync(path)).toEqual(good)
        // Still broken: each try makes a file, can't write its header, and leaves nothing behind.
        expect(() => writer.append([attestation(4)])).toThrow(DecisionLogError)
        expect(() => writer.append([])).toThrow(DecisionLogError)
        expect(segmentNames(directory)).toHaveLength(1)

        state.failing = new Set()
        writer.append([attestation(5)])
        expect(writer.failure).toBeNull()
        writer.close()
        expect(readFileSync(path)).toEqual(good)
        expect(countedRecords(directory)).toEqual([attestation(1), attestation(5)])
        expect(await verifyDecisions(directory)).toMatchObject({ ok: true, decisions: 2 })
      })
    }
  }

  test('a batch that reached the file but not the disk does not count', async () => {
    const directory = temporaryDirectory()
    const { state, files } = failingFiles()
    const writer = openTestSegment(directory, { files, sync: true })
    state.failing = new Set(['syncData'])
    expect(() => writer.append([attestation(1)])).toThrow(DecisionLogError)
    state.failing = new Set()
    writer.append([attestation(2)])
    expect(countedRecords(directory)).toEqual([attestation(2)])
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('whole lines that could not be cut back are disowned by the next segment', async () => {
    const directory = temporaryDirectory()
    const { state, files } = failingFiles()
    const writer = openTestSegment(directory, { files })
    writer.append([attestation(1)])
    state.failing = new Set(['write', 'truncate'])
    state.letThrough = 2_500
    expect(() => writer.append(range(2, 5).map((number) => attestation(number)))).toThrow(DecisionLogError)
    state.failing = new Set()
    // The same uuid again: what was disowned does not count as its first use.
    writer.append([attestation(2)])
    writer.close()
    expect(countedRecords(directory)).toEqual([attestation(1), attestation(2)])
    const report = await verifyDecisions(directory)
    expect(report).toMatchObject({ ok: true, decisions: 2 })
    expect(report.segments[0]?.warnings[0]).toContain('torn tail of 2500 bytes, recorded in the next segment')
  })

  test('a segment that was to be followed is not returned to, although the clock is', async () => {
    const directory = temporaryDirectory()
    const { state, files } = failingFiles()
    const clock = manualClock()
    const writer = openTestSegment(directory, { files, clock })
    writer.append([attestation(1)])
    state.failing = new Set(['create'])
    clock.nowMs += 86_400_000
    expect(() => writer.append([attestation(2)])).toThrow(DecisionLogError)
    state.failing = new Set()
    clock.nowMs -= 86_400_000
    writer.append([attestation(3)])
    writer.close()
    expect(segmentNames(directory)).toHaveLength(2)
    expect(countedRecords(directory)).toEqual([attestation(1), attestation(3)])
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('an empty batch heals too, for a service that no longer gets any work', () => {
    const directory = temporaryDirectory()
    const { state, files } = failingFiles()
    const writer = openTestSegment(directory, { files })
    state.failing = new Set(['write'])
    expect(() => writer.append([attestation(1)])).toThrow(DecisionLogError)
    state.failing = new Set()
    writer.append([])
    expect(writer.failure).toBeNull()
  })

  test('a folder that was removed is made again, and verification says what is missing', async () => {
    const directory = temporaryDirectory()
    const { state, files } = failingFiles()
    const writer = openTestSegment(directory, { files })
    writer.append([attestation(1)])
    rmSync(join(directory, 'w00'), { recursive: true })
    state.failing = new Set(['write'])
    expect(() => writer.append([attestation(2)])).toThrow(DecisionLogError)
    state.failing = new Set()
    writer.append([attestation(3)])
    writer.close()
    expect(countedRecords(directory)).toEqual([attestation(3)])
    expect((await verifyDecisions(directory)).segments[0]?.warnings[0]).toContain('are not present')
  })

  test('any sequence of batches, failures, kills and days', async () => {
    const step = fc.record({
      records: fc.integer({ min: 0, max: 4 }),
      failing: fc.subarray(OPERATIONS),
      healthy: fc.boolean(),
      letThrough: fc.integer({ min: 0, max: 3_000 }),
      killed: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
      clockMs: fc.constantFrom(0, 1, 86_400_000, -86_400_000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, sync) => {
        const directory = temporaryDirectory()
        const { state, files } = failingFiles()
        const clock = manualClock()
        const open = () => openTestSegment(directory, { files, sync, clock, maxBytes: 4_000 })
        let writer = open()
        let number = 0
        const acknowledged: LogRecord[] = []
        const refused = new Set<string>()
        let kills = 0
        for (const { records, failing, healthy, letThrough, killed, clockMs } of steps) {
          clock.nowMs += clockMs
          state.failing = new Set(healthy ? [] : failing)
          state.letThrough = letThrough
          const batch = range(number, number + records).map((each) => attestation(each))
          number += records
          try {
            writer.append(batch)
            acknowledged.push(...batch)
          } catch (error) {
            if (!(error instanceof DecisionLogError)) throw error
            for (const record of batch) refused.add(record.uuid)
          }
          if (killed) {
            kills++
            state.failing = new Set()
            writer = open()
          }
        }
        state.failing = new Set()
        writer.append([])
        writer.close()
        const report = await verifyDecisions(directory)
        expect(report.segments.map((segment) => segment.problem)).toEqual(report.segments.map(() => null))
        const counted = countedRecords(directory)
        expect(report.decisions).toBe(counted.length)
        // A killed instance can't disown what it wrote; then its refused records may count, but nothing else does.
        expect(counted.filter((record) => kills === 0 || !refused.has(record.uuid))).toEqual(acknowledged)
        removeTemporaryDirectories()
      }),
      { numRuns: 80 },
    )
  }, 30_000)
})

const tmpfsDirectory = join('/tmp', `countersign-decisions-tmpfs-${process.pid}`)
const mounted = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  mkdirSync(tmpfsDirectory)
  const { success } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', tmpfsDirectory])
  Bun.spawnSync(['umount', tmpfsDirectory])
  rmSync(tmpfsDirectory, { recursive: true })
  return success
})()

describe.skipIf(!mounted)('a real full disk (skipped without root and mount: it mounts a tmpfs of 64 KiB)', () => {
  test('refuses, keeps what was acknowledged, and heals when there is room again', async () => {
    mkdirSync(tmpfsDirectory)
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', tmpfsDirectory])
    try {
      const ballast = join(tmpfsDirectory, 'ballast')
      writeFileSync(ballast, Buffer.alloc(16_384))
      const directory = join(tmpfsDirectory, 'decisions')
      const writer = openTestSegment(directory, { sync: true })
      const acknowledged: LogRecord[] = []
      let refusals = 0
      for (const number of range(0, 40)) {
        const batch = range(0, 5).map((i) => attestation(number * 5 + i))
        try {
          writer.append(batch)
          acknowledged.push(...batch)
        } catch (error) {
          expect(error).toBeInstanceOf(DecisionLogError)
          expect(writer.failure?.reason).toBe('ENOSPC')
          // The log line of a full disk has its code and the folder.
          expect(errorClassOf(error)).toMatch(/^DecisionLogError: ENOSPC \/.*w00/)
          refusals++
        }
      }
      expect(refusals).toBeGreaterThan(5)
      expect(countedRecords(directory)).toEqual(acknowledged)
      rmSync(ballast)
      writer.append([attestation(1_000)])
      writer.close()
      expect(countedRecords(directory)).toEqual([...acknowledged, attestation(1_000)])
      expect((await verifyDecisions(directory)).ok).toBe(true)
    } finally {
      Bun.spawnSync(['umount', tmpfsDirectory])
      rmSync(tmpfsDirectory, { recursive: true, force: true })
    }
  })
})
