// Failing disks: acknowledged records survive, other records do not count, and the log recovers (invariant 2).
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DecisionLogError } from '../../src/decision-log/errors.ts'
import type { SegmentOptions } from '../../src/decision-log/segment.ts'
import { systemSegmentFiles } from '../../src/decision-log/segment-files.ts'
import { readTail } from '../../src/decision-log/tail.ts'
import type { LogRecord } from '../../src/decision-log/types.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import {
  attestation,
  attestations,
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

/** Returns the records that the log counts. */
const countedRecords = (directory: string): LogRecord[] =>
  readTail(directory, 10_000).entries.map((entry) => entry.record)

/** Files whose operations fail on demand; `write` can write some bytes first. */
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

const OPERATIONS = Object.keys(systemSegmentFiles) as FileOperation[]

/** A writer whose file operations fail on demand. */
const openFailing = (changes: Partial<SegmentOptions> = {}) => {
  const directory = temporaryDirectory()
  const { state, files } = failingFiles()
  const writer = openTestSegment(directory, { files, ...changes })
  /** Appends while the operations fail. */
  const failAppend = (failing: FileOperation[], ...records: LogRecord[]): void => {
    state.failing = new Set(failing)
    expect(() => writer.append(records)).toThrow(DecisionLogError)
    state.failing = new Set()
  }
  return { directory, state, writer, failAppend }
}

describe('a failing disk', () => {
  const cases = ['ENOSPC', 'EIO'].flatMap((code) => [0, 1, 500, 1_500].map((bytes): [string, number] => [code, bytes]))
  test.each(cases)('a batch that fails with %s after %d bytes does not count', async (code, letThrough) => {
    const { directory, state, writer } = openFailing()
    writer.append([attestation(1)])
    const path = writer.path
    const good = readFileSync(path)

    state.failing = new Set(['write'])
    Object.assign(state, { code, letThrough })
    expect(() => writer.append(attestations(2, 4))).toThrow(DecisionLogError)
    expect(writer.failure).toMatchObject({ reason: code, code: 'DEPENDENCY_UNAVAILABLE' })
    expect(readFileSync(path)).toEqual(good)
    // Each further attempt creates a file, cannot write its header, and removes it.
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

  test('a batch that was written but not flushed does not count', async () => {
    const { directory, writer, failAppend } = openFailing({ sync: true })
    failAppend(['syncData'], attestation(1))
    writer.append([attestation(2)])
    expect(countedRecords(directory)).toEqual([attestation(2)])
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('the next segment does not count complete lines that could not be truncated', async () => {
    const { directory, state, writer, failAppend } = openFailing()
    writer.append([attestation(1)])
    state.letThrough = 2_500
    failAppend(['write', 'truncate'], ...attestations(2, 5))
    // The same uuid again, whose first record does not count.
    writer.append([attestation(2)])
    writer.close()
    expect(countedRecords(directory)).toEqual([attestation(1), attestation(2)])
    const report = await verifyDecisions(directory)
    expect(report).toMatchObject({ ok: true, decisions: 2 })
    expect(report.segments[0]?.warnings[0]).toContain('torn tail of 2500 bytes, recorded in the next segment')
  })

  test('a segment is not used again after a failed rotation, even if the clock is set back', async () => {
    const clock = manualClock()
    const { directory, writer, failAppend } = openFailing({ clock })
    writer.append([attestation(1)])
    clock.nowMs += 86_400_000
    failAppend(['create'], attestation(2))
    clock.nowMs -= 86_400_000
    writer.append([attestation(3)])
    writer.close()
    expect(segmentNames(directory)).toHaveLength(2)
    expect(countedRecords(directory)).toEqual([attestation(1), attestation(3)])
    expect((await verifyDecisions(directory)).ok).toBe(true)
  })

  test('an empty batch ends the failure, for a service without requests', () => {
    const { writer, failAppend } = openFailing()
    failAppend(['write'], attestation(1))
    writer.append([])
    expect(writer.failure).toBeNull()
  })

  test('a removed folder is recreated, and verification reports the missing segment', async () => {
    const { directory, writer, failAppend } = openFailing()
    writer.append([attestation(1)])
    rmSync(join(directory, 'w00'), { recursive: true })
    failAppend(['write'], attestation(2))
    writer.append([attestation(3)])
    writer.close()
    expect(countedRecords(directory)).toEqual([attestation(3)])
    expect((await verifyDecisions(directory)).segments[0]?.warnings[0]).toContain('are not present')
  })

  test('exactly the acknowledged records count, for any sequence of batches, failures, kills and days', async () => {
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
          const batch = attestations(number, number + records)
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
        // A killed instance cannot exclude its refused records, so they may count.
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
  test('refuses batches, keeps acknowledged records, and accepts batches when space is available', async () => {
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
          // The log line contains the code and the folder.
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
