// Publishers' birth dates as ISO 8601 in their precision, with the prefix `~` if approximate.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const twoDigits = (number: number): string => String(number).padStart(2, '0')

const isoOf = (year: number, month: number, day: number): string | null => {
  if (year < 1800 || year > 2100 || month > 12 || day > 31) return null
  if (month === 0) return String(year)
  return day === 0 ? `${year}-${twoDigits(month)}` : `${year}-${twoDigits(month)}-${twoDigits(day)}`
}

const ABOUT = /^(?:circa|approximately|approx\.?|about|c\.?)\s*/i

/** Returns a date, both ends of a range, or nothing for other text. */
export const parseListDates = (text: string): readonly string[] => {
  const bare = text.trim().replace(ABOUT, '')
  const about = bare === text.trim() ? '' : '~'
  const years = /^(?:between\s+)?(\d{4})\s*(?:to|-|and|\/)\s*(\d{4})$/i.exec(bare)
  if (years !== null) return [`~${years[1]}`, `~${years[2]}`]
  const range = bare.split(/\s+to\s+/i)
  if (range.length === 2) return range.flatMap(parseListDates).map((date) => (date.startsWith('~') ? date : `~${date}`))
  const iso = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?:T.*)?$/.exec(bare)
  if (iso !== null) return dated(about, isoOf(Number(iso[1]), Number(iso[2] ?? 0), Number(iso[3] ?? 0)))
  // The UK writes dd/mm/yyyy, with dd or mm for unknown parts.
  const slashed = /^(dd|\d{1,2})\/(mm|\d{1,2})\/(\d{4})$/i.exec(bare)
  if (slashed !== null) {
    const day = Number(slashed[1]) || 0
    const month = Number(slashed[2]) || 0
    return dated(about, isoOf(Number(slashed[3]), month, month === 0 ? 0 : day))
  }
  const written = /^(?:(\d{1,2})\s+)?([a-z]{3})[a-z]*\.?\s+(\d{4})$/i.exec(bare)
  const month = written === null ? -1 : MONTHS.indexOf((written[2] ?? '').toLowerCase())
  if (written !== null && month !== -1)
    return dated(about, isoOf(Number(written[3]), month + 1, Number(written[1] ?? 0)))
  return []
}

const dated = (about: string, date: string | null): readonly string[] => (date === null ? [] : [about + date])
