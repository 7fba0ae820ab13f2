// Publishers' country names as ISO 3166-1 alpha-2. country-names.json has the names on their lists that differ from
// `Intl.DisplayNames`, in lowercase ASCII letters.
import { COUNTRY_CODES, isCountryCode } from '../../../identity/evidence/countries.ts'
import { once } from '../../../lib/single-flight.ts'
import { toAscii } from '../matching/names/fold.ts'
import OTHERWISE from './country-names.json'

const keyOf = (text: string): string =>
  toAscii(text)
    .replaceAll(/[^a-z]+/g, ' ')
    .trim()

const knownCodes = once(() => {
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  return new Map([
    ...COUNTRY_CODES.map((code) => [keyOf(names.of(code) ?? code), code] as const),
    ...Object.entries(OTHERWISE),
  ])
})

export const countryCodeOf = (text: string): string | null => {
  const trimmed = text.trim()
  if (trimmed.length === 2 && isCountryCode(trimmed.toUpperCase())) return trimmed.toUpperCase()
  const code = knownCodes().get(keyOf(trimmed))
  return code === undefined || !isCountryCode(code) ? null : code
}
