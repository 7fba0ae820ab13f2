// Line charts: axis ticks, well-formed SVG, and points within their panel.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { axisOf } from '../../bench/draw/axis.ts'
import { type Chart, drawChart } from '../../bench/draw/line-chart.ts'

describe('axis', () => {
  test('has round ticks', () => {
    expect(axisOf([3, 18_250], 4).ticks).toEqual([0, 5_000, 10_000, 15_000, 20_000])
    expect(axisOf([0.1, 0.31], 4).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4])
    expect(axisOf([1, 2, 4], 10, { whole: true, fromZero: false }).ticks).toEqual([1, 2, 3, 4])
    expect(axisOf([5], 4, { fromZero: false }).ticks.length).toBeGreaterThan(1)
    expect(axisOf([0, 0], 4).ticks.length).toBeGreaterThan(1)
  })

  test('includes every value with few ticks', () => {
    const value = fc
      .double({ min: -1e9, max: 1e9, noNaN: true })
      .filter((number) => number === 0 || Math.abs(number) > 1e-6)
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), fc.boolean(), (values, fromZero) => {
        const { minimum, maximum, ticks } = axisOf(values, 5, { fromZero })
        const slack = (maximum - minimum) * 1e-6
        expect(Math.min(...values)).toBeGreaterThanOrEqual(minimum - slack)
        expect(Math.max(...values)).toBeLessThanOrEqual(maximum + slack)
        expect(maximum).toBeGreaterThan(minimum)
        expect(ticks.length).toBeLessThanOrEqual(9)
      }),
    )
  })
})

/** @param values alternate x and y */
const seriesOf = (name: string, ...values: readonly number[]) => ({
  name,
  points: values.flatMap((x, at) => (at % 2 === 0 ? [[x, values[at + 1] ?? 0] as const] : [])),
})

describe('chart', () => {
  const chart: Chart = {
    title: 'A < B & "C"',
    subtitle: 'here',
    xLabel: 'x',
    wholeX: true,
    panels: [
      { label: 'one', series: [seriesOf('a', 1, 10, 2, 20), seriesOf('b', 1, 5)] },
      { label: 'two', series: [seriesOf('a', 1, 0, 3, 0)] },
    ],
  }

  test('is well-formed, with light and dark colors and without scripts', () => {
    const svg = drawChart(chart)
    expect(svg).toContain('<title>A &lt; B &amp; &quot;C&quot;</title>')
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('NaN')
    expect(svg.match(/<circle/g)).toHaveLength(5)
    let depth = 0
    for (const [tag] of svg.replace(/<style>[\s\S]*?<\/style>/, '').matchAll(/<[^>]+>/g)) {
      if (tag.startsWith('</')) depth--
      else if (!tag.endsWith('/>')) depth++
      expect(depth).toBeGreaterThanOrEqual(0)
    }
    expect(depth).toBe(0)
  })

  test('contains every point', () => {
    const svg = drawChart(chart)
    const height = Number(/height="(\d+)"/.exec(svg)?.[1])
    for (const [, x, y] of svg.matchAll(/cx="([\d.-]+)" cy="([\d.-]+)"/g)) {
      expect(Number(x)).toBeWithin(80, 721)
      expect(Number(y)).toBeWithin(70, height)
    }
  })

  test('requires a panel', () => {
    expect(() => drawChart({ ...chart, panels: [] })).toThrow(RangeError)
  })
})
