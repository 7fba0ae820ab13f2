// kill -9 in the middle of writing: every acknowledged record is in the log, and the log verifies (faults, row 1).
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readTail } from '../../src/decision-log/tail.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import { openTestSegment, range, removeTemporaryDirectories, temporaryDirectory, uuidOf } from './fixtures.ts'

afterEach(removeTemporaryDirectories)

test('four writers of one slot, each killed while it writes', async () => {
  const directory = temporaryDirectory()
  const acknowledged: string[] = []
  for (const round of range(0, 4)) {
    const first = round * 1_000_000
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'killed-writer.ts'), directory, String(first)], {
      stdout: 'pipe',
    })
    let said = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += chunk
      if (said.length > 300 + 900 * round) child.kill('SIGKILL')
    }
    await child.exited
    // What was cut within its own line was not said.
    const last = Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1))
    acknowledged.push(...range(first, last).map(uuidOf))
  }
  openTestSegment(directory).close()
  const report = await verifyDecisions(directory)
  expect(report.segments.filter((segment) => segment.problem !== null)).toEqual([])
  const counted = new Set(readTail(directory, 1_000_000).entries.map((entry) => entry.record.uuid))
  expect(acknowledged.length).toBeGreaterThan(100)
  expect(acknowledged.filter((uuid) => !counted.has(uuid))).toEqual([])
}, 30_000)
