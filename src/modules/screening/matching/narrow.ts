// Adjusts a score by date of birth and country. Lists contain errors, so a difference never rules out a person.
import type { ListedEntry, ScreenedSubject } from './entry.ts'
import type { NameKind } from './names/read-scripts.ts'
import type { ScorePart } from './screen-subject.ts'

interface PartialDate {
  readonly year: number
  /** Month; 0 if unknown, like the day. */
  readonly month: number
  readonly day: number
  readonly isAbout: boolean
}

const DATE = /^(~)?(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/

const readDate = (text: string): PartialDate | null => {
  const match = DATE.exec(text)
  if (match === null) return null
  return {
    year: Number(match[2]),
    month: Number(match[3] ?? 0),
    day: Number(match[4] ?? 0),
    isAbout: match[1] !== undefined,
  }
}

const YEARS_ABOUT = 2

const compareDates = (
  given: PartialDate,
  listed: PartialDate,
): { readonly points: number; readonly detail: string } => {
  const years = Math.abs(given.year - listed.year)
  if (listed.isAbout) {
    if (years <= YEARS_ABOUT) return { points: 2, detail: 'close to the listed year of birth' }
  } else if (years === 0) {
    if (given.month === 0 || listed.month === 0) return { points: 4, detail: 'matches the listed year of birth' }
    if (given.month === listed.month && (given.day === listed.day || given.day === 0 || listed.day === 0)) {
      return { points: 8, detail: 'matches the listed date of birth' }
    }
    if (given.month === listed.day && given.day === listed.month) {
      return { points: 6, detail: 'matches the listed date of birth with day and month swapped' }
    }
    return { points: 0, detail: 'matches the listed year of birth, but not the day' }
  }
  if (years <= 1) return { points: -4, detail: '1 year from the listed birth date' }
  return { points: years <= YEARS_ABOUT + 1 ? -10 : -18, detail: `${years} years from the listed birth date` }
}

export const scoreBirthDate = (given: string | undefined, listed: readonly string[]): ScorePart | null => {
  const date = given === undefined ? null : readDate(given)
  const dates = listed.flatMap((text) => readDate(text) ?? [])
  if (date === null || dates.length === 0) return null
  const about = dates.filter(({ isAbout }) => isAbout).map(({ year }) => year)
  if (about.length > 1 && date.year >= Math.min(...about) && date.year <= Math.max(...about)) {
    return { part: 'birth_date', points: 2, detail: 'between the listed years of birth' }
  }
  const [best] = dates.map((each) => compareDates(date, each)).sort((left, right) => right.points - left.points)
  return best === undefined ? null : { part: 'birth_date', ...best }
}

const scoreCountry = (given: string | undefined, listed: readonly string[]): ScorePart | null => {
  if (given === undefined || listed.length === 0) return null
  return listed.includes(given.toUpperCase())
    ? { part: 'country', points: 2, detail: `matches a listed country: ${given.toUpperCase()}` }
    : { part: 'country', points: -3, detail: `listed countries: ${listed.join(', ')}` }
}

/** Returns the points for date of birth (people only) and country; never negative for entered values. */
export const narrowParts = (
  { birthDate, country, isFromDocument }: ScreenedSubject,
  kind: NameKind,
  listed: Pick<ListedEntry, 'birthDates' | 'countries'>,
): readonly ScorePart[] => {
  const pointsMin = isFromDocument === true ? -100 : 0
  const parts = [
    kind === 'person' ? scoreBirthDate(birthDate, listed.birthDates) : null,
    scoreCountry(country, listed.countries),
  ]
  return parts.flatMap((part) => (part === null ? [] : [{ ...part, points: Math.max(pointsMin, part.points) }]))
}
