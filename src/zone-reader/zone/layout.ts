// The three formats of a machine-readable zone. Sources: ICAO 9303-4 §4.2 (TD3), 9303-5 §4.2 (TD1), 9303-6 §4.2 (TD2).

import type { ZoneFormat } from '../../domain/document-zone.ts'

/** Characters, in the order of the classifier's outputs. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<'

/** Weights of check digits (ICAO 9303-3 §4.9). */
const WEIGHTS = [7, 3, 1] as const

const weightOf = (character: string): number => {
  const digit = '0123456789'.indexOf(character)
  if (digit !== -1) return digit
  return character >= 'A' && character <= 'Z' ? character.charCodeAt(0) - 55 : 0
}

export const checkDigitOf = (text: string): string => {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum += weightOf(text[at] ?? '') * (WEIGHTS[at % 3] ?? 0)
  return String(sum % 10)
}

/** Positions in one line. */
export interface Span {
  readonly row: number
  readonly start: number
  readonly length: number
}

export type FieldName =
  | 'type'
  | 'issuer'
  | 'names'
  | 'number'
  | 'nationality'
  | 'birthDate'
  | 'sex'
  | 'expiryDate'
  | 'optional'
  | 'optionalSecond'

export interface CheckGroup {
  readonly name: 'number' | 'birthDate' | 'expiryDate' | 'optional' | 'composite'
  readonly covers: readonly Span[]
  readonly digit: Span
}

export interface ZoneLayout {
  readonly format: ZoneFormat
  readonly rows: number
  readonly columns: number
  readonly fields: Readonly<Partial<Record<FieldName, Span>>>
  readonly checks: readonly CheckGroup[]
  /**
   * First letters of the document type. TD2 excludes the letters of TD3, because the start of a passport's lines can
   * have valid check digits as TD2. Visas use another format.
   */
  readonly types: string
}

const span = (row: number, start: number, length: number): Span => ({ row, start, length })

/** TD2 and TD3 differ in line length and the check digit of optional data. */
const twoLines = (format: 'TD2' | 'TD3', columns: number, types: string): ZoneLayout => {
  const optional = span(1, 28, format === 'TD3' ? 14 : 7)
  const number = span(1, 0, 9)
  const birthDate = span(1, 13, 6)
  const expiryDate = span(1, 21, 6)
  const ownDigit: CheckGroup[] =
    format === 'TD3' ? [{ name: 'optional', covers: [optional], digit: span(1, 42, 1) }] : []
  return {
    format,
    columns,
    types,
    rows: 2,
    fields: {
      number,
      birthDate,
      expiryDate,
      optional,
      type: span(0, 0, 2),
      issuer: span(0, 2, 3),
      names: span(0, 5, columns - 5),
      nationality: span(1, 10, 3),
      sex: span(1, 20, 1),
    },
    checks: [
      { name: 'number', covers: [number], digit: span(1, 9, 1) },
      { name: 'birthDate', covers: [birthDate], digit: span(1, 19, 1) },
      { name: 'expiryDate', covers: [expiryDate], digit: span(1, 27, 1) },
      ...ownDigit,
      {
        name: 'composite',
        covers: [span(1, 0, 10), span(1, 13, 7), span(1, 21, columns - 22)],
        digit: span(1, columns - 1, 1),
      },
    ],
  }
}

const THREE_LINES: ZoneLayout = {
  format: 'TD1',
  rows: 3,
  columns: 30,
  types: 'ACI',
  fields: {
    type: span(0, 0, 2),
    issuer: span(0, 2, 3),
    number: span(0, 5, 9),
    optional: span(0, 15, 15),
    birthDate: span(1, 0, 6),
    sex: span(1, 7, 1),
    expiryDate: span(1, 8, 6),
    nationality: span(1, 15, 3),
    optionalSecond: span(1, 18, 11),
    names: span(2, 0, 30),
  },
  checks: [
    { name: 'number', covers: [span(0, 5, 9)], digit: span(0, 14, 1) },
    { name: 'birthDate', covers: [span(1, 0, 6)], digit: span(1, 6, 1) },
    { name: 'expiryDate', covers: [span(1, 8, 6)], digit: span(1, 14, 1) },
    {
      name: 'composite',
      covers: [span(0, 5, 25), span(1, 0, 7), span(1, 8, 7), span(1, 18, 11)],
      digit: span(1, 29, 1),
    },
  ],
}

export const LAYOUTS: readonly ZoneLayout[] = [twoLines('TD3', 44, 'P'), twoLines('TD2', 36, 'ACI'), THREE_LINES]

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'

/** Returns the permitted characters of each position, by row. */
export const allowedOf = (layout: ZoneLayout): readonly (readonly string[])[] => {
  const allowed = Array.from({ length: layout.rows }, () => new Array<string>(layout.columns).fill(ALPHABET))
  const put = (place: Span | undefined, characters: string): void => {
    if (place !== undefined) allowed[place.row]!.fill(characters, place.start, place.start + place.length)
  }
  const { type, issuer, names, nationality, birthDate, sex, expiryDate } = layout.fields
  for (const letters of [issuer, names, nationality]) put(letters, `${LETTERS}<`)
  put(type, `${LETTERS}<`)
  if (type !== undefined) allowed[type.row]![type.start] = layout.types
  put(expiryDate, DIGITS)
  // Month and day of birth may be unknown.
  put(birthDate, `${DIGITS}<`)
  put(sex, 'MF<')
  for (const { name, digit } of layout.checks) {
    // A filler if the field is empty, or a long number continues in the optional data.
    put(digit, name === 'optional' || name === 'number' ? `${DIGITS}<` : DIGITS)
  }
  return allowed
}
