import { counted } from '../../../lib/counted.ts'
import type { Overview } from '../api/types.ts'
import { searchOf } from '../decisions/search.ts'
import { ageWord } from '../reviews/age.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Counts, type Day, differenceWord, latencyWord, shareWord, totalOf } from './days.ts'

interface Difference {
  /** Difference, such as `↑ 20%`; empty if both values are equal, null if they can't be compared. */
  readonly word: string | null
  readonly before: string
  readonly day: string
  readonly until: string
}

interface Figure {
  readonly label: string
  readonly value: string
  readonly more?: readonly string[]
  readonly differences?: readonly Difference[]
  readonly href: string | null
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const count = (value: number): string => value.toLocaleString('en')
const startOfToday = (nowMs: number): string => {
  const day = new Date(nowMs)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T00:00`
}

export interface Days {
  readonly today: Day
  readonly yesterday: Day
  readonly weekAgo: Day
  /** End of the current quarter-hour in Unix milliseconds. */
  readonly untilMs: number
}

interface NumbersProps {
  readonly days: Days | null
  readonly overview: Overview
  readonly nowMs: number
}

export const Numbers = ({ days, overview, nowMs }: NumbersProps) => {
  const { path, may } = useWorkplace()
  const until = days === null ? '' : clock.format(days.untilMs)
  const compared = (
    read: (day: Day) => number | null,
    word: (value: number | null) => string,
    unit?: '%' | ' pp',
  ): readonly Difference[] =>
    days === null
      ? []
      : (['yesterday', 'weekAgo'] as const)
          .filter((day) => read(days[day]) !== null)
          .map((day) => ({
            word: differenceWord(read(days.today), read(days[day]), unit),
            before: word(read(days[day])),
            day: day === 'yesterday' ? 'yesterday' : 'last week',
            until,
          }))
  const compareCounts = (read: (counts: Counts) => number): readonly Difference[] =>
    compared(read, (value) => count(value ?? 0))
  const percentOf = (counts: Counts): number | null =>
    totalOf(counts) === 0 ? null : (counts.denied / totalOf(counts)) * 100
  const since = startOfToday(nowMs)
  const reviewsPath = may('reviewer') ? path('/reviews') : null
  const { verified, reviews } = overview
  const numbers: readonly Figure[] = [
    ...(days === null
      ? []
      : [
          {
            label: 'Attestations today',
            value: count(days.today.compliant),
            differences: compareCounts(({ compliant }) => compliant),
            href: path('/decisions') + searchOf({ verdict: 'compliant', since }),
          },
          {
            label: 'Denials today',
            value: count(days.today.denied),
            differences: compareCounts(({ denied }) => denied),
            href: path('/decisions') + searchOf({ verdict: 'denied', since }),
          },
          {
            label: 'Denial rate today',
            value: shareWord(days.today.denied, totalOf(days.today)),
            differences: compared(percentOf, (value) => (value === null ? '–' : shareWord(value, 100)), ' pp'),
            href: path('/decisions') + searchOf({ since }),
          },
          {
            label: 'Latency p95 today',
            value: latencyWord(days.today.latency_ms?.p95 ?? null),
            more: [`p50 ${latencyWord(days.today.latency_ms?.p50 ?? null)}`],
            differences: compared((day) => day.latency_ms?.p95 ?? null, latencyWord),
            href: null,
          },
        ]),
    {
      label: 'Verified people',
      value: `${verified.exact ? '' : 'over '}${count(verified.people)}`,
      more: verified.businesses === 0 ? [] : [`and ${counted(verified.businesses, 'business', 'businesses')}`],
      href: reviewsPath === null ? null : `${reviewsPath}?status=completed`,
    },
    {
      label: 'Reviews waiting',
      value: `${reviews.exact ? '' : 'over '}${count(reviews.waiting)}`,
      more: reviews.oldest_at === null ? [] : [`the oldest for ${ageWord(reviews.oldest_at, nowMs)}`],
      href: reviewsPath,
    },
  ]
  return (
    <ul class="tiles">
      {numbers.map((number) => (
        <li key={number.label} class="tile">
          {number.href === null ? (
            <Tile {...number} />
          ) : (
            <a href={number.href}>
              <Tile {...number} />
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

const Tile = ({ label, value, more = [], differences = [] }: Figure) => (
  <>
    <span class="tile-label">{label}</span>
    <span class="tile-value">{value}</span>
    {more.map((line) => (
      <span key={line} class="tile-more">
        {line}
      </span>
    ))}
    {differences.map(({ word, before, day, until }) => (
      <span key={day} class="tile-more" title={`${before} ${day} by ${until}`}>
        {word === null ? `${before} ${day}` : word === '' ? `same as ${day}` : `${word} vs ${day}`}
      </span>
    ))}
  </>
)
