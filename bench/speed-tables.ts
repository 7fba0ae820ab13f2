// Formats results as the tables of docs/speed.md.
import { CAPACITY_HEAD, capacityRows, loadPoints } from './capacity.ts'
import { PEER_NOTES, peerRows } from './peers/peer-table.ts'
import { formatValue } from './report.ts'
import type { BenchResult } from './result.ts'
import { describeRecommendation, sweepPoints } from './sweep.ts'

/** Escapes a cell, so that it does not end its row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const align = head.map((_, column) => (column === 0 ? '---' : '--:'))
  return [head, align, ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

/** Returns whether docs/images has a drawing of this name. */
export type HasDrawing = (name: string) => boolean

export const drawing = (name: string, words: string, hasDrawing: HasDrawing): string[] =>
  hasDrawing(name) ? ['', `![${words}](images/bench-${name}.svg)`] : []

/** Formats the goals; ratios have their lowest and highest round. The result file contains all numbers. */
export const goalTable = ({ goals, measurements }: BenchResult): string[] => {
  const ratios = measurements.filter(({ name }) => name.startsWith('summary.'))
  const rows = goals.map(({ label, value, unit, bound, limit, reached }) => {
    const rounds = ratios.find((ratio) => ratio.label === label)?.rounds
    const range = rounds && ` (${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)})`
    return [
      label,
      `${formatValue(value, unit)}${range ?? ''}`,
      `${bound} ${formatValue(limit, unit)}`,
      reached ? 'yes' : 'no',
    ]
  })
  return rows.length === 0
    ? []
    : [
        '',
        'Goals of the project; for ratios, the median and the range of the rounds:',
        '',
        table(['Goal', 'Measured', 'Limit', 'Reached'], rows),
      ]
}

export const sweepTable = ({ measurements }: BenchResult, hasDrawing: HasDrawing): string[] => {
  const points = sweepPoints(measurements)
  const sentence = describeRecommendation(points)
  if (sentence === null) return []
  const rows = points.map(({ processes, workers, throughput, cpu, p99 }) => [
    String(processes),
    String(workers),
    formatValue(throughput, '/s'),
    Number.isNaN(cpu) ? '' : formatValue(cpu, 'µs'),
    formatValue(p99, 'ms'),
  ])
  const head = ['Processes', 'Workers per process', 'Throughput', 'CPU per attestation', 'p99']
  const image = drawing('sweep', 'Attestations by workers and processes', hasDrawing)
  const capacity = capacityRows(loadPoints(measurements))
  const words =
    'Nodes like this machine, plus one spare. Each row uses the setting that held the highest rate with this p99.'
  const lines = ['', 'Workers and processes, closed loop:', '', table(head, rows), '', sentence, ...image]
  if (capacity.length > 0) lines.push('', '### Capacity', '', words, '', table(CAPACITY_HEAD, capacity))
  return lines
}

export const peerTable = ({ measurements }: BenchResult, hasDrawing: HasDrawing): string[] => {
  const peers = peerRows(measurements)
  if (peers.length === 0) return []
  const rows = peers.map(({ label, throughput, relative, cpu, p99 }) => [
    label,
    formatValue(throughput, '/s'),
    formatValue(relative, 'ratio'),
    Number.isNaN(cpu) ? '' : formatValue(cpu, 'µs'),
    Number.isNaN(p99) ? '' : formatValue(p99, 'ms'),
  ])
  const rules = measurements.filter(({ name }) => name.startsWith('peers.rules.'))
  const head = ['Server', 'Requests', 'Relative to Countersign', 'CPU per request', 'p99']
  const lines = ['', '### Peers', '', 'In alternating rounds, closed loop:', '', table(head, rows)]
  lines.push(...drawing('peers', 'Requests per second of Countersign and its peers', hasDrawing))
  const ruleRows = rules.map(({ label, median }) => [label, formatValue(median, 'µs')])
  if (rules.length > 0)
    lines.push('', 'Rules alone, in one thread:', '', table(['Engine', 'CPU per evaluation'], ruleRows))
  lines.push('', 'Setup and limits:', '', ...PEER_NOTES.map((note) => `- ${note}`))
  return lines
}
