// Horizontal bars as SVG text, one per row, on a common scale. Colors follow the reader's light or dark scheme.
import { escapeText, STYLE, text } from './line-chart.ts'

export interface BarChart {
  readonly title: string
  /** Machine, program and time of the measurement. */
  readonly subtitle: string
  readonly bars: readonly { readonly label: string; readonly value: number; readonly isOwn?: boolean }[]
}

const WIDTH = 720
const LEFT = 270
const RIGHT = 90
const TOP = 60
const ROW = 30
const BAR = 18

/** @throws RangeError if the chart has no bars */
export const drawBars = ({ title, subtitle, bars }: BarChart): string => {
  const largest = Math.max(...bars.map(({ value }) => value))
  if (!(largest > 0)) throw new RangeError('there is nothing to draw')
  const height = TOP + bars.length * ROW + 12
  const rows = bars.flatMap(({ label, value, isOwn = false }, index) => {
    const top = TOP + index * ROW
    const width = Math.round((value / largest) * (WIDTH - LEFT - RIGHT))
    return [
      text(LEFT - 10, top + 14, label, ' text-anchor="end"'),
      `<rect class="fill${isOwn ? 0 : 5}" x="${LEFT}" y="${top}" width="${width}" height="${BAR}"/>`,
      text(LEFT + width + 8, top + 14, Math.round(value).toLocaleString('en-US')),
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title><desc>${escapeText(subtitle)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text(16, 22, title, ' class="title"'),
    text(16, 40, subtitle, ' class="faint"'),
    ...rows,
    '</svg>\n',
  ].join('\n')
}
