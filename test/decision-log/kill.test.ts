// SIGKILL during a write: every acknowledged record is in the log, and the log verifies.
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readTail } from '../../src/decision-log/tail.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import { openTestSegment, range, removeTemporaryDirectories, temporaryDirectory, uuidOf } from './fixtures.ts'

afterEach(removeTemporaryDirectories)

test('acknowledged records survive when writers of a slot are killed', async () => {
  const directory = temporaryDirectory()
  const acknowledged: string[] = []
  for (const round of range(0, 4)) {
    const first = round * 1_000_000
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'killed-writer.ts'), directory, String(first)], {
      stdout: 'pipe',
    })
    let output = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk
      if (output.length > 300 + 900 * round) child.kill('SIGKILL')
    }
    await child.exited
    // The last line may be incomplete.
    const last = Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1))
    acknowledged.push(...range(first, last).map(uuidOf))
  }
  openTestSegment(directory).close()
  const report = await verifyDecisions(directory)
  expect(report.segments.filter((segment) => segment.problem !== null)).toEqual([])
  const counted = new Set(readTail(directory, 1_000_000).entries.map((entry) => entry.record.uuid))
  expect(acknowledged.length).toBeGreaterThan(100)
  expect(acknowledged.filter((uuid) => !counted.has(uuid))).toEqual([])
}, 30_000)
