// Compares today with the same part of yesterday and of the same weekday last week. Days are in the browser's time
// zone; the service counts per quarter-hour.
import type { AnswerOf } from '../api/client.ts'
import { formatNumber } from '../live/format.ts'
import type { HourBar } from './hours.tsx'

type Numbers = AnswerOf<'GET /organizations/{organization}/numbers'>
export type Tally = Numbers['rules'][number]
export type Counts = Pick<Tally, 'compliant' | 'denied'>
export type Day = Numbers['days'][number]
export type HourNumbers = Numbers['hours']

const DAYS_COMPARED = [0, 1, 7] as const
const HOURS_SHOWN = 24
const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS
const QUARTER_MS = 900_000

const startOfDay = (nowMs: number, daysBack: number): number => {
  const day = new Date(nowMs)
  // Calendar days: a clock change makes a day 23 or 25 hours long.
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - daysBack)
  return day.getTime()
}

/** Returns the end of the current quarter-hour, up to which days are compared. */
export const endOfQuarter = (nowMs: number): number => (Math.floor(nowMs / QUARTER_MS) + 1) * QUARTER_MS

const textOf = (atMs: number): string => new Date(atMs).toISOString()

/** Adds the last 24 hours, and the last week for the rules, to the compared days. */
export const questionOf = (nowMs: number) => {
  const until = new Date(endOfQuarter(nowMs) - 1)
  const sameTime = (daysBack: number): number => {
    const then = new Date(until)
    then.setDate(then.getDate() - daysBack)
    return then.getTime() + 1
  }
  const last = new Date(nowMs)
  last.setMinutes(0, 0, 0)
  return {
    days: DAYS_COMPARED.map((back) => `${textOf(startOfDay(nowMs, back))}/${textOf(sameTime(back))}`).join(),
    hours_since: textOf(last.getTime() - (HOURS_SHOWN - 1) * HOUR_MS),
    rules_since: textOf(nowMs - WEEK_MS),
  }
}

const NOTHING: Counts = { compliant: 0, denied: 0 }

const sumOf = (rows: readonly Counts[]): Counts =>
  rows.reduce<Counts>(
    (sum, { compliant, denied }) => ({ compliant: sum.compliant + compliant, denied: sum.denied + denied }),
    NOTHING,
  )

export const totalOf = ({ compliant, denied }: Counts): number => compliant + denied

const countWord = (count: number): string => count.toLocaleString('en')
export const latencyWord = (milliseconds: number | null): string =>
  milliseconds === null ? '–' : `${formatNumber(milliseconds)} ms`

const atOf = (since: string, hour: number): number => Date.parse(since) + hour * HOUR_MS

export const decisionBars = ({ since, compliant, denied }: HourNumbers): readonly HourBar[] =>
  compliant.map((attested, hour) => {
    const refused = denied[hour] ?? 0
    return {
      atMs: atOf(since, hour),
      ends: [attested, attested + refused],
      words: [countWord(attested), countWord(refused)],
    }
  })

export const latencyBars = ({ since, p50_ms: p50s, p95_ms: p95s }: HourNumbers): readonly HourBar[] =>
  p50s.map((p50, hour) => {
    const p95 = p95s[hour] ?? null
    return {
      atMs: atOf(since, hour),
      ends: p50 === null || p95 === null ? null : [p50, p95],
      words: [latencyWord(p50), latencyWord(p95)],
    }
  })

/** Formats a share as `12%` or `0.4%`, or as a dash if there are no decisions. */
export const shareWord = (part: number, whole: number): string => {
  if (whole === 0) return '–'
  const percent = (part / whole) * 100
  if (percent > 0 && percent < 0.1) return 'under 0.1%'
  return percent > 0 && percent < 10 && !Number.isInteger(percent)
    ? `${percent.toFixed(1)}%`
    : `${Math.round(percent)}%`
}

/**
 * Returns the difference, such as `↑ 20%`; empty if the values are equal, null if they can't be compared.
 * @param unit ` pp` (percentage points) for values in percent
 */
export const differenceWord = (now: number | null, before: number | null, unit: '%' | ' pp' = '%'): string | null => {
  if (now === null || before === null || (unit === '%' && before === 0 && now !== 0)) return null
  const difference = unit === '%' ? (now === before ? 0 : ((now - before) / before) * 100) : now - before
  const size = Math.abs(difference)
  const shown = Number(size.toFixed(unit === '%' || size >= 10 ? 0 : 1))
  if (shown === 0) return ''
  return `${difference > 0 ? '↑' : '↓'} ${shown.toLocaleString('en')}${unit}`
}

export interface RuleShare extends Counts {
  readonly rule: string | null
}

interface PolicyShare extends Counts {
  readonly id: string
  readonly name: string
  readonly denying: readonly RuleShare[]
}

/** Returns the share of each policy and of its denying rules, busiest policy first. */
export const policiesOf = (rows: readonly Tally[]): readonly PolicyShare[] =>
  [...Map.groupBy(rows, ({ policy_id: id }) => id ?? '')]
    .map(([id, own]) => ({
      id,
      name: own[0]?.policy_name ?? id,
      denying: own
        .filter(({ denied }) => denied > 0)
        .map(({ rule, compliant, denied }) => ({ rule, compliant, denied }))
        .sort((left, right) => right.denied - left.denied),
      ...sumOf(own),
    }))
    .sort((left, right) => totalOf(right) - totalOf(left))
