// Line charts as SVG text, with panels above each other on a common x axis. Without scripts and fonts. Colors follow
// the reader's light or dark scheme, and each line has its own dashes.
import { type Axis, axisOf } from './axis.ts'

export interface Series {
  readonly name: string
  /** Sorted by x. */
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Panel {
  readonly label: string
  readonly series: readonly Series[]
}

export interface Chart {
  readonly title: string
  /** Machine, program and time of the measurement. */
  readonly subtitle: string
  readonly xLabel: string
  /** Ticks of x at whole numbers only. */
  readonly wholeX: boolean
  readonly panels: readonly Panel[]
}

const WIDTH = 720
const LEFT = 84
const RIGHT = 20
const TOP = 92
const PANEL = 170
const GAP = 54
const BOTTOM = 48
const X_TICKS = 10
const Y_TICKS = 4
/** A line with more points is drawn without dots, because they would overlap. */
const DOTS_MAX = 30

/**
 * Light color, dark color, dashes. Colors of equal lightness that color-blind readers can distinguish (Okabe and Ito,
 * 2008).
 */
const LINES: readonly (readonly [string, string, string])[] = [
  ['#0072b2', '#56b4e9', ''],
  ['#b64a00', '#ff9d4d', '6 3'],
  ['#007a5a', '#2fd6a3', '2 3'],
  ['#9b4a7e', '#e69bc8', '8 3 2 3'],
  ['#6b5d00', '#e8d44d', '1 4'],
  ['#444444', '#bbbbbb', '12 4'],
]

export const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .faint { fill: #57606a }
  .ground { fill: #ffffff }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round }
${LINES.map(([light], index) => `  .stroke${index} { stroke: ${light} } .fill${index} { fill: ${light} }`).join('\n')}
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #9198a1 }
    .ground { fill: #0d1117 }
    .grid { stroke: #3d444d }
${LINES.map(([, dark], index) => `    .stroke${index} { stroke: ${dark} } .fill${index} { fill: ${dark} }`).join('\n')}
  }
`

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const text = (x: number, y: number, words: string, attributes = ''): string =>
  `<text x="${x}" y="${y}"${attributes}>${escapeText(words)}</text>`

const rounded = (value: number): number => Math.round(value * 10) / 10
const tickText = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 6 })

const scale = ({ minimum, maximum }: Axis, from: number, to: number) => {
  const perUnit = (to - from) / (maximum - minimum)
  return (value: number): number => rounded(from + (value - minimum) * perUnit)
}

const drawSeries = (
  series: Series,
  index: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string => {
  const look = index % LINES.length
  const dashes = LINES[look]![2]
  const path = series.points.map(([px, py], place) => `${place === 0 ? 'M' : 'L'}${x(px)} ${y(py)}`).join('')
  const dots =
    series.points.length > DOTS_MAX
      ? []
      : series.points.map(([px, py]) => `<circle class="fill${look}" cx="${x(px)}" cy="${y(py)}" r="3"/>`)
  const dashArray = dashes === '' ? '' : ` stroke-dasharray="${dashes}"`
  return [`<path class="line stroke${look}" d="${path}"${dashArray}/>`, ...dots].join('')
}

const drawPanel = (panel: Panel, top: number, xAxis: Axis): string => {
  const bottom = top + PANEL
  const yAxis = axisOf(
    panel.series.flatMap(({ points }) => points.map(([, y]) => y)),
    Y_TICKS,
  )
  const x = scale(xAxis, LEFT, WIDTH - RIGHT)
  const y = scale(yAxis, bottom, top)
  const grid = yAxis.ticks.flatMap((tick) => [
    `<path class="grid" d="M${LEFT} ${y(tick)}H${WIDTH - RIGHT}"/>`,
    text(LEFT - 8, y(tick) + 4, tickText(tick), ' text-anchor="end" class="faint"'),
  ])
  const marks = xAxis.ticks.map((tick) =>
    text(x(tick), bottom + 18, tickText(tick), ' text-anchor="middle" class="faint"'),
  )
  const lines = panel.series.map((series, index) => drawSeries(series, index, x, y))
  return [text(LEFT, top - 8, panel.label), ...grid, ...marks, ...lines].join('\n')
}

/** Draws the legend: names next to samples of their lines. Empty if no panel has two lines. */
const drawLegend = (panels: readonly Panel[]): string[] => {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))]
  let left = LEFT
  return panels.every(({ series }) => series.length < 2)
    ? []
    : names.map((name, index) => {
        const look = index % LINES.length
        const dashes = LINES[look]![2]
        const dashArray = dashes === '' ? '' : ` stroke-dasharray="${dashes}"`
        const from = left
        left += 40 + name.length * 7
        return `<path class="line stroke${look}" d="M${from} 57h24"${dashArray}/>${text(from + 30, 61, name)}`
      })
}

/** @throws RangeError if the chart has no points */
export const drawChart = ({ title, subtitle, xLabel, wholeX, panels }: Chart): string => {
  const xs = panels.flatMap(({ series }) => series.flatMap(({ points }) => points.map(([x]) => x)))
  if (xs.length === 0) throw new RangeError('there is nothing to draw')
  const xAxis = axisOf(xs, X_TICKS, { whole: wholeX, fromZero: false })
  const height = TOP + panels.length * PANEL + (panels.length - 1) * GAP + BOTTOM
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title><desc>${escapeText(subtitle)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text(LEFT, 22, title, ' class="title"'),
    text(LEFT, 38, subtitle, ' class="faint"'),
    ...drawLegend(panels),
    ...panels.map((panel, index) => drawPanel(panel, TOP + index * (PANEL + GAP), xAxis)),
    text((LEFT + WIDTH - RIGHT) / 2, height - 10, xLabel, ' text-anchor="middle" class="faint"'),
    '</svg>\n',
  ].join('\n')
}
