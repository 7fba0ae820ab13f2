// A line of the log by its position, and its hash links to the adjacent lines.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LinePlace, readPlaces, readProven } from '../../src/decision-log/located.ts'
import { hashLine } from '../../src/decision-log/record.ts'
import { createSlotScanner } from '../../src/decision-log/scan.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
  uuidOf,
} from './fixtures.ts'

let directory: string
let places: LinePlace[]

beforeEach(() => {
  directory = temporaryDirectory()
  const writer = openTestSegment(directory, { maxBytes: 3_000 })
  for (const n of range(0, 8)) writer.append([attestation(n)])
  const scanner = createSlotScanner(directory, 'w00', null)
  places = []
  for (let line = scanner.peek(); line !== null; line = scanner.peek()) {
    const { slot, segment, offset, length } = line
    places.push({ slot, segment, offset, length })
    scanner.take()
  }
  scanner.close()
})
afterEach(removeTemporaryDirectories)

const place = (n: number): LinePlace => places[n] as LinePlace
const pathOf = ({ slot, segment }: LinePlace): string => join(directory, slot, segment)

describe('a line with its proof', () => {
  test('is linked to the previous and the next line', () => {
    for (const [n, one] of places.entries()) {
      const proven = readProven(directory, one)
      expect(proven?.record.uuid).toBe(uuidOf(n))
      expect(proven?.proof).toMatchObject({ ...one, hash: hashLine(proven?.line ?? ''), previousMatches: true })
      const next = places[n + 1]
      expect(proven?.proof.nextMatches ?? null).toBe(next?.segment === one.segment ? true : null)
    }
  })

  test('reports a changed adjacent line', () => {
    const one = place(1)
    const text = readFileSync(pathOf(one), 'utf8')
    writeFileSync(pathOf(one), text.replace(uuidOf(1), uuidOf(99)))
    expect(readProven(directory, place(0))?.proof).toMatchObject({ previousMatches: true, nextMatches: true })
    expect(readProven(directory, one)?.proof).toMatchObject({ previousMatches: true, nextMatches: false })
    expect(readProven(directory, place(2))?.proof.previousMatches).toBe(false)
  })

  test('is null if its file is missing or too short', () => {
    const one = place(0)
    expect(readProven(directory, { ...one, offset: 1e6 })).toBeNull()
    expect(readProven(directory, { ...one, length: one.length + 1 })).toBeNull()
    rmSync(pathOf(one))
    expect(readProven(directory, one)).toBeNull()
  })
})

test('readPlaces returns lines in the given order, and null for missing lines', () => {
  expect(segmentNames(directory).length).toBeGreaterThan(1)
  const texts = readPlaces(directory, [place(7), place(0), { ...place(3), offset: 1e6 }, place(4)])
  const uuids = texts.map((text) => (text === null ? null : (JSON.parse(text) as { uuid: string }).uuid))
  expect(uuids).toEqual([uuidOf(7), uuidOf(0), null, uuidOf(4)])
})
