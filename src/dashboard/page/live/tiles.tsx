// The last second in a few numbers. Each keeps its place and its width, whatever it says.
import type { LivePoint } from '../api/types.ts'
import { formatMegabytes, formatNumber } from './format.ts'

interface Tile {
  readonly label: string
  readonly value: string
  readonly more: string
}

const NONE = '–'

const tilesOf = (point: LivePoint | null): readonly Tile[] => {
  if (point === null) {
    return ['Decisions', 'Latency p99', 'Errors', 'Workers busy', 'CPU', 'Streams'].map((label) => ({
      label,
      value: NONE,
      more: 'waiting for the first second',
    }))
  }
  const { decisions, latency_ms: latency, errors, workers, cpu, queue, streams } = point
  const failed = Object.values(errors).reduce((sum, each) => sum + each, 0)
  return [
    {
      label: 'Decisions',
      value: `${formatNumber(decisions.compliant + decisions.denied)}/s`,
      more: `${formatNumber(decisions.denied)}/s denied`,
    },
    {
      label: 'Latency p99',
      value: latency === null ? NONE : `${formatNumber(latency.p99)} ms`,
      more: latency === null ? 'no answers' : `p50 ${formatNumber(latency.p50)} ms`,
    },
    { label: 'Errors', value: `${formatNumber(failed)}/s`, more: `${queue.waiting} waiting in the queue` },
    {
      label: 'Workers busy',
      value: `${workers.busy} of ${workers.live}`,
      more: `${Math.round(workers.utilization * 100)}% of their time`,
    },
    {
      label: 'CPU',
      value: cpu.cores < 0.01 ? '0 cores' : `${cpu.cores.toFixed(2)} cores`,
      more: cpu.per_decision_us === null ? NONE : `${formatNumber(cpu.per_decision_us)} µs per decision`,
    },
    { label: 'Streams', value: String(streams), more: `${formatMegabytes(point.memory_bytes)} of memory` },
  ]
}

export const Tiles = ({ point }: { readonly point: LivePoint | null }) => (
  <dl class="tiles">
    {tilesOf(point).map(({ label, value, more }) => (
      <div key={label} class="tile">
        <dt>{label}</dt>
        <dd>
          <span class="tile-value">{value}</span>
          <span class="tile-more">{more}</span>
        </dd>
      </div>
    ))}
  </dl>
)
