// Hashes of lines for the tree: each counted line once, in order.
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLineIntake, hashLines } from '../../src/decision-log/line-hashes.ts'
import {
  attestation,
  filesWith,
  openTestSegment,
  range,
  readLines,
  removeTemporaryDirectories,
  segmentNames,
  systemError,
  temporaryDirectory,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const hashOf = (line: string): string => createHash('sha256').update(line).digest('hex')
const linesOf = (directory: string, slot: string, name: string): string[] => readLines(join(directory, slot, name))
const split = (hashes: Buffer): string[] =>
  range(0, hashes.length / 32).map((index) => hashes.toString('hex', index * 32, (index + 1) * 32))

/** Returns the hashes of each `slot/segment`, in order. */
const takeAll = (directory: string, runBytes: number, taken = new Map<string, number>()) => {
  const intake = createLineIntake({ directory, taken, runBytes })
  const hashes = new Map<string, string[]>()
  for (let run = intake.next(); run !== null; run = intake.next()) {
    const key = `${run.slot}/${run.segment}`
    expect(run.start).toBe(taken.get(key) ?? 0)
    taken.set(key, run.end)
    hashes.set(key, [...(hashes.get(key) ?? []), ...split(run.hashes)])
  }
  return hashes
}

describe('hashes of lines', () => {
  test('cover all lines of all segments and slots, for any read size', () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) {
      const writer = openTestSegment(directory, { slot, maxBytes: 4_000 })
      for (const number of range(0, 12)) writer.append([attestation(number), attestation(number + 100)])
      writer.close()
    }
    for (const runBytes of [1, 3_000, 1_000_000]) {
      const hashes = takeAll(directory, runBytes)
      for (const slot of ['w00', 'w01']) {
        for (const name of segmentNames(directory, slot)) {
          expect(hashes.get(`${slot}/${name}`)).toEqual(linesOf(directory, slot, name).map(hashOf))
        }
      }
    }
  })

  test('continue from the last position in a log that grows and rotates, even with a new intake', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes: 3_000 })
    const taken = new Map<string, number>()
    const seen: string[] = []
    for (const number of range(0, 9)) {
      writer.append([attestation(number)])
      for (const hashes of takeAll(directory, 1_000_000, taken).values()) seen.push(...hashes)
    }
    const expected = segmentNames(directory).flatMap((name) => linesOf(directory, 'w00', name).map(hashOf))
    expect(seen.toSorted()).toEqual(expected.toSorted())
  })

  test('exclude incomplete lines, and lines that the next segment does not count', () => {
    const directory = temporaryDirectory()
    let fails = false
    const files = filesWith((operation) => {
      if (fails && (operation === 'syncData' || operation === 'truncate')) throw systemError('EIO')
      return undefined
    })
    const writer = openTestSegment(directory, { files, sync: true })
    writer.append([attestation(1)])
    fails = true
    expect(() => writer.append([attestation(2)])).toThrow()
    fails = false
    writer.append([attestation(3)])
    writer.close()
    const [first = '', second = ''] = segmentNames(directory)
    expect(linesOf(directory, 'w00', first)).toHaveLength(3)
    appendFileSync(join(directory, 'w00', second), '{"half')
    const hashes = takeAll(directory, 1_000_000)
    expect(hashes.get(`w00/${first}`)).toHaveLength(2)
    expect(hashes.get(`w00/${second}`)).toHaveLength(2)
  })

  test('are calculated if the next line contains no hash', () => {
    const bytes = Buffer.from('one\ntwo\nthree\nfour')
    const { hashes, length } = hashLines(bytes)
    expect(split(hashes)).toEqual(['one', 'two', 'three'].map(hashOf))
    expect(length).toBe('one\ntwo\nthree\n'.length)
  })

  test('are calculated if the hash in the next line is damaged', () => {
    const lines = ['first', ...['a', 'b', 'x', 'c'].map((digit) => `{"prev":"${digit.repeat(64)}","kind":"x"}`)]
    const { hashes } = hashLines(Buffer.from(`${lines.join('\n')}\n`))
    const claimed = ['a', 'b', 'x', 'c'].map((digit) => digit.repeat(64))
    // Otherwise the hash in the next line is used.
    expect(split(hashes)).toEqual(claimed.with(2, hashOf(lines[2] ?? '')).concat(hashOf(lines[4] ?? '')))
  })
})
