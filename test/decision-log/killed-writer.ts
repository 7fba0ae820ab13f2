// Process of kill.test.ts: appends batches, and prints the acknowledged number after each. Arguments: directory, number.
import { writeSync } from 'node:fs'
import { attestations, openTestSegment } from './fixtures.ts'

const [directory = '', first = '0'] = process.argv.slice(2)
const writer = openTestSegment(directory, { maxBytes: 100_000, clock: { unixMs: Date.now } })
for (let number = Number(first); ; number += 7) {
  writer.append(attestations(number, number + 7))
  writeSync(1, `${number + 7}\n`)
}
