// One decision by its uuid, for a client that comes again after its first try was cut off.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { recallDecision } from '../../src/decisions/recall.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  temporaryDirectory,
  uuidOf,
  withheld,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

describe('recalling a decision', () => {
  test('finds it in any slot, however many lines and files came after it', async () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) {
      const writer = openTestSegment(directory, { slot, maxBytes: 20_000 })
      const first = slot === 'w00' ? 0 : 10_000
      for (const start of range(0, 60)) {
        writer.append(range(first + start * 10, first + start * 10 + 10).map((number) => attestation(number)))
      }
      writer.close()
    }
    for (const number of [0, 7, 599, 10_000, 10_311]) {
      expect(await recallDecision(directory, uuidOf(number), START_MS)).toEqual(attestation(number))
    }
    expect(await recallDecision(directory, uuidOf(600), START_MS)).toBeNull()
  })

  test('finds what was withheld from its first request, and passes over the note that says so', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append([attestation(1), withheld(1), withheld(2)])
    writer.close()
    expect(await recallDecision(directory, uuidOf(1), START_MS)).toEqual(attestation(1))
    expect(await recallDecision(directory, uuidOf(2), START_MS)).toBeNull()
  })

  test('does not read the whole past', async () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append(range(0, 2_000).map((number) => attestation(number)))
    writer.close()
    expect(await recallDecision(directory, uuidOf(3), START_MS + 1_900)).toBeNull()
    expect(await recallDecision(directory, uuidOf(1_950), START_MS + 1_900)).toEqual(attestation(1_950))
  })

  test('goes on to the next slot after one whose lines are all older, and after one that holds none', async () => {
    const directory = temporaryDirectory()
    // More than two looks at the time.
    const old = openTestSegment(directory, { slot: 'w00' })
    old.append(range(0, 600).map((number) => attestation(number)))
    old.close()
    mkdirSync(join(directory, 'w01'))
    const newer = openTestSegment(directory, { slot: 'w02' })
    newer.append([attestation(1_000)])
    newer.close()
    expect(await recallDecision(directory, uuidOf(1_000), START_MS + 900)).toEqual(attestation(1_000))
    expect(await recallDecision(directory, uuidOf(3), START_MS + 900)).toBeNull()
  })

  test('of a log that is not there yet is nothing', async () => {
    expect(await recallDecision(join(temporaryDirectory(), 'none'), uuidOf(1), 0)).toBeNull()
  })
})
