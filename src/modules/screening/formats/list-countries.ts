// Publishers' country names as ISO 3166-1 alpha-2.
import { COUNTRY_CODES, isCountryCode } from '../../../identity/evidence/countries.ts'
import { toAscii } from '../matching/names/fold.ts'

/** Names that differ from `Intl.DisplayNames`. */
const OTHERWISE: Readonly<Record<string, string>> = {
  burma: 'MM',
  'congo democratic republic of the': 'CD',
  'democratic republic of the congo': 'CD',
  'congo republic of the': 'CG',
  congo: 'CG',
  'cote d ivoire': 'CI',
  'ivory coast': 'CI',
  'korea north': 'KP',
  'democratic people s republic of korea': 'KP',
  dprk: 'KP',
  'north korea': 'KP',
  'korea south': 'KR',
  'republic of korea': 'KR',
  'south korea': 'KR',
  'iran islamic republic of': 'IR',
  'islamic republic of iran': 'IR',
  'syrian arab republic': 'SY',
  'russian federation': 'RU',
  'united republic of tanzania': 'TZ',
  'bolivarian republic of venezuela': 'VE',
  'venezuela bolivarian republic of': 'VE',
  'bahamas the': 'BS',
  'gambia the': 'GM',
  macau: 'MO',
  'hong kong': 'HK',
  palestinian: 'PS',
  'west bank': 'PS',
  gaza: 'PS',
  palestine: 'PS',
  'occupied palestinian territory': 'PS',
  'state of palestine': 'PS',
  turkey: 'TR',
  turkiye: 'TR',
  'czech republic': 'CZ',
  macedonia: 'MK',
  'republic of moldova': 'MD',
  'moldova republic of': 'MD',
  'viet nam': 'VN',
  'lao people s democratic republic': 'LA',
  'brunei darussalam': 'BN',
  swaziland: 'SZ',
  'cape verde': 'CV',
  'bosnia and herzegovina': 'BA',
  'bosnia herzegovina': 'BA',
  uae: 'AE',
  uk: 'GB',
  'great britain': 'GB',
  usa: 'US',
  'united states of america': 'US',
  'libyan arab jamahiriya': 'LY',
  'people s republic of china': 'CN',
  'taiwan province of china': 'TW',
  'micronesia federated states of': 'FM',
  'holy see': 'VA',
  'east timor': 'TL',
  ussr: 'SU',
  'soviet union': 'SU',
  crimea: 'UA',
}

const keyOf = (text: string): string =>
  toAscii(text)
    .replaceAll(/[^a-z]+/g, ' ')
    .trim()

let codes: ReadonlyMap<string, string> | null = null

const knownCodes = (): ReadonlyMap<string, string> => {
  if (codes !== null) return codes
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  codes = new Map([
    ...COUNTRY_CODES.map((code) => [keyOf(names.of(code) ?? code), code] as const),
    ...Object.entries(OTHERWISE),
  ])
  return codes
}

export const countryCodeOf = (text: string): string | null => {
  const trimmed = text.trim()
  if (trimmed.length === 2 && isCountryCode(trimmed.toUpperCase())) return trimmed.toUpperCase()
  const code = knownCodes().get(keyOf(trimmed))
  return code === undefined || !isCountryCode(code) ? null : code
}
