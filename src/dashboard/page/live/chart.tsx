// Line chart. The arrow keys move the crosshair, screen readers announce it, and a table contains the same data.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { LiveEvent, LivePoint } from '../api/types.ts'
import { formatClock, formatNumber } from './format.ts'
import { type Limits, toneOf } from './limits.ts'
import { followTheme, type Palette, readPalette } from './palette.ts'
import { createPlot, type Plot } from './plot.ts'
import type { ChartSpec, Line } from './series.ts'
import type { LiveWindow } from './windows.ts'

/** Returns the newest point with any value; the last point if there is none. */
export const newestWithValue = (lines: readonly Line[], last: number): number => {
  for (let index = last; index >= 0; index--) {
    if (lines.some(({ values }) => (values[index] ?? null) !== null)) return index
  }
  return last
}

const TABLE_ROWS = 15
const PAGE_STEP = 60

interface ChartProps {
  readonly spec: ChartSpec
  readonly points: readonly LivePoint[]
  readonly window: LiveWindow
  /** Whether the last point is the current second. */
  readonly isLive: boolean
  readonly events: readonly LiveEvent[]
  readonly children?: preact.ComponentChildren
}

const withUnit = (value: number | null, unit: string): string => {
  if (value === null) return 'none'
  return unit === '' || unit.startsWith('/') ? `${formatNumber(value)}${unit}` : `${formatNumber(value)} ${unit}`
}

export const Chart = ({ spec, points, window, isLive, events, children }: ChartProps) => {
  const { title, text, unit, axis, limits } = spec
  const drawn = useMemo(() => spec.lines(points), [spec, points])
  const key = drawn.map(({ label, color }) => `${label} ${color}`).join()
  const [index, setIndex] = useState<number | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  const latest = useRef({ points, window, drawn, events })
  latest.current = { points, window, drawn, events }

  useEffect(() => {
    const element = place.current
    if (element === null) return
    let palette: Palette = readPalette()
    const made = createPlot({
      element,
      lines: latest.current.drawn,
      palette: () => palette,
      limits,
      marks: () => latest.current.events.map(({ at }) => at / 1000),
      range: () => {
        const end = (latest.current.points.at(-1)?.at ?? Date.now()) / 1000
        return [end - latest.current.window.seconds, end]
      },
      onCursor: setIndex,
    })
    plot.current = made
    const stop = followTheme(() => {
      palette = readPalette()
      made.redraw()
    })
    return () => {
      stop()
      made.destroy()
      plot.current = null
    }
  }, [key])

  useEffect(() => {
    plot.current?.update(
      points.map(({ at }) => at / 1000),
      drawn,
    )
  }, [points, drawn, key, events.length])

  const last = points.length - 1
  // While the window moves, the crosshair may be at a position without a point.
  const shown = index === null || index > last ? null : index
  // Values that aren't current show their time, because a second without responses has no latency.
  const read = shown ?? newestWithValue(drawn, last)
  const at = points[read]?.at
  const when = shown === null && read === last && isLive ? 'now' : at === undefined ? '' : formatClock(at)
  const spoken = `${at === undefined ? '' : `${formatClock(at)}: `}${drawn
    .map(({ label, values }) => `${label} ${withUnit(values[read] ?? null, unit)}`)
    .join(', ')}`

  const move = (event: KeyboardEvent): void => {
    const from = shown ?? last
    const to: Readonly<Record<string, number | null>> = {
      ArrowLeft: Math.max(0, from - 1),
      ArrowDown: Math.max(0, from - 1),
      ArrowRight: Math.min(last, from + 1),
      ArrowUp: Math.min(last, from + 1),
      PageDown: Math.max(0, from - PAGE_STEP),
      PageUp: Math.min(last, from + PAGE_STEP),
      Home: 0,
      End: last,
      Escape: null,
    }
    const next = to[event.key]
    if (next === undefined) return
    event.preventDefault()
    plot.current?.point(next)
  }

  return (
    <section class="card chart" aria-label={title}>
      <header class="chart-head">
        <div>
          <h2>{title}</h2>
          <p class="chart-text">{text}</p>
        </div>
        {children}
      </header>
      <ul class="legend" aria-hidden="true">
        {drawn.map((line) => (
          <li key={line.label}>
            <span class={`legend-mark legend-mark-${line.color}`} />
            {line.label}
            <LegendValue value={line.values[read] ?? null} unit={unit} limits={limits} />
          </li>
        ))}
        <li class="legend-time">{when}</li>
      </ul>
      <p class="plot-axis faint" aria-hidden="true">
        {axis}
      </p>
      <div
        ref={place}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${title} over time`}
        aria-valuemin={0}
        aria-valuemax={Math.max(last, 0)}
        aria-valuenow={Math.max(shown ?? last, 0)}
        aria-valuetext={spoken}
        onKeyDown={move}
        onBlur={() => plot.current?.point(null)}
      />
      <ChartTable spec={spec} points={points} lines={drawn} />
    </section>
  )
}

interface LegendValueProps {
  readonly value: number | null
  readonly unit: string
  readonly limits: Limits | undefined
}

const LegendValue = ({ value, unit, limits }: LegendValueProps) => {
  const tone = toneOf(limits, value)
  return <span class={tone === null ? 'legend-value' : `legend-value tone-${tone}`}>{withUnit(value, unit)}</span>
}

interface ChartTableProps {
  readonly spec: ChartSpec
  readonly points: readonly LivePoint[]
  readonly lines: readonly Line[]
}

const chosen = (count: number): readonly number[] => {
  const rows = Math.min(TABLE_ROWS, count)
  return Array.from({ length: rows }, (_row, row) => count - 1 - Math.floor((row * count) / rows))
}

const ChartTable = ({ spec: { title, unit }, points, lines }: ChartTableProps) => {
  const [open, setOpen] = useState(false)
  return (
    <details class="chart-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        As a table<span class="sr-only">: {title}</span>
      </summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <div class="chart-table-scroll" tabIndex={0}>
          <table class="small-table">
            <caption class="sr-only">{title}</caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ label }) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {chosen(points.length).map((row) => (
                <tr key={points[row]?.at}>
                  <th scope="row">{formatClock(points[row]?.at ?? 0)}</th>
                  {lines.map(({ label, values }) => (
                    <td key={label}>{withUnit(values[row] ?? null, unit)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}
