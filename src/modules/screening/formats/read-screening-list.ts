// Parses the files of a list, and refuses implausible content.
import { counted } from '../../../lib/counted.ts'
import { XmlInvalidError } from '../../../lib/xml-scanner.ts'
import type { ListedEntry } from '../matching/entry.ts'
import { readName } from '../matching/names/read-name.ts'
import { ScreeningListInvalidError } from './csv-rows.ts'
import { countryCodeOf } from './list-countries.ts'
import { parseListDates } from './list-dates.ts'
import { readOfacCsv } from './ofac-csv.ts'
import { readOwnCsv, readOwnJson } from './own-list.ts'
import type { ScreeningFormat } from './publishers.ts'
import { readXmlEntries } from './xml-elements.ts'
import { EU_XML, UK_XML, UN_XML } from './xml-lists.ts'

/** Maximum entries: a larger list would exhaust the memory of the search process. */
const LIST_ENTRIES_MAX = 500_000
/** Permitted sizes relative to the previous version. */
const SHRINKS_TO = 0.8
const GROWS_TO = 5
/** Up to this many entries, growth is unlimited. */
const GROWS_FREELY_TO = 1_000
/** Minimum share of entries with comparable names. */
const COMPARABLE_SHARE_MIN = 0.9
const DISTINCT_SHARE_MIN = 0.3
/** Entries, aliases, addresses and comments. */
const OFAC_FILES = 4

const decoder = new TextDecoder('utf-8', { fatal: true })

const textOf = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // Encoding of older OFAC files.
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

const HTML = /^\s*(?:<!doctype html|<html)/i

/** Readers return names, dates and countries as written. */
const READERS: Readonly<Record<ScreeningFormat, (texts: readonly string[]) => readonly ListedEntry[]>> = {
  'ofac-csv': readOfacCsv,
  'un-xml': ([text = '']) => readXmlEntries(text, UN_XML),
  'eu-xml': ([text = '']) => readXmlEntries(text, EU_XML),
  'uk-xml': ([text = '']) => readXmlEntries(text, UK_XML),
  csv: ([text = '']) => readOwnCsv(text),
  json: ([text = '']) => readOwnJson(text),
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)]

const normalized = ({ names, birthDates, countries, ...entry }: ListedEntry): ListedEntry => ({
  ...entry,
  names: distinct(names.map((name) => name.trim()).filter((name) => name !== '')),
  birthDates: distinct(birthDates.flatMap(parseListDates)),
  countries: distinct(countries.flatMap((country) => countryCodeOf(country) ?? [])),
})

export interface ListExpectations {
  readonly entriesMin: number
  readonly now: { readonly entries: number; readonly names: number } | null
}

const checkEntries = (entries: readonly ListedEntry[], { entriesMin, now }: ListExpectations): void => {
  const count = entries.length
  if (count === 0) throw new ScreeningListInvalidError('the list is empty')
  if (count > LIST_ENTRIES_MAX) throw new ScreeningListInvalidError(`the list exceeds ${LIST_ENTRIES_MAX} entries`)
  if (count < entriesMin)
    throw new ScreeningListInvalidError(
      `the file has ${counted(count, 'entry', 'entries')}, but the complete list has at least ${entriesMin}`,
    )
  const namesCount = entries.reduce((sum, entry) => sum + entry.names.length, 0)
  for (const [what, has, had] of [
    ['entries', count, now?.entries],
    ['names', namesCount, now?.names],
  ] as const) {
    if (had === undefined) continue
    if (has < had * SHRINKS_TO || (has > GROWS_FREELY_TO && has > had * GROWS_TO)) {
      throw new ScreeningListInvalidError(`the file has ${has} ${what}, but the current list has ${had}`)
    }
  }
  const ids = new Set(entries.map(({ id }) => id))
  if (ids.size !== count || ids.has(''))
    throw new ScreeningListInvalidError('an entry has no id, or two entries have the same id')
  // An entry for a wallet may have no name.
  const names = entries.flatMap(({ names: [name = ''], wallets }) => (name === '' && wallets.length > 0 ? [] : [name]))
  const comparable = names.filter((name) => {
    const reading = readName(name, 'organization')
    return new Set(reading.words.map(({ written }) => written).join('')).size > 1
  })
  if (comparable.length < names.length * COMPARABLE_SHARE_MIN)
    throw new ScreeningListInvalidError('most names do not look like names')
  if (new Set(names).size < names.length * DISTINCT_SHARE_MIN)
    throw new ScreeningListInvalidError('most names are identical')
}

/** @throws ScreeningListInvalidError with one line for the operator */
export const readScreeningList = (
  format: ScreeningFormat,
  files: readonly Uint8Array[],
  expected: ListExpectations,
): readonly ListedEntry[] => {
  try {
    const texts = files.map(textOf)
    if (texts.some((text) => HTML.test(text))) throw new ScreeningListInvalidError('the file is a web page')
    if (texts.length > (format === 'ofac-csv' ? OFAC_FILES : 1)) {
      throw new ScreeningListInvalidError(`the format ${format} does not support ${texts.length} files`)
    }
    const entries = READERS[format](texts).map(normalized)
    checkEntries(entries, expected)
    return entries
  } catch (error) {
    if (error instanceof XmlInvalidError) throw new ScreeningListInvalidError(error.detail)
    throw error
  }
}
