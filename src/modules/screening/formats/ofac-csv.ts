// The US Treasury's legacy CSV: entries in sdn.csv or cons_prim.csv, aliases in alt.csv, addresses in add.csv. Remarks
// have dates, countries and wallets; sdn_comments.csv continues long ones. `-0-` means empty. Source: OFAC, "SDN List
// data formats and data schemas".
import type { EntryKind, ListedEntry } from '../matching/entry.ts'
import { csvRows, ScreeningListInvalidError } from './csv-rows.ts'
import { countryCodeOf } from './list-countries.ts'
import { parseListDates } from './list-dates.ts'

const COLUMNS_PRIMARY = 12
const COLUMNS_ALIAS = 5
const COLUMNS_ADDRESS = 6
const COLUMNS_COMMENT = 2
/** Longer remarks are truncated, even within a word. */
const REMARKS_CUT_AT = 1_000
const ENTITY_NUMBER = /^\d{1,9}$/

const given = (field: string | undefined): string => (field === undefined || field.trim() === '-0-' ? '' : field.trim())

const KINDS: Readonly<Record<string, EntryKind>> = {
  individual: 'person',
  vessel: 'vessel',
  aircraft: 'aircraft',
  '': 'organization',
}

const rowsOf = (text: string, columns: number, file: string): readonly (readonly string[])[] => {
  const rows = [...csvRows(text)]
  const isBad = (row: readonly string[]): boolean => row.length !== columns || !ENTITY_NUMBER.test(row[0] ?? '')
  const bad = rows.findIndex(isBad)
  if (bad !== -1) {
    throw new ScreeningListInvalidError(`${file}: row ${bad + 1} must have ${columns} columns and start with a number`)
  }
  return rows
}

/** "LAST, First Middle" to "First Middle LAST". */
const spoken = (name: string, kind: EntryKind): string => {
  const comma = name.indexOf(',')
  return kind !== 'person' || comma === -1 ? name : `${name.slice(comma + 1).trim()} ${name.slice(0, comma)}`.trim()
}

const WALLET = /Digital Currency Address - \S+ (\S+)/

const readRemarks = (remarks: string) => {
  const birthDates: string[] = []
  const countries: string[] = []
  const wallets: string[] = []
  const names: string[] = []
  for (const piece of remarks.split(';')) {
    const text = piece.trim().replace(/\.$/, '')
    const wallet = WALLET.exec(text)?.[1]
    if (wallet !== undefined) wallets.push(wallet)
    else if (/^(?:alt\. )?DOB /.test(text)) birthDates.push(...parseListDates(text.replace(/^(?:alt\. )?DOB /, '')))
    else if (/^(?:alt\. )?(?:nationality|citizen|POB) /.test(text)) {
      const place = text.replace(/^(?:alt\. )?(?:nationality|citizen|POB) /, '')
      const country = countryCodeOf(place.slice(place.lastIndexOf(',') + 1))
      if (country !== null) countries.push(country)
    } else {
      const quoted = /^[af]\.k\.a\. '(.+)'$/.exec(text)?.[1]
      if (quoted !== undefined) names.push(quoted)
    }
  }
  return { birthDates, countries, wallets, names }
}

const groupOf = (rows: readonly (readonly string[])[], column: number): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>()
  for (const row of rows) {
    const value = row[column] ?? ''
    if (given(value) === '') continue
    const group = groups.get(row[0] ?? '') ?? []
    group.push(value)
    groups.set(row[0] ?? '', group)
  }
  return groups
}

/** @throws ScreeningListInvalidError if the rest, which may contain wallets and aliases, is missing */
const wholeRemarks = (row: readonly string[], rests: ReadonlyMap<string, readonly string[]> | null): string => {
  const [remarks = '', rest] = [row[11], rests?.get(row[0] ?? '')]
  if (rest !== undefined) return remarks + rest.join('')
  // Complete remarks end with a period, and may have exactly this length.
  if (remarks.length < REMARKS_CUT_AT || (rests !== null && remarks.trimEnd().endsWith('.'))) return remarks
  throw new ScreeningListInvalidError(
    `the remarks of entry ${row[0]} are truncated at ${REMARKS_CUT_AT} characters: also import the comments file (sdn_comments.csv or cons_comments.csv) from the same day`,
  )
}

/** @throws ScreeningListInvalidError for another format, or truncated remarks */
export const readOfacCsv = (files: {
  readonly primary: string
  readonly aliases: string | null
  readonly addresses: string | null
  readonly comments: string | null
}): readonly ListedEntry[] => {
  const grouped = (text: string | null, columns: number, column: number, file: string) =>
    groupOf(text === null ? [] : rowsOf(text, columns, file), column)
  const primary = rowsOf(files.primary, COLUMNS_PRIMARY, 'primary file')
  const aliases = grouped(files.aliases, COLUMNS_ALIAS, 3, 'alias file')
  const places = grouped(files.addresses, COLUMNS_ADDRESS, 4, 'address file')
  const rests = files.comments === null ? null : grouped(files.comments, COLUMNS_COMMENT, 1, 'comments file')
  return primary.map((row) => {
    const id = row[0] ?? ''
    const kind = KINDS[given(row[2])] ?? 'other'
    const remarks = readRemarks(given(wholeRemarks(row, rests)))
    const names = [row[1], ...(aliases.get(id) ?? []), ...remarks.names].map(given)
    const registered =
      kind === 'person' ? [] : (places.get(id) ?? []).flatMap((place) => countryCodeOf(given(place)) ?? [])
    return {
      id,
      kind,
      names: [...new Set(names.filter((name) => name !== '').map((name) => spoken(name, kind)))],
      birthDates: [...new Set(remarks.birthDates)],
      countries: [...new Set([...remarks.countries, ...registered])],
      wallets: remarks.wallets,
    }
  })
}
