// How long it takes to compare verified people with the lists again, in the process that does it:
//   bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV UN.XML [people] [seed]      (100,000 unless given)
import { readFileSync } from 'node:fs'
import { packEntries } from '../../src/screening/entry-lines.ts'
import { readScreeningList } from '../../src/screening/read-screening-list.ts'
import { DEFAULT_THRESHOLD } from '../../src/screening/thresholds.ts'
import { screeningProcesses } from '../../src/wiring/screening-processes.ts'
import { createRandom } from './support/name-variants.ts'
import { ordinaryNames } from './support/ordinary-names.ts'

const [sdn, alt, add, un, people = '100000', seed = '20260227'] = process.argv.slice(2)
if (sdn === undefined || alt === undefined || add === undefined || un === undefined) {
  console.error('usage: bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV UN.XML [people] [seed]')
  process.exit(2)
}
const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(path))
const packed = (list: string, entries: Parameters<typeof packEntries>[0]) => ({
  list,
  bytes: packEntries(entries).bytes,
})
const screener = await screeningProcesses.startScreener([
  packed('ofac-sdn', readScreeningList('ofac-csv', [sdn, alt, add].map(bytesOf), { entriesMin: 5_000, now: null })),
  packed('un-sc', readScreeningList('un-xml', [bytesOf(un)], { entriesMin: 500, now: null })),
])
const names = ordinaryNames(createRandom(Number(seed)), Number(people))
const BATCH = 50
const started = performance.now()
let hits = 0
for (let at = 0; at < names.length; at += BATCH) {
  const subjects = names
    .slice(at, at + BATCH)
    .map(({ name }) => ({ name, kind: 'person' as const, birthDate: '1985-06-15' }))
  const answers = await screener.screen(subjects, DEFAULT_THRESHOLD)
  hits += answers.reduce((sum, answer) => sum + answer.hits.length, 0)
}
const seconds = (performance.now() - started) / 1_000
await screener.close()
const used = process.resourceUsage()
console.log(`${names.length} people in ${seconds.toFixed(1)} s, ${hits} hits; seed ${seed}`)
console.log(
  `this process besides: ${((used.userCPUTime + used.systemCPUTime) / 1e6).toFixed(1)} s of processor, lists included`,
)
