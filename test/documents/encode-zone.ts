// Encoder of zones. Source: ICAO 9303-4, -5 and -6, §4.2.
import type { ZoneFormat } from '../../src/domain/document-zone.ts'
import { checkDigitOf, LAYOUTS } from '../../src/zone-reader/zone/layout.ts'
import { textAt } from '../../src/zone-reader/zone/zone.ts'

export interface ZoneContent {
  readonly format: ZoneFormat
  readonly type: string
  readonly issuer: string
  readonly nationality: string
  readonly number: string
  readonly surname: string
  readonly givenNames: string
  /** YYMMDD. */
  readonly birthDate: string
  readonly expiryDate: string
  readonly sex: 'M' | 'F' | '<'
  readonly optional: string
}

export const encodeZone = (content: ZoneContent): readonly string[] => {
  const layout = LAYOUTS.find(({ format }) => format === content.format)
  if (layout === undefined) throw new Error('unknown format')
  const cells = Array.from({ length: layout.rows }, () => new Array<string>(layout.columns).fill('<'))
  const names = `${content.surname}<<${content.givenNames}`.replaceAll(' ', '<')
  const texts = { ...content, names, optionalSecond: '' }
  for (const [name, place] of Object.entries(layout.fields)) {
    const text = texts[name as keyof typeof texts].slice(0, place.length).padEnd(place.length, '<')
    cells[place.row]?.splice(place.start, place.length, ...text)
  }
  for (const { name, covers, digit } of layout.checks) {
    const lines = cells.map((row) => row.join(''))
    const text = covers.map((place) => textAt(lines, place)).join('')
    const empty = name === 'optional' && /^<*$/.test(text)
    cells[digit.row]![digit.start] = empty ? '<' : checkDigitOf(text)
  }
  return cells.map((row) => row.join(''))
}
