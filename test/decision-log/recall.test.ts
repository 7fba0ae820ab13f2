// The search for decisions by uuid, for a client that retries a request, and by time.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDecision, recallDecision } from '../../src/decision-log/recall.ts'
import { offsetSince, segmentsSince, slotSegmentsSince } from '../../src/decision-log/time-position.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import {
  attestation,
  attestations,
  denial,
  manualClock,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  segmentNames,
  temporaryDirectory,
  uuidOf,
  withheld,
  writeSegment,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

describe('recallDecision', () => {
  test('finds a decision in any slot, after any number of later lines and files', async () => {
    const directory = temporaryDirectory()
    for (const slot of ['w00', 'w01']) {
      const writer = openTestSegment(directory, { slot, maxBytes: 20_000 })
      const first = slot === 'w00' ? 0 : 10_000
      for (const start of range(0, 60)) {
        writer.append(attestations(first + start * 10, first + start * 10 + 10))
      }
      writer.close()
    }
    for (const number of [0, 7, 599, 10_000, 10_311]) {
      expect(await recallDecision(directory, uuidOf(number), START_MS)).toEqual(attestation(number))
    }
    expect(await recallDecision(directory, uuidOf(600), START_MS)).toBeNull()
  })

  test('finds a withheld decision, not the record of the withholding', async () => {
    const directory = temporaryDirectory()
    writeSegment(directory, [attestation(1), withheld(1), withheld(2)])
    expect(await recallDecision(directory, uuidOf(1), START_MS)).toEqual(attestation(1))
    expect(await recallDecision(directory, uuidOf(2), START_MS)).toBeNull()
  })

  test('does not read decisions that are too old', async () => {
    const directory = temporaryDirectory()
    writeSegment(directory, attestations(0, 2_000))
    expect(await recallDecision(directory, uuidOf(3), START_MS + 1_900)).toBeNull()
    expect(await recallDecision(directory, uuidOf(1_950), START_MS + 1_900)).toEqual(attestation(1_950))
  })

  test('continues with the next slot after an empty slot and after a slot with older lines', async () => {
    const directory = temporaryDirectory()
    // Enough lines for more than two checks of the time.
    writeSegment(directory, attestations(0, 600))
    mkdirSync(join(directory, 'w01'))
    writeSegment(directory, [attestation(1_000)], { slot: 'w02' })
    expect(await recallDecision(directory, uuidOf(1_000), START_MS + 900)).toEqual(attestation(1_000))
    expect(await recallDecision(directory, uuidOf(3), START_MS + 900)).toBeNull()
  })

  test('returns null without a log', async () => {
    expect(await recallDecision(join(temporaryDirectory(), 'none'), uuidOf(1), 0)).toBeNull()
  })
})

/** A field that contains the uuid of another decision. */
const MENTIONS = { facts: { uuid: uuidOf(3) } } as unknown as Partial<DecisionRecord>

