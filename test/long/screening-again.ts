// How long it takes to compare verified people with the lists again, in seconds of one processor:
//   bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV UN.XML [people] [seed]      (100,000 unless given)
import { readFileSync } from 'node:fs'
import { readScreeningList } from '../../src/screening/read-screening-list.ts'
import { buildScreening, openScreening } from '../../src/screening/screen-subject.ts'
import { DEFAULT_THRESHOLD } from '../../src/screening/thresholds.ts'
import { createRandom } from './support/name-variants.ts'
import { ordinaryNames } from './support/ordinary-names.ts'

const [sdn, alt, add, un, people = '100000', seed = '20260227'] = process.argv.slice(2)
if (sdn === undefined || alt === undefined || add === undefined || un === undefined) {
  console.error('usage: bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV UN.XML [people] [seed]')
  process.exit(2)
}
const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(path))
const screening = openScreening(
  buildScreening([
    {
      list: 'ofac-sdn',
      entries: readScreeningList('ofac-csv', [sdn, alt, add].map(bytesOf), { entriesMin: 5_000, now: null }),
    },
    { list: 'un-sc', entries: readScreeningList('un-xml', [bytesOf(un)], { entriesMin: 500, now: null }) },
  ]),
)
const names = ordinaryNames(createRandom(Number(seed)), Number(people))
const startedCpu = process.cpuUsage()
const started = performance.now()
let hits = 0
for (const { name } of names) {
  hits += screening.screen({ name, kind: 'person', birthDate: '1985-06-15' }, DEFAULT_THRESHOLD).hits.length
}
const used = process.cpuUsage(startedCpu)
const seconds = (microseconds: number): string => (microseconds / 1e6).toFixed(1)
console.log(`${names.length} people, ${screening.names} listed names, seed ${seed}: ${hits} hits`)
console.log(`${seconds(used.user + used.system)} s of processor in ${seconds((performance.now() - started) * 1_000)} s`)
