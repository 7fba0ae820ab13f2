// Run by kill.test.ts as a process of its own: appends batches for as long as it lives, and says after each which
// numbers are acknowledged. Arguments: directory, first number.
import { writeSync } from 'node:fs'
import { attestation, openTestSegment, range } from './fixtures.ts'

const [directory = '', first = '0'] = process.argv.slice(2)
const writer = openTestSegment(directory, { maxBytes: 100_000, clock: { unixMs: Date.now } })
for (let number = Number(first); ; number += 7) {
  writer.append(range(number, number + 7).map((each) => attestation(each)))
  writeSync(1, `${number + 7}\n`)
}
