// Quality of name screening on complete lists: recall for variants of listed names, hits among ordinary names of many
// countries, time and memory.
//   bun test/long/name-matching.ts SDN.CSV ALT.CSV ADD.CSV SDN_COMMENTS.CSV UN.XML [seed]
import { readFileSync } from 'node:fs'
import { DEFAULT_THRESHOLD } from '../../src/domain/screening-hit.ts'
import { csvRows } from '../../src/modules/screening/formats/csv-rows.ts'
import { readScreeningList } from '../../src/modules/screening/formats/read-screening-list.ts'
import type { ListedEntry } from '../../src/modules/screening/matching/entry.ts'
import { buildScreening, openScreening } from '../../src/modules/screening/matching/screen-subject.ts'
import { answerHelp } from '../support/head-help.ts'
import { createRandom, VARIANTS, type Variant } from './support/name-variants.ts'
import { nativeNames, ordinaryNames } from './support/ordinary-names.ts'

answerHelp(import.meta)

const LISTED_NAMES = 30_000
const EACH_VARIANT = 500
const ORDINARY = 4_000

const [sdn, alt, add, comments, un, seedText = '20260227'] = process.argv.slice(2)
const isComplete = sdn && alt && add && comments && un && /^\d+$/.test(seedText)
if (!isComplete) {
  console.error('usage: bun test/long/name-matching.ts SDN.CSV ALT.CSV ADD.CSV SDN_COMMENTS.CSV UN.XML [seed]')
  process.exit(2)
}
const seed = Number(seedText)
const random = createRandom(seed)
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)}%`
const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(path))

const lists = [
  {
    list: 'ofac-sdn',
    entries: readScreeningList('ofac-csv', [sdn, alt, add, comments].map(bytesOf), { entriesMin: 5_000, now: null }),
  },
  { list: 'un-sc', entries: readScreeningList('un-xml', [bytesOf(un)], { entriesMin: 500, now: null }) },
]
const listed = lists.flatMap(({ entries }) => entries)
const isListed = new Set(listed.flatMap(({ names }) => names.map((name) => name.toLowerCase())))
const namesNow = listed.reduce((sum, { names }) => sum + names.length, 0)
// Invented entries fill the lists up to LISTED_NAMES; none of them counts as found or as a hit.
const FILLER = 'filler'
const fillers = ordinaryNames(random, LISTED_NAMES - namesNow + 500).map(({ name }, at): ListedEntry => {
  const names = [`${name} ${name.split(' ').at(-1)}zq`]
  return { id: `${at}`, kind: 'person', names, birthDates: [], countries: [], wallets: [] }
})
const all = [...lists, { list: FILLER, entries: fillers.slice(0, Math.max(0, LISTED_NAMES - namesNow)) }]
const image = buildScreening(all)
const screening = openScreening(image)
console.log(`seed ${seed}, threshold ${DEFAULT_THRESHOLD}`)
console.log(`${screening.names} names of ${listed.length} entries, ${(image.length / 1e6).toFixed(1)} MB arranged`)

/** Every screened name. */
const screened: { readonly name: string; readonly kind: 'person' | 'organization' }[] = []
const hitsOf = (name: string, kind: 'person' | 'organization') => {
  screened.push({ name, kind })
  const { hits } = screening.screen({ name, kind }, DEFAULT_THRESHOLD)
  return hits.filter(({ list }) => list !== FILLER)
}

const persons = listed.filter(({ kind }) => kind === 'person')
const companies = listed.filter(({ kind }) => kind === 'organization')
const sample = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
const listOf = new Map(lists.flatMap(({ list, entries }) => entries.map((entry) => [entry, list] as const)))

let foundInAll = 0
let triedInAll = 0
const missed: string[] = []
const tryVariant = (variant: Variant, entries: readonly ListedEntry[], kind: 'person' | 'organization'): void => {
  const usable = entries.filter((entry) => variant.suits(entry))
  let found = 0
  let tried = 0
  for (let guard = 0; tried < EACH_VARIANT && guard < 20 * EACH_VARIANT; guard++) {
    const entry = sample(usable)
    const name = sample(variant.ofPrimary ? entry.names.slice(0, 1) : entry.names)
    const written = variant.write(name, random, entry)
    if (written === null) continue
    tried += 1
    const isFound = hitsOf(written, kind).some((hit) => hit.entry === entry.id && hit.list === listOf.get(entry))
    if (isFound) found += 1
    else missed.push(`${variant.name}: ${name} as ${written}`)
  }
  console.log(`  ${kind.padEnd(12)} ${variant.name.padEnd(28)} ${percent(found, tried).padStart(8)} of ${tried}`)
  foundInAll += found
  triedInAll += tried
}
// Warms up the just-in-time compiler.
for (let round = 0; round < 400; round++) screening.screen({ name: sample(sample(persons).names) }, DEFAULT_THRESHOLD)
console.log('recall')
for (const variant of VARIANTS) tryVariant(variant, persons, 'person')
for (const variant of VARIANTS.filter(({ ofCompanies }) => ofCompanies)) tryVariant(variant, companies, 'organization')
console.log(`  together ${percent(foundInAll, triedInAll)} of ${triedInAll}`)

const ordinary = ordinaryNames(random, ORDINARY).filter(({ name }) => !isListed.has(name.toLowerCase()))
const hitByCountry = new Map<string, number>()
const wrong: string[] = []
for (const { name, locale } of ordinary) {
  const [hit] = hitsOf(name, 'person')
  // The same words in another order or alphabet are a correct hit.
  if (hit === undefined || hit.why[0]?.points === 100) continue
  hitByCountry.set(locale, (hitByCountry.get(locale) ?? 0) + 1)
  wrong.push(`${name} (${locale}) as ${hit.name}, ${hit.score}`)
}
const wrongOrdinary = wrong.length
console.log(
  `hits among ${ordinary.length} ordinary names of ${new Set(ordinary.map(({ locale }) => locale)).size} countries and languages: ${percent(wrongOrdinary, ordinary.length)}`,
)

// Names that lists publish in two scripts: the native name is screened against lists of Latin names only.
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u
const pairs = [...csvRows(readFileSync(`${import.meta.dir}/../data/screening/native-names.csv`, 'utf8'))].slice(1)
const pairedNames = new Map(pairs.map(([, , list, entry, names = '']) => [`${list} ${entry}`, names.split(';')]))
const latinOnly = lists.map(({ list, entries }) => ({
  list,
  entries: entries.flatMap((entry) => {
    const listedNames = [...entry.names, ...(pairedNames.get(`${list} ${entry.id}`) ?? [])]
    const names = [...new Set(listedNames)].filter((name) => !OTHER_SCRIPT.test(name))
    return names.length === 0 ? [] : [{ ...entry, names }]
  }),
}))
const inLatin = openScreening(buildScreening(latinOnly))
const byScript = new Map<string, { found: number; tried: number }>()
let nativeFound = 0
for (const [script = '', native = '', list = '', entry = '', names = ''] of pairs) {
  const count = byScript.get(script) ?? { found: 0, tried: 0 }
  byScript.set(script, count)
  count.tried += 1
  const { hits } = inLatin.screen({ name: native, kind: 'person' }, DEFAULT_THRESHOLD)
  if (!hits.some((hit) => hit.list === list && hit.entry === entry)) missed.push(`${script}: ${names} as ${native}`)
  else {
    count.found += 1
    nativeFound += 1
  }
}
console.log('names that lists publish in two scripts')
for (const [script, { found, tried }] of byScript) {
  console.log(`  ${script.padEnd(12)} ${percent(found, tried).padStart(8)} of ${tried}`)
}
console.log(`  together ${percent(nativeFound, pairs.length)} of ${pairs.length}`)
const natives = nativeNames(random, ORDINARY).filter(({ name }) => !isListed.has(name.toLowerCase()))
const wrongNatives = natives.filter(({ name, locale }) => {
  const [hit] = hitsOf(name, 'person')
  if (hit === undefined || hit.why[0]?.points === 100) return false
  wrong.push(`${name} (${locale}) as ${hit.name}, ${hit.score}`)
  return true
})
console.log(
  `hits among ${natives.length} ordinary names in Arabic, Hebrew, Chinese, Japanese and Korean signs: ${percent(wrongNatives.length, natives.length)}`,
)
const languages = new Set(natives.map(({ locale }) => locale.slice(0, 2)))
for (const language of languages) {
  const isOf = ({ locale }: { readonly locale: string }): boolean => locale.startsWith(language)
  console.log(`  ${language} ${percent(wrongNatives.filter(isOf).length, natives.filter(isOf).length)}`)
}

// Each name in several rounds with an empty cache; the least time is that of the search.
const TIMED = 4_000
const ROUNDS = 4
const everyNth = Math.max(1, Math.floor(screened.length / TIMED))
const timed = screened.filter((_, at) => at % everyNth === 0)
const least = new Float64Array(timed.length).fill(Number.POSITIVE_INFINITY)
const startedCpu = process.cpuUsage()
for (let round = 0; round < ROUNDS; round++) {
  const fresh = openScreening(image)
  for (const [at, subject] of timed.entries()) {
    const started = performance.now()
    fresh.screen(subject, DEFAULT_THRESHOLD)
    least[at] = Math.min(least[at] ?? 0, performance.now() - started)
  }
}
const { user, system } = process.cpuUsage(startedCpu)
least.sort()
const quantile = (at: number): string => (least[Math.floor(least.length * at)] ?? 0).toFixed(2)
console.log(
  `one search, the least of ${ROUNDS} rounds: ${quantile(0.5)} ms median, ${quantile(0.99)} ms p99, of ${timed.length}; ${((user + system) / 1_000 / ROUNDS / timed.length).toFixed(2)} ms of processor on average`,
)

if (process.env['SHOW_MISSED'] !== undefined) console.log([...missed, ...wrong].join('\n'))

const failed =
  foundInAll < 0.98 * triedInAll ||
  nativeFound < 0.9 * pairs.length ||
  wrongOrdinary > 0.02 * ordinary.length ||
  wrongNatives.length > 0.02 * natives.length
process.exit(failed ? 1 : 0)
