// Converts MMDB records, nested (`country.iso_code`) or flat (`country_code`), to geography facts. Source:
// https://dev.maxmind.com/geoip/docs/databases, https://ipinfo.io/developers/database-download.
import { isObject } from '../lib/is-object.ts'
import type { GeographyFacts } from '../policy/sources/geography.ts'

export const GEOGRAPHY_UNKNOWN: GeographyFacts = Object.freeze({
  country: null,
  region: null,
  anonymous: null,
  vpn: null,
  proxy: null,
  tor: null,
  hosting: null,
})

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

const codeOf = (value: unknown, form: RegExp): string | null => {
  const code = typeof value === 'string' ? value.toUpperCase() : ''
  return form.test(code) ? code : null
}

const COUNTRY = /^[A-Z]{2}$/
const SUBDIVISION = /^[A-Z0-9]{1,3}$/

const countryOf = (record: Fields): string | null =>
  codeOf(fieldsOf(record['country'])['iso_code'], COUNTRY) ??
  codeOf(record['country_code'], COUNTRY) ??
  codeOf(record['country'], COUNTRY)

/** Uses the first subdivision, which is the largest. */
const regionOf = (record: Fields, country: string | null): string | null => {
  if (country === null) return null
  const subdivisions = record['subdivisions']
  const largest = Array.isArray(subdivisions) ? fieldsOf(subdivisions[0])['iso_code'] : record['region_code']
  // Some files prefix the region with the country.
  const code = typeof largest === 'string' ? largest.toUpperCase().replace(`${country}-`, '') : ''
  return SUBDIVISION.test(code) ? `${country}-${code}` : null
}

const flagOf = (value: unknown): boolean | null => {
  if (value === true || value === 'true' || value === 1) return true
  if (value === false || value === 'false' || value === '' || value === 0) return false
  return null
}

/** Returns true if any flag is true; false if any is false; otherwise null. */
const anyFlag = (places: readonly Fields[], names: readonly string[]): boolean | null => {
  let seen: boolean | null = null
  for (const place of places) {
    for (const name of names) {
      const flag = flagOf(place[name])
      if (flag === true) return true
      seen = flag ?? seen
    }
  }
  return seen
}

/** @param listsAnonymous whether the file lists only anonymous networks, so that a missing flag is false */
export const readGeographyRecord = (record: unknown, listsAnonymous: boolean): GeographyFacts => {
  const fields = fieldsOf(record)
  const country = countryOf(fields)
  const places = [fields, fieldsOf(fields['traits']), fieldsOf(fields['privacy'])]
  const missing = listsAnonymous ? false : null
  const vpn = anyFlag(places, ['is_anonymous_vpn', 'is_vpn', 'vpn']) ?? missing
  const proxy =
    anyFlag(places, ['is_public_proxy', 'is_residential_proxy', 'is_proxy', 'proxy', 'is_relay', 'relay']) ?? missing
  const tor = anyFlag(places, ['is_tor_exit_node', 'is_tor', 'tor']) ?? missing
  const hosting = anyFlag(places, ['is_hosting_provider', 'is_hosting', 'hosting']) ?? missing
  const said = anyFlag(places, ['is_anonymous', 'is_anonymous_proxy', 'anonymous']) ?? missing
  const flags = [said, vpn, proxy, tor, hosting]
  const anonymous = flags.includes(true)
    ? true
    : said === false || flags.slice(1).every((flag) => flag === false)
      ? false
      : null
  return { country, region: regionOf(fields, country), anonymous, vpn, proxy, tor, hosting }
}
