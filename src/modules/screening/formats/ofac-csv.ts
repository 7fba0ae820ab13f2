// The US Treasury's legacy CSV: entries in sdn.csv or cons_prim.csv, aliases in alt.csv, addresses in add.csv. Remarks
// have dates, countries and wallets; sdn_comments.csv continues long remarks. `-0-` means empty. Source: OFAC, "SDN
// List data formats and data schemas".
import type { EntryKind, ListedEntry } from '../matching/entry.ts'
import { csvRows, ScreeningListInvalidError } from './csv-rows.ts'

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

/** Converts "LAST, First Middle" to "First Middle LAST". */
const spoken = (name: string, kind: EntryKind): string => {
  const comma = name.indexOf(',')
  return kind !== 'person' || comma === -1 ? name : `${name.slice(comma + 1).trim()} ${name.slice(0, comma)}`.trim()
}

const REMARKS = {
  wallets: /Digital Currency Address - \S+ (\S+)/,
  birthDates: /^(?:alt\. )?DOB (.*)/s,
  countries: /^(?:alt\. )?(?:nationality|citizen|POB) (?:.*,)?(.*)/s,
  names: /^[af]\.k\.a\. '(.+)'$/,
} as const

const readRemarks = (remarks: string) => {
  const pieces = remarks.split(';').map((piece) => piece.trim().replace(/\.$/, ''))
  return (part: keyof typeof REMARKS): readonly string[] =>
    pieces.flatMap((piece) => REMARKS[part].exec(piece)?.[1] ?? [])
}

/** Returns the values of a file's column, by entity number. */
const columnOf = (text: string | undefined, columns: number, column: number, file: string) => {
  const groups = Map.groupBy(text === undefined ? [] : rowsOf(text, columns, file), ([id]) => id)
  return (id: string): readonly string[] =>
    (groups.get(id) ?? []).map((row) => row[column] ?? '').filter((value) => given(value) !== '')
}

/** @throws ScreeningListInvalidError for another format, or if the rest of truncated remarks is missing */
export const readOfacCsv = ([first = '', second, third, fourth]: readonly string[]): readonly ListedEntry[] => {
  const primary = rowsOf(first, COLUMNS_PRIMARY, 'primary file')
  const aliasesOf = columnOf(second, COLUMNS_ALIAS, 3, 'alias file')
  const placesOf = columnOf(third, COLUMNS_ADDRESS, 4, 'address file')
  const commentsOf = columnOf(fourth, COLUMNS_COMMENT, 1, 'comments file')
  /** Appends the rest of truncated remarks, which may contain wallets and aliases. */
  const wholeRemarks = (id: string, remarks: string): string => {
    const rest = commentsOf(id)
    // Complete remarks end with a period, and may have exactly this length.
    const isWhole = remarks.length < REMARKS_CUT_AT || (fourth !== undefined && remarks.trimEnd().endsWith('.'))
    if (isWhole || rest.length > 0) return remarks + rest.join('')
    throw new ScreeningListInvalidError(
      `the remarks of entry ${id} are truncated at ${REMARKS_CUT_AT} characters: also import the comments file (sdn_comments.csv or cons_comments.csv) from the same day`,
    )
  }
  return primary.map(([id = '', name, written, ...row]) => {
    const kind = KINDS[given(written)] ?? 'other'
    const remarksOf = readRemarks(given(wholeRemarks(id, row.at(-1) ?? '')))
    return {
      id,
      kind,
      names: [name, ...aliasesOf(id), ...remarksOf('names')].map((each) => spoken(given(each), kind)),
      birthDates: remarksOf('birthDates'),
      countries: [...remarksOf('countries'), ...(kind === 'person' ? [] : placesOf(id))],
      wallets: remarksOf('wallets'),
    }
  })
}
