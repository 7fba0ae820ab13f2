// What a day's numbers are compared with: the same part of yesterday and of the same weekday a week ago. Days are those of
// the browser's zone; the service counts by quarters of an hour.
import type { AnswerOf } from '../api/client.ts'

export type Tally = AnswerOf<'GET /organizations/{organization}/decisions/tally'>['data'][number]
export type Counts = Pick<Tally, 'compliant' | 'denied'>

const DAYS_BACK = 7
const HOURS_SHOWN = 24
const HOUR_MS = 3_600_000

export const startOfDay = (nowMs: number, daysBack: number): number => {
  const day = new Date(nowMs)
  // By the calendar: days on which the clock is turned are 23 or 25 hours long.
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - daysBack)
  return day.getTime()
}

/** What has to be read for all of this. */
export const sinceOf = (nowMs: number): number => startOfDay(nowMs, DAYS_BACK)

const NOTHING: Counts = { compliant: 0, denied: 0 }

export const sumOf = (rows: readonly Counts[]): Counts =>
  rows.reduce<Counts>(
    (sum, { compliant, denied }) => ({ compliant: sum.compliant + compliant, denied: sum.denied + denied }),
    NOTHING,
  )

export const totalOf = ({ compliant, denied }: Counts): number => compliant + denied

export interface Days {
  readonly today: Counts
  /** Until the end of the quarter of an hour that it is now, as `until` says. */
  readonly yesterday: Counts
  readonly weekAgo: Counts
  /** Unix milliseconds: end of the present quarter. */
  readonly untilMs: number
}

export const daysOf = (rows: readonly Tally[], stepSeconds: number, nowMs: number): Days => {
  const stepMs = stepSeconds * 1000
  const untilMs = (Math.floor(nowMs / stepMs) + 1) * stepMs
  const within = (fromMs: number, toMs: number): Counts =>
    sumOf(rows.filter(({ at }) => at !== null && Date.parse(at) >= fromMs && Date.parse(at) < toMs))
  const until = new Date(untilMs - 1)
  const sameTime = (daysBack: number): number => {
    const then = new Date(until)
    then.setDate(then.getDate() - daysBack)
    return then.getTime()
  }
  const day = (daysBack: number): Counts => within(startOfDay(nowMs, daysBack), sameTime(daysBack))
  return { today: day(0), yesterday: day(1), weekAgo: day(DAYS_BACK), untilMs }
}

export interface Hour extends Counts {
  readonly atMs: number
}

/** The last 24 hours, the present one last and not over yet. */
export const hoursOf = (rows: readonly Tally[], nowMs: number): readonly Hour[] => {
  const last = new Date(nowMs)
  last.setMinutes(0, 0, 0)
  return Array.from({ length: HOURS_SHOWN }, (_, index) => {
    const atMs = last.getTime() - (HOURS_SHOWN - 1 - index) * HOUR_MS
    const within = rows.filter(({ at }) => at !== null && Date.parse(at) >= atMs && Date.parse(at) < atMs + HOUR_MS)
    return { atMs, ...sumOf(within) }
  })
}

/** `12%`, `0.4%`; a dash where nothing was decided. */
export const shareWord = (part: number, whole: number): string => {
  if (whole === 0) return '–'
  const percent = (part / whole) * 100
  if (percent > 0 && percent < 0.1) return 'under 0.1%'
  return percent > 0 && percent < 10 && !Number.isInteger(percent)
    ? `${percent.toFixed(1)}%`
    : `${Math.round(percent)}%`
}

export interface RuleShare extends Counts {
  readonly rule: string | null
}

export interface PolicyShare extends Counts {
  readonly id: string
  readonly name: string
  /** Those that denied, the most frequent first. */
  readonly denying: readonly RuleShare[]
}

/** Of each policy, and of each of its rules that denied; the busiest policy first. */
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
