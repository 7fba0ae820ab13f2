// The newest records across slots, and those that come after.
import { afterEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DecisionDirectoryMissingError } from '../../src/decision-log/errors.ts'
import { followDecisions } from '../../src/decision-log/follow.ts'
import { encodeRecord, MAX_LINE_BYTES } from '../../src/decision-log/record.ts'
import { readTail, type TailEntry } from '../../src/decision-log/tail.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  temporaryDirectory,
  uuidOf,
  withheld,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const uuids = (entries: readonly TailEntry[]): string[] => entries.map((entry) => entry.record.uuid)
const openDescriptors = (): number => readdirSync('/proc/self/fd').length

describe('tail', () => {
  test('merges slots by time over many segments, oldest first, and returns lines as they are in the files', () => {
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

  test('passes over damaged lines and counts them, and over a torn tail without a word', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append([attestation(1)])
    const { length } = readFileSync(writer.path)
    appendFileSync(writer.path, 'damaged\n{"prev":')
    const { entries, unreadable, unreadableAt } = readTail(directory, 10)
    expect(uuids(entries)).toEqual([uuidOf(1)])
    expect([unreadable, unreadableAt]).toEqual([1, `w00/${basename(writer.path)} at byte ${length}`])
  })

  test('of a folder that is not there says so', () => {
    expect(() => readTail(join(temporaryDirectory(), 'none'), 1)).toThrow(DecisionDirectoryMissingError)
  })

  test.skipIf(process.platform !== 'linux')('leaves no file open (counts /proc/self/fd: Linux only)', () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) {
      const writer = openTestSegment(directory, { slot, maxBytes: 2_000 })
      writer.append(range(0, 40).map((number) => attestation(number)))
      writer.close()
    }
    const before = openDescriptors()
    for (const count of [0, 1, 30, 1_000]) readTail(directory, count)
    expect(openDescriptors()).toBe(before)
  })
})

describe('follow', () => {
  /** Follows, runs the steps one at a time whenever the follower has nothing left to read, then stops it. */
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

  test('goes on where tail ended: across rotations, new instances, new slots, torn tails and long batches', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 3_000 })
    const append = (from: number, to: number, into = writer) =>
      into.append(range(from, to).map((number) => attestation(number)))
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
      // More than is read at once, and a successor.
      () => {
        append(24, 1_024, openTestSegment(directory, { slot: 'w02' }))
        append(1_024, 1_025, openTestSegment(directory, { slot: 'w02' }))
      },
    ])
    expect(seen).toEqual(range(3, 1_025).map(uuidOf))
  })

  test('orders what it reads in one round by time', async () => {
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

  test('reads the longest line, which is longer than a read', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    const { length } = encodeRecord(attestation(2, { policy_name: '' }), '0'.repeat(64))
    const policyName = 'x'.repeat(MAX_LINE_BYTES - length)
    const seen = await follow(directory, 0, [
      () => writer.append([attestation(1), attestation(2, { policy_name: policyName }), attestation(3)]),
    ])
    expect(seen).toEqual([1, 2, 3].map(uuidOf))
  })

  test('waits for the rest of a line', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    const other = openTestSegment(temporaryDirectory())
    other.append([attestation(1)])
    writer.close()
    const line = readTail(join(other.path, '..', '..'), 1).entries[0]?.line as string
    const seen = await follow(directory, 0, [
      () => appendFileSync(writer.path, line.slice(0, 100)),
      () => undefined,
      () => appendFileSync(writer.path, `${line.slice(100)}\n`),
    ])
    expect(seen).toEqual([uuidOf(1)])
  })

  test('stops between two records when told to', async () => {
    const directory = temporaryDirectory()
    openTestSegment(directory).append(range(0, 10).map((number) => attestation(number)))
    const stop = new AbortController()
    const seen: string[] = []
    const wait = () => Promise.reject(new Error('not asked'))
    for await (const entry of followDecisions({ directory, position: new Map(), wait, signal: stop.signal })) {
      seen.push(entry.record.uuid)
      if (seen.length === 3) stop.abort()
    }
    expect(seen).toEqual(range(0, 3).map(uuidOf))
  })
})
