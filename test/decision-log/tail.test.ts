// Reads the newest records of all slots, and follows new records.
import { afterEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DecisionDirectoryMissingError } from '../../src/decision-log/errors.ts'
import { followDecisions } from '../../src/decision-log/follow.ts'
import { encodeRecord, MAX_LINE_BYTES } from '../../src/decision-log/record.ts'
import { readTail, type TailEntry } from '../../src/decision-log/tail.ts'
import {
  attestation,
  attestations,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  temporaryDirectory,
  uuidOf,
  withheld,
  writeSegment,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const uuids = (entries: readonly TailEntry[]): string[] => entries.map((entry) => entry.record.uuid)
const openDescriptors = (): number => readdirSync('/proc/self/fd').length

describe('tail', () => {
  test('merges slots by time across segments, oldest first, with the lines of the files', () => {
    const directory = temporaryDirectory()
    const slots = ['w00', 'w01', 'w02']
    const writers = slots.map((slot) => openTestSegment(directory, { slot, maxBytes: 2_000 }))
    for (const number of range(0, 60)) writers[number % 3]?.append([attestation(number)])
    for (const count of [0, 1, 7, 59, 60, 61]) {
      const { entries, unreadable } = readTail(directory, count)
      expect(uuids(entries)).toEqual(range(Math.max(0, 60 - count), 60).map(uuidOf))
      expect(unreadable).toBe(0)
    }
    const [entry] = readTail(directory, 1).entries
    expect(JSON.parse(entry?.line as string)).toMatchObject({ kind: 'attestation', uuid: uuidOf(59) })
    expect(entry?.slot).toBe('w02')
  })

  test('skips and counts damaged lines, and skips a torn tail', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append([attestation(1)])
    const { length } = readFileSync(writer.path)
    appendFileSync(writer.path, 'damaged\n{"prev":')
    const { entries, unreadable, unreadableAt } = readTail(directory, 10)
    expect(uuids(entries)).toEqual([uuidOf(1)])
    expect([unreadable, unreadableAt]).toEqual([1, `w00/${basename(writer.path)} at byte ${length}`])
  })

  test('fails without a folder', () => {
    expect(() => readTail(join(temporaryDirectory(), 'none'), 1)).toThrow(DecisionDirectoryMissingError)
  })

  test.skipIf(process.platform !== 'linux')('leaves no file open (counts /proc/self/fd: Linux only)', () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) writeSegment(directory, attestations(0, 40), { slot, maxBytes: 2_000 })
    const before = openDescriptors()
    for (const count of [0, 1, 30, 1_000]) readTail(directory, count)
    expect(openDescriptors()).toBe(before)
  })
})

describe('follow', () => {
  /** Runs one step each time the follower has no more lines; then stops it. Returns the uuids that it returned. */
  const follow = async (directory: string, from: number, steps: (() => void)[]): Promise<string[]> => {
    const stop = new AbortController()
    const { entries, position } = readTail(directory, from)
    const seen = uuids(entries)
    const wait = (): Promise<void> => {
      const step = steps.shift()
      if (step === undefined) stop.abort()
      else step()
      return Promise.resolve()
    }
    for await (const entry of followDecisions({ directory, position, wait, signal: stop.signal })) {
      seen.push(entry.record.uuid)
    }
    return seen
  }

  test('continues after the tail, across rotations, new instances, new slots, torn tails and long batches', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 3_000 })
    const append = (from: number, to: number, into = writer) => into.append(attestations(from, to))
    append(0, 5)
    const seen = await follow(directory, 2, [
      () => append(5, 6),
      () => undefined,
      () => {
        for (const number of range(6, 20)) append(number, number + 1)
      },
      () => {
        writer.close()
        appendFileSync(writer.path, '{"torn')
        append(20, 22, openTestSegment(directory))
      },
      () => append(22, 24, openTestSegment(directory, { slot: 'w01' })),
      // A batch that exceeds a read, and a successor.
      () => {
        append(24, 1_024, openTestSegment(directory, { slot: 'w02' }))
        append(1_024, 1_025, openTestSegment(directory, { slot: 'w02' }))
      },
    ])
    expect(seen).toEqual(range(3, 1_025).map(uuidOf))
  })

  test('orders the lines of one read by time', async () => {
    const directory = temporaryDirectory()
    const [first, second] = ['w00', 'w01'].map((slot) => openTestSegment(directory, { slot }))
    const seen = await follow(directory, 0, [
      () => {
        first?.append([attestation(2), attestation(4), withheld(6)])
        second?.append([attestation(1), attestation(3), attestation(5)])
      },
    ])
    expect(seen).toEqual(range(1, 7).map(uuidOf))
  })

  test('reads the longest line, which exceeds a read', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    const { length } = encodeRecord(attestation(2, { policy_name: '' }), '0'.repeat(64))
    const policyName = 'x'.repeat(MAX_LINE_BYTES - length)
    const seen = await follow(directory, 0, [
      () => writer.append([attestation(1), attestation(2, { policy_name: policyName }), attestation(3)]),
    ])
    expect(seen).toEqual([1, 2, 3].map(uuidOf))
  })

  test('waits for the end of a line', async () => {
    const directory = temporaryDirectory()
    const path = writeSegment(directory, [])
    const line = encodeRecord(attestation(1), '0'.repeat(64))
    const seen = await follow(directory, 0, [
      () => appendFileSync(path, line.slice(0, 100)),
      () => undefined,
      () => appendFileSync(path, `${line.slice(100)}\n`),
    ])
    expect(seen).toEqual([uuidOf(1)])
  })

  test('can be stopped between two records', async () => {
    const directory = temporaryDirectory()
    openTestSegment(directory).append(attestations(0, 10))
    const stop = new AbortController()
    const seen: string[] = []
    const wait = () => Promise.reject(new Error('waited'))
    for await (const entry of followDecisions({ directory, position: new Map(), wait, signal: stop.signal })) {
      seen.push(entry.record.uuid)
      if (seen.length === 3) stop.abort()
    }
    expect(seen).toEqual(range(0, 3).map(uuidOf))
  })
})
