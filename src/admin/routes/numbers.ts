// Figures for an organization's overview, summed here, so that the page receives only displayed data.
import { FieldInvalidError } from '../../domain/errors.ts'
import { FINE_BUCKETS, finePercentileMs } from '../../lib/histogram.ts'
import { tallyStart } from '../../store/decision-index/tallies.ts'
import { filterOf } from '../decisions/filter.ts'
import { declareRoutes, VIEWER } from '../route.ts'
import { closed, named, nullable, type Static, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'
import { timeOf } from '../time.ts'
import { nowMs, readTallies, TALLY } from './tallies.ts'

const route = declareRoutes('Decisions')

const DAYS_MAX = 8
const HOURS = 24
const HOUR_MS = 3_600_000
/** Length of the day on which the clock is turned back by an hour. */
const DAY_MAX_MS = 25 * HOUR_MS

const LATENCY = nullable(
  closed(
    { p50: Type.Number(), p95: Type.Number() },
    'Time from request to verdict, including responses past the deadline; null if nothing was measured',
  ),
)
const DAY = closed({ compliant: Type.Integer(), denied: Type.Integer(), latency_ms: LATENCY })

const NUMBERS = named(
  'OrganizationNumbers',
  closed({
    up_to_date: Type.Boolean({ description: 'False if the newest decisions may be missing' }),
    any: Type.Boolean({ description: 'Whether the organization has any decisions' }),
    days: Type.Array(DAY, { description: 'Counts for each requested interval' }),
    hours: closed(
      {
        since: time('Start of the first hour'),
        compliant: Type.Array(Type.Integer()),
        denied: Type.Array(Type.Integer()),
        p50_ms: Type.Array(nullable(Type.Number())),
        p95_ms: Type.Array(nullable(Type.Number())),
      },
      'Arrays of 24 values, one per hour',
    ),
    rules: Type.Array(TALLY, {
      description:
        'Counts by rule, most frequent first; `later` contains the counts since the start of the first interval',
    }),
  }),
)

interface Span {
  readonly fromMs: number
  readonly untilMs: number
}
const daysOf = (text: string): readonly Span[] => {
  const spans = text.split(',').map((interval) => {
    const [from = '', until = ''] = interval.split('/')
    return { fromMs: timeOf('days', from), untilMs: timeOf('days', until) }
  })
  if (spans.length > DAYS_MAX || spans.some(({ fromMs, untilMs }) => untilMs < fromMs || untilMs - fromMs > DAY_MAX_MS))
    throw new FieldInvalidError('days', `must be at most ${DAYS_MAX} intervals of at most 25 hours`)
  return spans
}

const readSpan = async (
  { store, decisions }: Services,
  organizationId: string,
  { fromMs, untilMs }: Span,
  parts: readonly Span[],
): Promise<readonly Static<typeof DAY>[]> => {
  const sinceMs = tallyStart('time', fromMs)
  const rows = await decisions.ask({ operation: 'tally', question: { organizationId, by: 'time', sinceMs, untilMs } })
  const quarters = await store.answerLatencies.between(organizationId, sinceMs / 1000, Math.ceil(untilMs / 1000))
  return parts.map((part) => {
    const within = (atMs: number): boolean => atMs >= tallyStart('time', part.fromMs) && atMs < part.untilMs
    const counted = rows.filter(({ atMs }) => within(atMs ?? 0))
    const buckets = new Float64Array(FINE_BUCKETS)
    for (const { atSeconds, counts } of quarters) {
      if (within(atSeconds * 1000)) for (const [bucket, count] of counts) buckets[bucket]! += count
    }
    const at = (share: number): number | null => {
      const value = finePercentileMs(buckets, share)
      return value === null ? null : Number(value.toPrecision(3))
    }
    const [p50, p95] = [at(0.5), at(0.95)]
    return {
      compliant: counted.reduce((sum, { compliant }) => sum + compliant, 0),
      denied: counted.reduce((sum, { denied }) => sum + denied, 0),
      latency_ms: p50 === null || p95 === null ? null : { p50, p95 },
    }
  })
}

const hasDecided = async ({ decisions }: Services, organizationId: string): Promise<boolean> => {
  const filter = filterOf(organizationId, {})
  return (await decisions.ask({ operation: 'search', filter, after: null, limit: 1 })).decisions.length > 0
}

export const NUMBER_ROUTES = [
  route('readNumbers', 'GET', '/organizations/{organization}/numbers', {
    access: VIEWER,
    command: false,
    summary: 'Show decisions and latency by day, by hour and by rule',
    description: `Decisions are counted per quarter-hour in UTC, and intervals are extended to complete quarter-hours. Latencies are stored once per minute and kept for nine days.`,
    query: closed({
      days: Type.String({
        maxLength: 500,
        description: 'At most 8 comma-separated ISO 8601 intervals, such as `2027-01-31T00:00Z/2027-01-31T12:00Z`',
      }),
      hours_since: Type.String({ maxLength: 40, description: 'Start of the first of the 24 hours, ISO 8601' }),
      rules_since: Type.String({
        maxLength: 40,
        description: 'Start of the period for `rules`, ISO 8601; at most 31 days ago',
      }),
    }),
    answer: NUMBERS,
    errors: [503],
    handle: async ({ services, organization: { id }, query }) => {
      const spans = daysOf(query.days)
      const days = []
      for (const span of spans) days.push(...(await readSpan(services, id, span, [span])))
      const sinceMs = tallyStart('time', timeOf('hours_since', query.hours_since))
      const hours = Array.from({ length: HOURS }, (_, hour) => ({
        fromMs: sinceMs + hour * HOUR_MS,
        untilMs: sinceMs + (hour + 1) * HOUR_MS,
      }))
      const counted = await readSpan(services, id, { fromMs: sinceMs, untilMs: sinceMs + HOURS * HOUR_MS }, hours)
      const rules = await readTallies(
        services,
        {
          organizationId: id,
          by: 'rule',
          sinceMs: timeOf('rules_since', query.rules_since),
          laterMs: spans[0]?.fromMs,
          untilMs: nowMs(services),
        },
        'rules_since',
      )
      const { upToDate } = await services.decisions.ask({ operation: 'status' })
      return {
        up_to_date: upToDate,
        any: rules.length > 0 || (await hasDecided(services, id)),
        days,
        hours: {
          since: new Date(sinceMs).toISOString(),
          compliant: counted.map(({ compliant }) => compliant),
          denied: counted.map(({ denied }) => denied),
          p50_ms: counted.map(({ latency_ms: latency }) => latency?.p50 ?? null),
          p95_ms: counted.map(({ latency_ms: latency }) => latency?.p95 ?? null),
        },
        rules,
      }
    },
  }),
]
