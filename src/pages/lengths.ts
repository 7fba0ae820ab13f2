const inUnit = (value: number, unit: 'minute' | 'hour' | 'day', locale: string): string =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)

export const formatDays = (days: number, locale: string): string => inUnit(days, 'day', locale)

/** Rounds up, in the largest unit with a value of at least two. */
export const formatWait = (seconds: number, locale: string): string => {
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  if (minutes < 120) return inUnit(minutes, 'minute', locale)
  const hours = Math.ceil(minutes / 60)
  return hours < 48 ? inUnit(hours, 'hour', locale) : inUnit(Math.ceil(hours / 24), 'day', locale)
}
