// Figures of the day, each with a link to the counted items.

import { counted } from '../../../lib/counted.ts'
import type { Overview } from '../api/types.ts'
import { searchOf } from '../decisions/search.ts'
import { ageWord } from '../reviews/age.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Counts, type Day, latencyWord, shareWord, totalOf } from './days.ts'

interface Figure {
  readonly label: string
  readonly value: string
  readonly more: readonly string[]
  /** Null if this account can't open the page. */
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
  /** Figures of that day up to `untilMs`. */
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

/** Formats `16 ms, p50 2.5 ms`; a dash if nothing was measured. */
const latencyPair = ({ latency_ms: latency }: Day): string =>
  latency === null ? '–' : `${latencyWord(latency.p95)}, p50 ${latencyWord(latency.p50)}`

export const Numbers = ({ days, overview, nowMs }: NumbersProps) => {
  const { path, may } = useWorkplace()
  const until = days === null ? '' : clock.format(days.untilMs)
  const compared = (read: (day: Day) => string): readonly string[] =>
    days === null
      ? []
      : [`${read(days.yesterday)} yesterday by ${until}`, `${read(days.weekAgo)} a week ago by ${until}`]
  const denialRate = (counts: Counts): string => shareWord(counts.denied, totalOf(counts))
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
            more: compared(({ compliant }) => count(compliant)),
            href: path('/decisions') + searchOf({ verdict: 'compliant', since }),
          },
          {
            label: 'Denials today',
            value: count(days.today.denied),
            more: compared(({ denied }) => count(denied)),
            href: path('/decisions') + searchOf({ verdict: 'denied', since }),
          },
          {
            label: 'Denial rate today',
            value: denialRate(days.today),
            more: compared(denialRate),
            href: path('/decisions') + searchOf({ since }),
          },
          {
            label: 'Latency p95 today',
            value: latencyWord(days.today.latency_ms?.p95 ?? null),
            more: [`p50 ${latencyWord(days.today.latency_ms?.p50 ?? null)}`].concat(compared(latencyPair)),
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

const Tile = ({ label, value, more }: Figure) => (
  <>
    <span class="tile-label">{label}</span>
    <span class="tile-value">{value}</span>
    {more.map((line) => (
      <span key={line} class="tile-more">
        {line}
      </span>
    ))}
  </>
)
