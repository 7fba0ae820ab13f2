// The hashes of lines as the tree takes them: all of them once, in order, and none that does not count.
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLineIntake, hashLines } from '../../src/decision-log/line-hashes.ts'
import {
  attestation,
  filesWith,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  systemError,
  temporaryDirectory,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

const hashOf = (line: string): string => createHash('sha256').update(line).digest('hex')
const linesOf = (directory: string, slot: string, name: string): string[] =>
  readFileSync(join(directory, slot, name), 'utf8')
    .split('\n')
    .slice(0, -1)
const split = (hashes: Buffer): string[] =>
  range(0, hashes.length / 32).map((index) => hashes.toString('hex', index * 32, (index + 1) * 32))

/** `slot/segment` → hashes in the order in which they came. */
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
  test('are those of the lines, over segments and slots, however little is read at once', () => {
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

  test('a log that grows and rotates is taken up where it was left, also by another intake', () => {
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

  test('half a line is not taken, and neither are lines that the next segment does not count', () => {
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

  test('a line whose follower carries no hash is hashed itself', () => {
    const bytes = Buffer.from('one\ntwo\nthree\nfour')
    const { hashes, length } = hashLines(bytes)
    expect(split(hashes)).toEqual(['one', 'two', 'three'].map(hashOf))
    expect(length).toBe('one\ntwo\nthree\n'.length)
  })

  test('a line that was damaged where it carries a hash stops nothing: the line before it is hashed itself', () => {
    const lines = ['first', ...['a', 'b', 'x', 'c'].map((digit) => `{"prev":"${digit.repeat(64)}","kind":"x"}`)]
    const { hashes } = hashLines(Buffer.from(`${lines.join('\n')}\n`))
    const claimed = ['a', 'b', 'x', 'c'].map((digit) => digit.repeat(64))
    // What a line says of the one before is taken, except where it can't be a hash.
    expect(split(hashes)).toEqual([
      claimed[0],
      claimed[1],
      hashOf(lines[2] ?? ''),
      claimed[3],
      hashOf(lines[4] ?? ''),
    ] as string[])
  })
})
