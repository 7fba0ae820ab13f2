// Parses the files of a list, and refuses implausible content.
import { counted } from '../../../lib/counted.ts'
import { XmlInvalidError } from '../../../lib/xml-scanner.ts'
import type { ListedEntry } from '../matching/entry.ts'
import { readName } from '../matching/names/read-name.ts'
import { ScreeningListInvalidError } from './csv-rows.ts'
import { readEuXml } from './eu-xml.ts'
import { readOfacCsv } from './ofac-csv.ts'
import { readOwnCsv, readOwnJson } from './own-list.ts'
import type { ScreeningFormat } from './publishers.ts'
import { readUkXml } from './uk-xml.ts'
import { readUnXml } from './un-xml.ts'

/** A larger list would exhaust the memory of the search process. */
const LIST_ENTRIES_MAX = 500_000
/** Relative to the previous version. */
const SHRINKS_TO = 0.8
const GROWS_TO = 5
/** Up to this many entries, growth is unlimited. */
const GROWS_FREELY_TO = 1_000
/** Minimum share of entries with comparable names. */
const COMPARABLE_SHARE_MIN = 0.9
const DISTINCT_SHARE_MIN = 0.3

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

const ofFormat = (format: ScreeningFormat, texts: readonly string[]): readonly ListedEntry[] => {
  const [first = '', second = null, third = null, fourth = null] = texts
  if (texts.some((text) => HTML.test(text))) throw new ScreeningListInvalidError('the file is a web page')
  const others = texts.length - (format === 'ofac-csv' ? Math.min(4, texts.length) : 1)
  if (others > 0) throw new ScreeningListInvalidError(`the format ${format} does not support ${texts.length} files`)
  switch (format) {
    case 'ofac-csv':
      return readOfacCsv({ primary: first, aliases: second, addresses: third, comments: fourth })
    case 'un-xml':
      return readUnXml(first)
    case 'eu-xml':
      return readEuXml(first)
    case 'uk-xml':
      return readUkXml(first)
    case 'csv':
      return readOwnCsv(first)
    case 'json':
      return readOwnJson(first)
  }
}

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
    const entries = ofFormat(format, files.map(textOf))
    checkEntries(entries, expected)
    return entries
  } catch (error) {
    if (error instanceof XmlInvalidError) throw new ScreeningListInvalidError(error.detail)
    throw error
  }
}
