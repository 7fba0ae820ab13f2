// A crash at every byte of a write: complete lines survive, and the next segment records the torn tail (invariant 2).
import { afterEach, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { recoverDecisions } from '../../src/decision-log/recover.ts'
import { type SegmentFiles, systemSegmentFiles } from '../../src/decision-log/segment-files.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import {
  attestation,
  denial,
  openTestSegment,
  recordsOf,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
  withheld,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

// Flushing the folder would take most of the time of thousands of openings.
const files: SegmentFiles = { ...systemSegmentFiles, syncPath: () => undefined }

test('the log is valid after a crash at any byte of a batch', async () => {
  const source = temporaryDirectory()
  const writer = openTestSegment(source)
  writer.append([attestation(1)])
  const before = statSync(writer.path).size
  const batch = [withheld(1), denial(2, { code: 'A', message: 'Größe' }), withheld(2)]
  writer.append(batch)
  const bytes = readFileSync(writer.path)
  const whole = (length: number): number => bytes.subarray(before, length).filter((byte) => byte === 10).length

  const directory = temporaryDirectory()
  const slot = join(directory, 'w00')
  const copy = join(slot, basename(writer.path))
  for (let length = before; length <= bytes.length; length++) {
    rmSync(slot, { recursive: true, force: true })
    mkdirSync(slot)
    copyFileSync(writer.path, copy)
    truncateSync(copy, length)
    const survivors = [attestation(1), ...batch.slice(0, whole(length))]

    const crashed = await verifyDecisions(directory)
    expect(crashed.ok).toBe(true)
    const wanted = [2, 3].map((number) => attestation(number).uuid)
    const recovered = recoverDecisions(slot, wanted)
    expect([...recovered.values()]).toEqual(survivors.slice(1).filter((record) => record.kind !== 'withheld'))

    const next = openTestSegment(directory, { files })
    next.append([attestation(3)])
    next.close()
    expect(statSync(copy).size).toBe(length)
    const report = await verifyDecisions(directory)
    expect(report.segments.map((segment) => segment.problem)).toEqual([null, null])
    expect(report.segments[0]?.warnings).toHaveLength(bytes[length - 1] === 10 ? 0 : 1)
    expect(report.segments[0]?.lines).toBe(1 + survivors.length)
  }
}, 30_000)

test('the log is valid after a crash at any byte of the creation of a segment', async () => {
  const directory = temporaryDirectory()
  openTestSegment(directory).append([attestation(1)])
  const second = openTestSegment(directory)
  const size = statSync(second.path).size
  for (let length = size; length >= 0; length--) {
    truncateSync(second.path, length)
    expect((await verifyDecisions(directory)).ok).toBe(true)
    const third = openTestSegment(directory, { files })
    third.append([attestation(2)])
    third.close()
    const report = await verifyDecisions(directory)
    expect(report.segments.map((segment) => segment.problem)).toEqual([null, null, null])
    expect(recoverDecisions(third.path, [attestation(1).uuid]).size).toBe(1)
    rmSync(third.path)
  }
  expect(segmentNames(directory)).toHaveLength(2)
  expect(recordsOf(directory)).toEqual([attestation(1)])
})
