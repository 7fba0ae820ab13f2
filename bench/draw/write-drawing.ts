// Writes drawings as files named after the part of the bench.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMachine, readRuntime } from '../machine.ts'
import type { BenchContext } from '../parts/context.ts'
import { type BarChart, drawBars } from './bar-chart.ts'
import { type Chart, drawChart } from './line-chart.ts'

/** Writes `bench-<name>.svg` if drawings are enabled. The subtitle names the machine, the runtime and the day. */
export const writeDrawing = ({ options, progress }: BenchContext, name: string, chart: Chart | BarChart): void => {
  if (options.imageFolder === null) return
  const { cpu, cores } = readMachine()
  const where = `${cpu}, ${cores} cores, Bun ${readRuntime().version}, ${new Date().toISOString().slice(0, 10)}`
  mkdirSync(options.imageFolder, { recursive: true })
  const path = join(options.imageFolder, `bench-${name}.svg`)
  const subtitle = `${chart.subtitle} ${where}`.trim()
  writeFileSync(path, 'bars' in chart ? drawBars({ ...chart, subtitle }) : drawChart({ ...chart, subtitle }))
  progress.note(`drawn: ${path}`)
}
