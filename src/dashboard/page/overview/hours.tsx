// The last 24 hours in two series, as stacked bars or lines, with a table of the same data.
import { useState } from 'preact/hooks'
import { formatTick } from '../live/format.ts'
import { Card } from '../ui/parts.tsx'
import { zoneWord } from '../ui/relative-time.ts'

const WIDTH = 10
const GAP = 2
const HEIGHT = 100
const LABEL_EVERY = 6

const hourWord = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

export interface HourBar {
  readonly atMs: number
  /** Ends of the lower and the upper part; null if there is no bar. */
  readonly ends: readonly [lower: number, upper: number] | null
  /** Labels, in the order of the parts. */
  readonly words: readonly [string, string]
}

interface HoursProps {
  readonly title: string
  readonly text: string
  readonly unit: string
  readonly parts: readonly [lower: string, upper: string]
  readonly hours: readonly HourBar[]
  readonly lines?: boolean
}

export const Hours = ({ title, text, unit, parts, hours, lines = false }: HoursProps) => {
  const [pointed, setPointed] = useState<number | null>(null)
  const highest = Math.max(...hours.map(({ ends }) => ends?.[1] ?? 0)) || 1
  const zone = zoneWord()
  const topOf = (value: number): number => HEIGHT - (value / highest) * HEIGHT
  const isMeasured = (index: number): boolean => (hours[index]?.ends ?? null) !== null
  /** Returns the path through the measured hours, with gaps for the others; a single hour is a dash. */
  const pathOf = (part: 0 | 1): string =>
    hours
      .map(({ ends }, index) => {
        if (ends === null) return ''
        const [x, y] = [index * WIDTH, topOf(ends[part])]
        if (isMeasured(index - 1)) return `L${x + WIDTH / 2} ${y}`
        return isMeasured(index + 1) ? `M${x + WIDTH / 2} ${y}` : `M${x + GAP} ${y}h${WIDTH - 2 * GAP}`
      })
      .join('')
  const shown = pointed === null ? undefined : hours[pointed]
  return (
    <Card title={title} text={text}>
      <div class="bars">
        <span class="bars-top faint">
          {formatTick(highest)} {unit}
        </span>
        <svg
          viewBox={`0 0 ${hours.length * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}; see the table below for the numbers`}
          onPointerLeave={() => setPointed(null)}
        >
          {hours.map(({ atMs, ends }, index) => {
            const [lower, upper] = (ends ?? [0, 0]).map(topOf) as [number, number]
            const place = { x: index * WIDTH + GAP / 2, width: WIDTH - GAP }
            return (
              <g key={atMs} onPointerEnter={() => setPointed(index)}>
                <rect class="bar-place" x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
                {!lines && <rect class="bar-1" {...place} y={lower} height={HEIGHT - lower} />}
                {!lines && <rect class="bar-2" {...place} y={upper} height={lower - upper} />}
              </g>
            )
          })}
          {lines && ([0, 1] as const).map((part) => <path key={part} class={`line-${part + 1}`} d={pathOf(part)} />)}
        </svg>
        <div class="bars-times faint" aria-hidden="true">
          {hours.map(({ atMs }, index) =>
            index % LABEL_EVERY === 0 ? <span key={atMs}>{hourWord.format(atMs)}</span> : null,
          )}
        </div>
      </div>
      <ul class="legend">
        {parts.map((part, index) => (
          <li key={part}>
            <span class={`legend-mark legend-mark-${index + 1}`} /> {part} <strong>{shown?.words[index]}</strong>
          </li>
        ))}
        {shown !== undefined && <li class="legend-time">from {hourWord.format(shown.atMs)}</li>}
      </ul>
      <details class="chart-table">
        <summary>
          As a table<span class="sr-only">: {title}</span>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
        <div class="chart-table-scroll" tabIndex={0}>
          <table class="small-table">
            <caption class="sr-only">{title}</caption>
            <thead>
              <tr>
                <th scope="col">From ({zone})</th>
                {parts.map((part) => (
                  <th key={part} scope="col">
                    {part}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {hours.toReversed().map(({ atMs, words }) => (
                <tr key={atMs}>
                  <th scope="row">{hourWord.format(atMs)}</th>
                  <td>{words[0]}</td>
                  <td>{words[1]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Card>
  )
}
