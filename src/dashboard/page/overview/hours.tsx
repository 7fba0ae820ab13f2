// The decisions of the last 24 hours as bars, and as a table for whoever does not see them.
import { formatTick } from '../live/format.ts'
import { Card } from '../ui/parts.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { type Hour, totalOf } from './days.ts'

const WIDTH = 10
const GAP = 2
const HEIGHT = 100
/** Hours between two labels. */
const LABEL_EVERY = 6

const hourWord = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

export const Hours = ({ hours }: { readonly hours: readonly Hour[] }) => {
  const highest = Math.max(1, ...hours.map(totalOf))
  const zone = zoneWord()
  const heightOf = (count: number): number => (count / highest) * HEIGHT
  return (
    <Card title="By hour" text={`The last 24 hours, in ${zone}. The last hour is not over yet.`}>
      <div class="bars">
        <span class="bars-top faint">{formatTick(highest)}</span>
        <svg
          viewBox={`0 0 ${hours.length * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label="Decisions by hour; the table below has the numbers"
        >
          {hours.map((hour, index) => {
            const compliant = heightOf(hour.compliant)
            const denied = heightOf(hour.denied)
            return (
              <g key={hour.atMs}>
                <title>
                  {`${hourWord.format(hour.atMs)}: ${hour.compliant.toLocaleString('en')} attested, ${hour.denied.toLocaleString('en')} denied`}
                </title>
                <rect class="bar-place" x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
                <rect
                  class="bar-compliant"
                  x={index * WIDTH + GAP / 2}
                  y={HEIGHT - compliant}
                  width={WIDTH - GAP}
                  height={compliant}
                />
                <rect
                  class="bar-denied"
                  x={index * WIDTH + GAP / 2}
                  y={HEIGHT - compliant - denied}
                  width={WIDTH - GAP}
                  height={denied}
                />
              </g>
            )
          })}
        </svg>
        <div class="bars-times faint" aria-hidden="true">
          {hours.map(({ atMs }, index) =>
            index % LABEL_EVERY === 0 ? <span key={atMs}>{hourWord.format(atMs)}</span> : null,
          )}
        </div>
      </div>
      <ul class="legend">
        <li>
          <span class="legend-mark legend-mark-1" /> attested
        </li>
        <li>
          <span class="legend-mark legend-mark-2" /> denied
        </li>
      </ul>
      <details class="chart-table">
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
        <div class="chart-table-scroll" tabIndex={0}>
          <table class="small-table">
            <caption class="sr-only">Decisions by hour</caption>
            <thead>
              <tr>
                <th scope="col">From ({zone})</th>
                <th scope="col">Attested</th>
                <th scope="col">Denied</th>
              </tr>
            </thead>
            <tbody>
              {hours.toReversed().map(({ atMs, compliant, denied }) => (
                <tr key={atMs}>
                  <th scope="row">{hourWord.format(atMs)}</th>
                  <td>{compliant.toLocaleString('en')}</td>
                  <td>{denied.toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Card>
  )
}
