// Bar chart of the last 24 hours with two parts per bar, and a table with the same data.
import { formatTick } from '../live/format.ts'
import type { Colour } from '../live/series.ts'
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
  /** Descriptions in the order of the parts. */
  readonly words: readonly [string, string]
}

interface HoursProps {
  readonly title: string
  /** Text after the displayed time. */
  readonly text?: string
  /** Unit of the axis, such as `ms`. */
  readonly unit: string
  readonly parts: readonly [lower: string, upper: string]
  /** Color numbers of the lower and upper part in the style sheet. */
  readonly colours: readonly [lower: Colour, upper: Colour]
  readonly bars: readonly HourBar[]
}

export const Hours = ({ title, text = '', unit, parts, colours, bars }: HoursProps) => {
  const highest = Math.max(...bars.map(({ ends }) => ends?.[1] ?? 0)) || 1
  const zone = zoneWord()
  const heightOf = (value: number): number => (value / highest) * HEIGHT
  const wordsOf = ({ words }: HourBar): string => parts.map((part, index) => `${part} ${words[index]}`).join(', ')
  return (
    <Card title={title} text={`The last 24 hours, in ${zone}. The current hour is incomplete. ${text}`}>
      <div class="bars">
        <span class="bars-top faint">
          {formatTick(highest)} {unit}
        </span>
        <svg
          viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}; see the table below for the numbers`}
        >
          {bars.map((bar, index) => {
            const [lower, upper] = (bar.ends ?? [0, 0]).map(heightOf) as [number, number]
            const place = { x: index * WIDTH + GAP / 2, width: WIDTH - GAP }
            return (
              <g key={bar.atMs}>
                <title>{`${hourWord.format(bar.atMs)}: ${wordsOf(bar)}`}</title>
                <rect class="bar-place" x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
                <rect class={`bar-${colours[0]}`} {...place} y={HEIGHT - lower} height={lower} />
                <rect class={`bar-${colours[1]}`} {...place} y={HEIGHT - upper} height={upper - lower} />
              </g>
            )
          })}
        </svg>
        <div class="bars-times faint" aria-hidden="true">
          {bars.map(({ atMs }, index) =>
            index % LABEL_EVERY === 0 ? <span key={atMs}>{hourWord.format(atMs)}</span> : null,
          )}
        </div>
      </div>
      <ul class="legend">
        {parts.map((part, index) => (
          <li key={part}>
            <span class={`legend-mark legend-mark-${colours[index]}`} /> {part}
          </li>
        ))}
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
              {bars.toReversed().map(({ atMs, words }) => (
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
