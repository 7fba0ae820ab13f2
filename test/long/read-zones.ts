// Draws specimens of photographed identity documents, reads the zone of each, and prints the numbers of correct and wrong
// results and the time.
//   bun test/long/read-zones.ts [--count 200] [--seed 1] [--side PIXELS] [--keep FOLDER]
// --side scales each picture to this longest side. --keep writes unread pictures. Needs the font "OCR B" (Debian: fonts-ocr-b).
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readPicture } from '../../src/zone-reader/picture/read-zone.ts'
import { encodeZone } from '../documents/encode-zone.ts'
import { inventContent } from '../documents/invented-person.ts'
import { makeSpecimen, randomOf, scaled } from '../documents/specimen.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    side: { type: 'string' },
    keep: { type: 'string' },
  },
})
const count = Number(values.count)
const nowSeconds = Math.floor(Date.now() / 1000)
const outcomes = { whole: 0, wrong: 0, doubtful: 0, none: 0 }
const cpuMs: number[] = []
let mended = 0

for (let index = 0; index < count; index++) {
  const seed = Number(values.seed) * 1_000 + index
  const lines = encodeZone(inventContent(randomOf(seed)))
  const scaledTo = values.side === undefined ? {} : { scaledTo: Number(values.side) }
  const { jpeg, gray } = await makeSpecimen({ seed, lines, ...scaledTo })
  const before = process.cpuUsage()
  const reading = await readPicture(Math.max(gray.width, gray.height), (side) => scaled(gray, side), nowSeconds)
  const { user, system } = process.cpuUsage(before)
  cpuMs.push((user + system) / 1_000)
  if (reading.kind !== 'read') outcomes[reading.kind]++
  else if (reading.decoded.lines.join('\n') === lines.join('\n')) outcomes.whole++
  else {
    outcomes.wrong++
    console.log(`specimen ${seed} was read wrong:\n${lines.join('\n')}\n${reading.decoded.lines.join('\n')}`)
  }
  if (reading.kind === 'read') mended += reading.decoded.mended
  else console.log(`specimen ${seed}: ${reading.kind}`)
  if (reading.kind !== 'read' && values.keep !== undefined) await Bun.write(join(values.keep, `${seed}.jpg`), jpeg)
}

cpuMs.sort((one, other) => one - other)
const share = (number: number): string => `${((100 * number) / count).toFixed(1)}%`
console.log(`specimens ${count}, read whole ${outcomes.whole} (${share(outcomes.whole)}), read wrong ${outcomes.wrong}`)
console.log(`in doubt ${outcomes.doubtful}, no zone found ${outcomes.none}, characters mended ${mended}`)
console.log(
  `processor time per picture: median ${cpuMs[count >> 1]?.toFixed(0)} ms, longest ${cpuMs.at(-1)?.toFixed(0)} ms`,
)
process.exitCode = outcomes.wrong === 0 && outcomes.whole >= 0.9 * count ? 0 : 1
