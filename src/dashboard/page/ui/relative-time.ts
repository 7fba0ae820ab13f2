const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
const zoned = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })

export const relativeTime = (at: string, nowMs: number): string => {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000)
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit)
  }
  return Math.abs(seconds) < 10 ? 'now' : relative.format(seconds, 'second')
}

/** Returns the name of the time zone, which depends on daylight saving: `CET`, `GMT+2`, `UTC`. */
export const zoneWord = (at = new Date()): string =>
  zoned.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'local time'

/** Includes the name of the browser's time zone. */
export const absoluteTime = (at: string): string => absolute.format(new Date(at))
