import { COUNTRY_CODES } from '../../identity/evidence/countries.ts'

export const shortAddress = (address: string): string =>
  address.length <= 15 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`

export const formatBytes = (bytes: number, locale: string): string => {
  const [value, unit] = bytes >= 1_000_000 ? [bytes / 1_000_000, 'megabyte'] : [bytes / 1_000, 'kilobyte']
  const digits = value < 10 ? 1 : 0
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: unit as string,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  }).format(Math.max(value, 0.1))
}

export const formatDate = (date: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`))

export const countryName = (code: string, locale: string): string => {
  try {
    return new Intl.DisplayNames(locale, { type: 'region' }).of(code) ?? code
  } catch {
    return code
  }
}

export const countries = (locale: string): readonly { readonly code: string; readonly name: string }[] => {
  const { compare } = new Intl.Collator(locale)
  return COUNTRY_CODES.map((code) => ({ code, name: countryName(code, locale) })).sort((a, b) =>
    compare(a.name, b.name),
  )
}

export const monthNames = (locale: string): readonly string[] => {
  const format = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, month) => format.format(new Date(Date.UTC(2000, month, 1))))
}

export const initials = (name: string): string => {
  const words = name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  return words
    .slice(0, 2)
    .map((word) => [...word][0]?.toLocaleUpperCase() ?? '')
    .join('')
}