describe('findDecision', () => {
  /** 6,000 decisions in about two dozen files, ten per second. */
  const fill = (slot: string, first = 0): string => {
    const directory = temporaryDirectory()
    const clock = manualClock()
    const writer = openTestSegment(directory, { slot, maxBytes: 200_000, clock })
    for (const start of range(0, 600)) {
      clock.nowMs = START_MS + start * 1_000
      const at = clock.nowMs
      writer.append(range(start * 10, start * 10 + 10).map((number) => attestation(first + number, { at })))
    }
    writer.close()
    return directory
  }

  test('finds a decision after the time of its request, in any file and slot', async () => {
    const directory = fill('w01')
    mkdirSync(join(directory, 'w00'))
    expect(segmentNames(directory, 'w01').length).toBeGreaterThan(10)
    for (const number of [0, 9, 10, 431, 3_000, 5_999]) {
      const at = START_MS + Math.floor(number / 10) * 1_000
      for (const sinceMs of [at, at - 20_000]) {
        expect(await findDecision(directory, uuidOf(number), sinceMs)).toEqual(attestation(number, { at }))
      }
    }
    // Neither older decisions nor much later ones are read.
    expect(await findDecision(directory, uuidOf(3_500), START_MS + 180_000)).toBeNull()
    expect(await findDecision(directory, uuidOf(3_000), START_MS + 400_000)).toBeNull()
    expect(await findDecision(directory, uuidOf(9_000), START_MS)).toBeNull()
    expect(await findDecision(join(directory, 'none'), uuidOf(1), 0)).toBeNull()
  })

  test('starts at a position near the time', async () => {
    const directory = fill('w00')
    for (const seconds of [0, 1, 77, 300, 599]) {
      const sinceMs = START_MS + seconds * 1_000
      const slotDirectory = join(directory, 'w00')
      const segment = slotSegmentsSince(slotDirectory, sinceMs)[0]
      if (segment === undefined) throw new Error('no segment')
      const offset = offsetSince(slotDirectory, segment, sinceMs)
      const text = readFileSync(join(slotDirectory, segment.name), 'utf8')
      const times = [...text.slice(0, offset).matchAll(/"uuid":"[^"]+","at":(\d+)/g)].map(([, at]) => Number(at))
      expect(Math.max(0, ...times)).toBeLessThan(sinceMs)
      // The search ends at a piece of 65,536 bytes.
      const rest = [...text.slice(offset + 66_000).matchAll(/"uuid":"[^"]+","at":(\d+)/g)]
      expect(Number(rest[0]?.[1] ?? sinceMs)).toBeGreaterThanOrEqual(sinceMs)
    }
    expect(slotSegmentsSince(join(directory, 'w00'), START_MS - 10_000)).toHaveLength(segmentNames(directory).length)
    expect(slotSegmentsSince(join(directory, 'none'), START_MS)).toEqual([])
  })

  test('finds decisions after a line that exceeds a read, and in slots after a busy slot', async () => {
    const directory = temporaryDirectory()
    const busy = range(0, 3_000).map((number) => attestation(number, { at: START_MS + number * 10 }))
    writeSegment(directory, busy, { maxBytes: 10_000_000 })
    const large = attestation(5_000, { data: `0x${'ab'.repeat(200_000)}`, data_size: 200_000 })
    const others = [attestation(5_001), attestation(5_002, { at: START_MS + 50_000 })]
    writeSegment(directory, [large, ...others], { slot: 'w01' })
    for (const number of [5_000, 5_001, 5_002, 2_999]) {
      expect((await findDecision(directory, uuidOf(number), START_MS))?.uuid).toBe(uuidOf(number))
    }
  })

  test('finds a decision among many of the same millisecond', async () => {
    const directory = temporaryDirectory()
    writeSegment(directory, [denial(0), ...range(1, 800).map((number) => denial(number, { at: START_MS + 5 }))])
    for (const number of [1, 300, 799]) {
      expect((await findDecision(directory, uuidOf(number), START_MS + 5))?.uuid).toBe(uuidOf(number))
    }
  })

  test('ignores lines that the next file does not count, and fields that contain the uuid', async () => {
    const directory = temporaryDirectory()
    const clock = manualClock()
    const first = openTestSegment(directory, { clock })
    first.append([attestation(1, MENTIONS), attestation(2)])
    const path = join(directory, 'w00', segmentNames(directory)[0] ?? '')
    const whole = readFileSync(path)
    expect(await findDecision(directory, uuidOf(2), START_MS)).not.toBeNull()
    // As after a failed write, whose line the next file does not count.
    truncateSync(path, whole.lastIndexOf(10, whole.length - 2) + 1)
    clock.nowMs += 10
    openTestSegment(directory, { clock }).append([withheld(4), attestation(4, { at: START_MS + 20 })])
    writeFileSync(path, whole)
    expect(await findDecision(directory, uuidOf(2), START_MS)).toBeNull()
    expect(await findDecision(directory, uuidOf(1), START_MS)).toEqual(attestation(1, MENTIONS))
    expect(await findDecision(directory, uuidOf(3), START_MS)).toBeNull()
    expect(await findDecision(directory, uuidOf(4), START_MS)).toEqual(attestation(4, { at: START_MS + 20 }))
  })
})

test('segmentsSince returns the segments of every slot that end after the time', () => {
  const directory = temporaryDirectory()
  const clock = manualClock()
  const hour = 3_600_000
  for (const slot of ['w00', 'w01']) {
    clock.nowMs = START_MS
    const writer = openTestSegment(directory, { slot, maxBytes: 1, clock })
    for (const n of [0, 1, 2, 3]) {
      clock.nowMs = START_MS + n * hour
      writer.append([attestation(n)])
    }
    writer.close()
  }
  const since = (milliseconds: number): string[] =>
    segmentsSince(directory, milliseconds).map(({ slot, name }) => `${slot} ${name.slice(9, 15)}`)
  const all = since(0)
  expect(all.length).toBeGreaterThanOrEqual(8)
  expect(since(START_MS + 10 * hour)).toEqual([all[all.length / 2 - 1] ?? '', all.at(-1) ?? ''])
  // Includes the segment that was open at that time.
  expect(since(START_MS + 2.5 * hour).length).toBeLessThan(all.length)
  expect(since(START_MS + 2.5 * hour)).toContain('w00 121112')
  for (const { size } of segmentsSince(directory, 0)) expect(size).toBeGreaterThan(0)
})

describe('after the clock was set back', () => {
  const START_AGAIN = [false, true]
  test.each([2_000, 60_000, 86_400_000].flatMap((backMs) => START_AGAIN.map((again) => [backMs, again] as const)))(
    'by %p ms, an earlier decision is found (writer opened again: %p)',
    async (backMs, again) => {
      const directory = temporaryDirectory()
      const clock = manualClock()
      let writer = openTestSegment(directory, { maxBytes: 100_000_000, clock })
      const append = (first: number, count: number, everyMs: number): void => {
        for (const number of range(first, first + count)) {
          writer.append([denial(number, { at: clock.nowMs })])
          clock.nowMs += everyMs
        }
      }
      append(0, 300, 100)
      const claimedMs = clock.nowMs
      append(1_000, 1, 10)
      clock.nowMs -= backMs
      if (again) {
        writer.close()
        writer = openTestSegment(directory, { maxBytes: 100_000_000, clock })
      }
      // Decided for a claim from before the step.
      append(1_001, 1, 10)
      append(2_000, 600, 1)
      clock.nowMs = claimedMs + 1_000
      append(3_000, 600, 1)
      writer.close()
      for (const number of [1_000, 1_001]) {
        expect((await recallDecision(directory, uuidOf(number), claimedMs - 5_000))?.uuid).toBe(uuidOf(number))
      }
      expect(await recallDecision(directory, uuidOf(0), claimedMs - 5_000)).toBeNull()
      expect((await findDecision(directory, uuidOf(3_599), claimedMs + 1_000))?.uuid).toBe(uuidOf(3_599))
    },
  )
})
