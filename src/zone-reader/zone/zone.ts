// Interprets the lines of a decoded zone. Source: ICAO 9303-3 §4.

import type { Zone } from '../../domain/document-zone.ts'
import { checkDigitOf, type FieldName, type Span, type ZoneLayout } from './layout.ts'

export const textAt = (lines: readonly string[], { row, start, length }: Span): string =>
  (lines[row] ?? '').slice(start, start + length)

const plain = (text: string): string => text.replaceAll('<', ' ').trim().replace(/ +/g, ' ')

const dateOf = (year: number, text: string): string | null => {
  const date = `${year}-${text.slice(2, 4)}-${text.slice(4, 6)}`
  const at = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === date ? date : null
}

/** The year has two digits: births are in the past, expiries at most 50 years in the future. */
const birthDateOf = (text: string, nowSeconds: number): string | null => {
  const now = new Date(nowSeconds * 1000).toISOString().slice(0, 10)
  const date = dateOf(2000 + Number(text.slice(0, 2)), text)
  return date !== null && date > now ? dateOf(1900 + Number(text.slice(0, 2)), text) : date
}

const expiryDateOf = (text: string, nowSeconds: number): string | null => {
  const thisYear = new Date(nowSeconds * 1000).getUTCFullYear()
  const year = 2000 + Number(text.slice(0, 2))
  return dateOf(year - thisYear > 50 ? year - 100 : year, text)
}

/** With a filler as check digit, the number continues in the optional data (ICAO 9303-5 §4.2.4). Null if invalid. */
const numberOf = (lines: readonly string[], layout: ZoneLayout): string | null => {
  const first = textAt(lines, layout.fields.number ?? { row: 0, start: 0, length: 0 })
  const digit = layout.checks.find(({ name }) => name === 'number')?.digit
  if (digit === undefined || textAt(lines, digit) !== '<') return plain(first).replaceAll(' ', '')
  const rest = layout.fields.optional === undefined ? '' : (textAt(lines, layout.fields.optional).split('<')[0] ?? '')
  const number = first + rest.slice(0, -1)
  return rest.length > 1 && checkDigitOf(number) === rest.at(-1) ? number : null
}

/** Requires valid check digits. Null if a date doesn't exist or the names are malformed. */
export const zoneOf = (lines: readonly string[], layout: ZoneLayout, nowSeconds: number): Zone | null => {
  const field = (name: FieldName): string => {
    const place = layout.fields[name]
    return place === undefined ? '' : textAt(lines, place)
  }
  const names = field('names')
  // Surname, two fillers, given names separated by fillers, trailing fillers.
  if (!/^[A-Z]+(<[A-Z]+)*(<<[A-Z]+(<[A-Z]+)*)?<*$/.test(names)) return null
  const [surname = '', givenNames = ''] = names.split('<<')
  const expiryDate = expiryDateOf(field('expiryDate'), nowSeconds)
  const birth = field('birthDate')
  const birthDate = birth.includes('<') ? null : birthDateOf(birth, nowSeconds)
  const number = numberOf(lines, layout)
  if (number === null || number === '' || expiryDate === null) return null
  if (birthDate === null && !/^\d{2}(<<|\d{2})<<$/.test(birth)) return null
  const sex = field('sex')
  return {
    number,
    expiryDate,
    birthDate,
    format: layout.format,
    type: plain(field('type')),
    issuer: field('issuer'),
    nationality: field('nationality'),
    surname: plain(surname),
    givenNames: plain(givenNames),
    namesCut: !names.endsWith('<'),
    sex: sex === 'M' || sex === 'F' ? sex : null,
  }
}
