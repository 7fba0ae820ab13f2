// Figures of the last second, with fixed positions and widths.

import type { LivePoint } from '../api/types.ts'
import { Notice } from '../ui/problem.tsx'
import { formatClock, formatMegabytes, formatNumber } from './format.ts'
import { toneOf } from './limits.ts'
import { LATENCY_LIMITS } from './series.ts'

interface Tile {
  readonly label: string
  readonly value: string
  readonly more: string
  readonly tone?: 'warn' | 'bad' | null
}

const NONE = '–'

const mostFrequent = ({ errors }: LivePoint): string | null =>
  Object.entries(errors).sort(([, left], [, right]) => right - left)[0]?.[0] ?? null

const tilesOf = (point: LivePoint | null): readonly Tile[] => {
  if (point === null) {
    return ['Decisions', 'Latency p99', 'Refused', 'Failed', 'Workers busy', 'CPU', 'Streams'].map((label) => ({
      label,
      value: NONE,
      more: 'waiting for data',
    }))
  }
  const { decisions, latency_ms: latency, refused, failed, workers, cpu, queue, streams } = point
  return [
    {
      label: 'Decisions',
      value: `${formatNumber(decisions.compliant + decisions.denied)}/s`,
      more: `${formatNumber(decisions.denied)}/s denied`,
    },
    {
      label: 'Latency p99',
      value: latency === null ? NONE : `${formatNumber(latency.p99)} ms`,
      tone: toneOf(LATENCY_LIMITS, latency?.p99 ?? null),
      more: latency === null ? 'no responses' : `p50 ${formatNumber(latency.p50)} ms`,
    },
    {
      label: 'Refused',
      value: `${formatNumber(refused)}/s`,
      more: mostFrequent(point) ?? 'none',
      tone: refused > 0 ? 'warn' : null,
    },
    {
      label: 'Failed',
      value: `${formatNumber(failed)}/s`,
      more: `${queue.waiting.toLocaleString('en')} in the queue`,
      tone: failed > 0 ? 'bad' : null,
    },
    {
      label: 'Workers busy',
      value: `${workers.busy} of ${workers.live}`,
      tone: workers.live < workers.wanted ? 'warn' : null,
      more: `${Math.round(workers.utilization * 100)}% utilization`,
    },
    {
      label: 'CPU',
      value: cpu.cores < 0.01 ? '0 cores' : `${cpu.cores.toFixed(2)} cores`,
      more: cpu.per_decision_us === null ? NONE : `${formatNumber(cpu.per_decision_us)} µs/decision`,
    },
    { label: 'Streams', value: String(streams), more: `${formatMegabytes(point.memory_bytes)} memory` },
  ]
}

interface TilesProps {
  readonly point: LivePoint | null
  /** Whether the point is the current second. */
  readonly isLive: boolean
}

export const Tiles = ({ point, isLive }: TilesProps) => (
  <>
    {!isLive && point !== null && (
      <Notice tone="warn" title={`Figures as of ${formatClock(point.at)}`}>
        <p>The service is not responding. This page retries every few seconds.</p>
      </Notice>
    )}
    <TileList tiles={tilesOf(point)} />
  </>
)

const TileList = ({ tiles }: { readonly tiles: readonly Tile[] }) => (
  <dl class="tiles">
    {tiles.map(({ label, value, more, tone = null }) => (
      <div key={label} class="tile">
        <dt>{label}</dt>
        <dd>
          <span class={tone === null ? 'tile-value' : `tile-value tone-${tone}`}>{value}</span>
          <span class="tile-more">{more}</span>
        </dd>
      </div>
    ))}
  </dl>
)
