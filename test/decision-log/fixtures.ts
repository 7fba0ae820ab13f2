// Records, temporary folders and failing files for tests of the decision log.
import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRecordLine } from '../../src/decision-log/record.ts'
import { openSegment, type SegmentOptions } from '../../src/decision-log/segment.ts'
import { type SegmentFiles, systemSegmentFiles } from '../../src/decision-log/segment-files.ts'
import { listSegments } from '../../src/decision-log/segment-name.ts'
import type { DecisionRecord, LogRecord, SegmentWriter, WithheldRecord } from '../../src/decision-log/types.ts'
import { until } from '../support/until.ts'

/** 2026-11-20T10:11:12.123Z */
export const START_MS = 1_795_169_472_123

/** Returns a uuid v4, derived from the number. */
export const uuidOf = (number: number): string => {
  const hex = createHash('sha256').update(`decision ${number}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const attestation = (number: number, changes: Partial<DecisionRecord> = {}): DecisionRecord => ({
  kind: 'attestation',
  uuid: uuidOf(number),
  at: START_MS + number,
  organization: 'org_4mBqk0WcJd2TnXfA',
  project: 'project_4mBqk0WcJd2TnXfA',
  key: '4mBqk0WcJd2TnXfA',
  request: `request-${number}`,
  policy: 'policy_4mBqk0WcJd2TnXfA',
  revision: 'revision_4mBqk0WcJd2TnXfA',
  verification_hash: 'x-0123456789abcdef0123456789abcdef',
  chain: 'ethereum',
  from: '0x000000000000000000000000000000000000dead',
  to: '0x1111111111111111111111111111111111111111',
  value: '1000000000000000000',
  data_sha256: createHash('sha256').update('').digest('hex'),
  data_size: 0,
  compliant: true,
  rule: 'allow-all',
  expiration: 1_795_169_772,
  attesters: ['0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'],
  signatures: [`0x${number.toString(16).padStart(130, '0')}`],
  policy_name: 'Demo policy',
  ...changes,
})

export const attestations = (from: number, to: number): DecisionRecord[] =>
  range(from, to).map((number) => attestation(number))

export const denial = (number: number, changes: Partial<DecisionRecord> = {}): DecisionRecord =>
  attestation(number, { compliant: false, expiration: 0, attesters: [], signatures: [], rule: 'deny-some', ...changes })

export const task = (number: number, changes: Partial<DecisionRecord> = {}): DecisionRecord =>
  attestation(number, { kind: 'task', ...changes })

export const withheld = (number: number): WithheldRecord => ({
  kind: 'withheld',
  uuid: uuidOf(number),
  at: START_MS + number,
})

export const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

const made: string[] = []

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-decisions-'))
  made.push(directory)
  return directory
}

const OPEN_FILES = '/proc/self/fd'

/** Returns the paths in a folder that this process has opened read-only. Empty if /proc is unavailable. */
const openForReading = (directory: string): string[] =>
  !existsSync(OPEN_FILES)
    ? []
    : readdirSync(OPEN_FILES).flatMap((descriptor) => {
        try {
          const path = readlinkSync(join(OPEN_FILES, descriptor))
          const info = readFileSync(join('/proc/self/fdinfo', descriptor), 'utf8')
          return path.startsWith(directory) && /^flags:\s+\d*0$/m.test(info) ? [path] : []
        } catch {
          // Closed after the folder was listed.
          return []
        }
      })

/** Waits for readers that close their files after they return, such as uploads. */
export const untilReadersClose = (): Promise<void> =>
  until(() => made.every((directory) => openForReading(directory).length === 0))

/** For afterEach. Readers must have closed their files. */
export const removeTemporaryDirectories = (): void => {
  for (const directory of made.splice(0)) {
    const open = openForReading(directory)
    rmSync(directory, { recursive: true, force: true })
    expect(open).toEqual([])
  }
}

export const manualClock = (startMs = START_MS) => {
  const clock = { nowMs: startMs, unixMs: () => clock.nowMs }
  return clock
}

export const openTestSegment = (directory: string, changes: Partial<SegmentOptions> = {}): SegmentWriter =>
  openSegment({ directory, slot: 'w00', maxBytes: 1_000_000, sync: false, clock: manualClock(), ...changes })

/** Writes one batch of records to a new segment. Returns its path. */
export const writeSegment = (
  directory: string,
  records: readonly LogRecord[],
  changes: Partial<SegmentOptions> = {},
): string => {
  const writer = openTestSegment(directory, changes)
  writer.append(records)
  writer.close()
  return writer.path
}

/** Returns the file names of a slot, in order; an empty array if the slot has no folder. */
export const segmentNames = (directory: string, slot = 'w00'): string[] =>
  listSegments(join(directory, slot)).map((segment) => segment.name)

export const readLines = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1)

/** Returns the records in the files of a slot, including records that the next segment does not count. */
export const recordsOf = (directory: string, slot = 'w00'): LogRecord[] =>
  segmentNames(directory, slot).flatMap((name) =>
    readLines(join(directory, slot, name))
      .slice(1)
      .map((line) => parseRecordLine(line).record),
  )

export const systemError = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code })

export type FileOperation = keyof SegmentFiles

/**
 * File operations with a hook before each. The hook can throw; for `write`, it can return the number of bytes to write
 * before the failure.
 */
export const filesWith = (before: (operation: FileOperation) => number | undefined): SegmentFiles => {
  const hooked = Object.entries(systemSegmentFiles).map(([operation, run]) => [
    operation,
    (...values: unknown[]): unknown => {
      before(operation as FileOperation)
      return (run as (...values: unknown[]) => unknown)(...values)
    },
  ])
  return {
    ...(Object.fromEntries(hooked) as SegmentFiles),
    write: (descriptor, bytes, offset, length) => {
      const allowed = before('write')
      return systemSegmentFiles.write(descriptor, bytes, offset, Math.min(allowed ?? length, length))
    },
  }
}
