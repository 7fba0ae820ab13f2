// A point without a value, such as the latency of a second without responses, is a gap instead of zero.
import type { LivePoint } from '../api/types.ts'
import type { Limits } from './limits.ts'

/** Color number in the style sheet. */
export type Color = 1 | 2 | 3 | 4 | 5

export interface Line {
  readonly label: string
  readonly color: Color
  /** One value per point; null for a gap. */
  readonly values: readonly (number | null)[]
}

/** `bad` equals the threshold of the alerting rules (deploy/prometheus). */
export const LATENCY_LIMITS: Limits = { warn: 250, bad: 1_000 }
const EVENT_LOOP_LIMITS: Limits = { warn: 100, bad: 250 }

export interface ChartSpec {
  readonly id: string
  readonly title: string
  /** Explanation of the values and of critical levels. */
  readonly text: string
  readonly unit: string
  readonly axis: string
  readonly limits?: Limits
  readonly lines: (points: readonly LivePoint[]) => readonly Line[]
}

type Read = (point: LivePoint) => number | null
const line =
  (label: string, color: Color, read: Read) =>
  (points: readonly LivePoint[]): Line => ({ label, color, values: points.map(read) })
const lines =
  (...all: readonly ((points: readonly LivePoint[]) => Line)[]) =>
  (points: readonly LivePoint[]): readonly Line[] =>
    all.map((each) => each(points))

const NAMED_MAX = 4
const OTHERS = 'others'

/** Draws the most frequent names and the sum of the rest, because a chart with twenty lines is unreadable. */
const byName =
  (read: (point: LivePoint) => Readonly<Record<string, number>>, none: string) =>
  (points: readonly LivePoint[]): readonly Line[] => {
    const totals = new Map<string, number>()
    const each = points.map(read)
    for (const counts of each)
      for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count)
    const names = [...totals.entries()].sort(([, left], [, right]) => right - left).map(([name]) => name)
    if (names.length === 0) return [{ label: none, color: 1, values: points.map(() => 0) }]
    // Sorted by name, so that a line keeps its color if its rank changes.
    const named = names.slice(0, NAMED_MAX).sort()
    const rest = new Set(names.slice(NAMED_MAX))
    const found = named.map(
      (label, index): Line => ({
        label,
        color: (index + 1) as Color,
        values: each.map((counts) => counts[label] ?? 0),
      }),
    )
    if (rest.size === 0) return found
    const others = each.map((counts) =>
      Object.entries(counts).reduce((sum, [name, count]) => (rest.has(name) ? sum + count : sum), 0),
    )
    return [...found, { label: OTHERS, color: 5, values: others }]
  }

export const DECISIONS_BY_VERDICT = lines(
  line('compliant', 1, ({ decisions }) => decisions.compliant),
  line('denied', 2, ({ decisions }) => decisions.denied),
  line('refused', 4, ({ refused }) => refused),
  line('failed', 5, ({ failed }) => failed),
)

export const DECISIONS_BY_CHAIN = byName(
  ({ decisions_by_chain: chains }) =>
    Object.fromEntries(Object.entries(chains).map(([name, { compliant, denied }]) => [name, compliant + denied])),
  'all chains',
)

export const CHARTS: readonly ChartSpec[] = [
  {
    id: 'latency',
    title: 'Latency',
    text: 'Time from an attestation API request to its response. Users notice delays of 250 ms. Set an alert at 1 s.',
    unit: 'ms',
    axis: 'milliseconds',
    limits: LATENCY_LIMITS,
    lines: lines(
      line('p50', 1, ({ latency_ms: latency }) => latency?.p50 ?? null),
      line('p90', 3, ({ latency_ms: latency }) => latency?.p90 ?? null),
      line('p99', 2, ({ latency_ms: latency }) => latency?.p99 ?? null),
      line('p99.9', 4, ({ latency_ms: latency }) => latency?.p999 ?? null),
    ),
  },
  {
    id: 'queue',
    title: 'Queue wait and run time',
    text: 'If the wait exceeds the run time, add workers, provided that cores are free.',
    unit: 'ms',
    axis: 'milliseconds',
    lines: lines(
      line('wait p50', 1, ({ queue_wait_ms: wait }) => wait?.p50 ?? null),
      line('wait p99', 2, ({ queue_wait_ms: wait }) => wait?.p99 ?? null),
      line('run p50', 3, ({ run_ms: run }) => run?.p50 ?? null),
      line('run p99', 4, ({ run_ms: run }) => run?.p99 ?? null),
    ),
  },
  {
    id: 'workers',
    title: 'Workers',
    text: 'Live and busy workers at the end of each interval, and the average load, in workers.',
    unit: '',
    axis: 'workers',
    lines: lines(
      line('live', 1, ({ workers }) => workers.live),
      line('busy', 2, ({ workers }) => workers.busy),
      line('average load', 3, ({ workers }) => workers.utilization * workers.live),
    ),
  },
  {
    id: 'cpu',
    title: 'CPU per decision',
    text: 'Total CPU time of the service divided by its decisions. At low load, idle costs dominate.',
    unit: 'µs',
    axis: 'microseconds',
    lines: lines(line('per decision', 1, ({ cpu }) => cpu.per_decision_us)),
  },
  {
    id: 'cores',
    title: 'CPU cores in use',
    text: 'For the whole service. Throughput stops growing once all cores of the machine are in use.',
    unit: '',
    axis: 'cores',
    lines: lines(line('cores', 1, ({ cpu }) => cpu.cores)),
  },
  {
    id: 'event-loop',
    title: 'Event-loop lag',
    text: 'Delay of tasks on the main thread, in the slowest process. Responses are delayed at least as long. Users notice delays of 100 ms. Set an alert at 250 ms.',
    unit: 'ms',
    axis: 'milliseconds',
    limits: EVENT_LOOP_LIMITS,
    lines: lines(
      line('p50', 1, ({ event_loop_ms: loop }) => loop?.p50 ?? null),
      line('p99', 2, ({ event_loop_ms: loop }) => loop?.p99 ?? null),
      line('worst', 4, ({ event_loop_ms: loop }) => loop?.max ?? null),
    ),
  },
  {
    id: 'errors',
    title: 'Errors by code',
    text: 'Refused and failed requests to all APIs. Denials are not errors.',
    unit: '/s',
    axis: 'per second',
    lines: byName(({ errors }) => errors, 'all codes'),
  },
  {
    id: 'open',
    title: 'Open streams and requests',
    text: 'Event streams of browsers and backends, and requests in flight.',
    unit: '',
    axis: 'open',
    lines: lines(
      line('streams', 1, ({ streams }) => streams),
      line('requests', 2, ({ active_requests: requests }) => requests),
    ),
  },
]
