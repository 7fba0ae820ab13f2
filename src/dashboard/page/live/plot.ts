// uPlot configuration of the live page. The library only draws; the page implements legend, table and keyboard control.
import UPlot from 'uplot'
import { formatClock, formatMinute, formatTick } from './format.ts'
import type { Limits } from './limits.ts'
import type { Palette } from './palette.ts'
import type { Line } from './series.ts'

const PLOT_HEIGHT = 168
const AXIS_WIDTH = 46
const SECONDS_PER_MINUTE = 60
const FONT = '11px system-ui, sans-serif'
/** Space above the highest value, so that its line isn't cut off. */
const HEADROOM = 1.08
/** Fraction of the window within which a point counts as being under the crosshair. */
const NEAR = 0.02
type Place = readonly [x: number, y: number]
const NOWHERE = { left: -10, top: -10 } as const

interface PlotOptions {
  readonly element: HTMLElement
  readonly lines: readonly Line[]
  readonly palette: () => Palette
  /** Returns the start and end of the window in Unix seconds. */
  readonly range: () => readonly [from: number, to: number]
  /** Values of horizontal lines, read on each redraw and shown if they are within the scale. */
  readonly limits: Limits | undefined
  /** Times of events in Unix seconds, read on each redraw. */
  readonly marks: () => readonly number[]
  readonly onCursor: (index: number | null) => void
}

/** Returns isolated points: their neighbors have no value. */
const lonely = ({ data }: UPlot, series: number): number[] => {
  const values = data[series] ?? []
  const is = (index: number): boolean => typeof values[index] === 'number'
  return Array.from(values.keys()).filter((index) => is(index) && !is(index - 1) && !is(index + 1))
}

/** Formats a tick, with seconds if ticks are closer than a minute. */
const formatTime = (seconds: number, [first = 0, second = first + SECONDS_PER_MINUTE]: readonly number[]): string =>
  (second - first < SECONDS_PER_MINUTE ? formatClock : formatMinute)(seconds * 1000)

export const createPlot = (options: PlotOptions) => {
  const { element, lines, palette, range, limits, marks, onCursor } = options
  const axis = (): Pick<UPlot.Axis, 'stroke' | 'grid' | 'ticks' | 'font'> => ({
    stroke: () => palette().text,
    grid: { stroke: () => palette().grid, width: 1 },
    ticks: { show: false },
    font: FONT,
  })
  /** Returns null in a gap, if the nearest point isn't under the crosshair. */
  const pointAt = ({ cursor, data, posToVal }: UPlot): number | null => {
    const time = data[0][cursor.idx ?? -1]
    if (time === undefined || cursor.left === undefined || cursor.left < 0) return null
    const [from, to] = range()
    return Math.abs(posToVal(cursor.left, 'x') - time) > (to - from) * NEAR ? null : (cursor.idx ?? null)
  }
  const dashed = (ctx: CanvasRenderingContext2D, color: string, from: Place, to: Place): void => {
    ctx.save()
    ctx.strokeStyle = color
    ctx.lineWidth = devicePixelRatio
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(...from)
    ctx.lineTo(...to)
    ctx.stroke()
    ctx.restore()
  }
  const drawLimitsAndMarks = (drawn: UPlot): void => {
    const { ctx, bbox, scales } = drawn
    const highest = scales['y']?.max ?? 0
    for (const tone of ['warn', 'bad'] as const) {
      const limit = limits?.[tone]
      if (limit === undefined || limit > highest) continue
      const y = drawn.valToPos(limit, 'y', true)
      dashed(ctx, palette()[tone], [bbox.left, y], [bbox.left + bbox.width, y])
    }
    const [from, to] = range()
    for (const at of marks()) {
      if (at < from || at > to) continue
      const x = drawn.valToPos(at, 'x', true)
      dashed(ctx, palette().mark, [x, bbox.top], [x, bbox.top + bbox.height])
    }
  }
  const plot = new UPlot(
    {
      width: Math.max(element.clientWidth, 100),
      height: PLOT_HEIGHT,
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 7 },
        sync: { key: 'live' },
        focus: { prox: -1 },
      },
      scales: {
        x: { time: true, range: () => [...range()] as UPlot.Range.MinMax },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * HEADROOM : 1] },
      },
      axes: [
        {
          ...axis(),
          size: 26,
          space: 64,
          values: (_plot, ticks) => ticks.map((seconds) => formatTime(seconds, ticks)),
        },
        { ...axis(), size: AXIS_WIDTH, space: 34, values: (_plot, ticks) => ticks.map(formatTick) },
      ],
      series: [
        {},
        ...lines.map(
          ({ label, color }): UPlot.Series => ({
            label,
            stroke: () => palette().lines[color],
            width: 1.6,
            spanGaps: false,
            // A point between two gaps has no line, so it is drawn as a dot.
            points: { show: false, size: 3, fill: () => palette().lines[color], filter: lonely },
          }),
        ),
      ],
      hooks: { setCursor: [(drawn) => onCursor(pointAt(drawn))], draw: [drawLimitsAndMarks] },
    },
    [[], ...lines.map(() => [])],
    element,
  )
  // Screen readers can't read a canvas; the slider and the table replace it.
  plot.root.setAttribute('aria-hidden', 'true')
  const sizes = new ResizeObserver(() =>
    plot.setSize({ width: Math.max(element.clientWidth, 100), height: PLOT_HEIGHT }),
  )
  sizes.observe(element)
  return {
    /** @param times Unix seconds, one per value */
    update: (times: readonly number[], updated: readonly Line[]) => {
      plot.setData([[...times], ...updated.map(({ values }) => [...values])] as UPlot.AlignedData)
    },
    point: (index: number | null) => {
      const time = index === null ? undefined : plot.data[0][index]
      const at = time === undefined ? NOWHERE : { left: plot.valToPos(time, 'x'), top: PLOT_HEIGHT / 3 }
      // The third parameter, which the types lack, publishes the change to the other charts.
      ;(plot.setCursor as (at: { left: number; top: number }, fire: boolean, publish: boolean) => void)(at, true, true)
    },
    redraw: () => plot.redraw(false),
    destroy: () => {
      sizes.disconnect()
      plot.destroy()
    },
  }
}

export type Plot = ReturnType<typeof createPlot>
