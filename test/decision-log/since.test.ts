// The files with decisions since a given time.
import { afterEach, expect, test } from 'bun:test'
import { openSegment } from '../../src/decision-log/segment.ts'
import { segmentsSince } from '../../src/decision-log/time-position.ts'
import { attestation, manualClock, removeTemporaryDirectories, START_MS, temporaryDirectory } from './fixtures.ts'

afterEach(removeTemporaryDirectories)

test('segmentsSince returns the segments of every slot that end after the time', () => {
  const directory = temporaryDirectory()
  const clock = manualClock()
  const hour = 3_600_000
  for (const slot of ['w00', 'w01']) {
    clock.nowMs = START_MS
    const writer = openSegment({ directory, slot, maxBytes: 1, sync: false, clock })
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
