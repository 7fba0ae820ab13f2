// The tables of docs/speed.md, made of results.
import { CAPACITY_HEAD, capacityRows, loadPoints } from './capacity.ts'
import { PEER_NOTES, peerRows } from './peers/peer-table.ts'
import { formatValue, isOutcome } from './report.ts'
import type { BenchResult, Measurement } from './result.ts'
import { stageShares } from './stage-shares.ts'
import { describeRecommendation, sweepPoints } from './sweep.ts'

/** Parts of a result that the page shows in the details, with the text before each table. The result file has all. */
export const PARTS: readonly { readonly part: string; readonly words: string }[] = [
  { part: 'service', words: 'The service, with key check, a policy of six rules and decision record:' },
  { part: 'batch', words: 'Batches:' },
  { part: 'solana', words: 'Attestations on Solana, signing with Ed25519:' },
]

/** Escapes a cell, so that it does not end its row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const align = head.map((_, column) => (column === 0 ? '---' : '--:'))
  return [head, align, ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

const ratioTable = (measurements: readonly Measurement[]): string =>
  table(
    ['Ratio', 'Median', 'Rounds'],
    measurements.map(({ label, median, rounds, unit }) => [
      label,
      formatValue(median, unit),
      `${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)}`,
    ]),
  )

/** Lateness of the generator, CPU by thread and throughput at a fixed rate; only the result file has them. */
const NOT_SHOWN = /generator_p99$|cpu_(?:main|index)$|(?:open|half)\.throughput$/

const medianTable = (measurements: readonly Measurement[]): string =>
  table(
    ['Measurement', 'Median'],
    measurements
      .filter((measurement) => !NOT_SHOWN.test(measurement.name) && !isOutcome(measurement))
      .map(({ label, median, unit }) => [label, formatValue(median, unit)]),
  )

/** Whether docs/images has a drawing of this name. */
export type HasDrawing = (name: string) => boolean

export const drawing = (name: string, words: string, hasDrawing: HasDrawing): string[] =>
  hasDrawing(name) ? ['', `![${words}](images/bench-${name}.svg)`] : []

export const goalTable = ({ goals }: BenchResult): string[] => {
  const rows = goals.map(({ label, value, unit, bound, limit, reached }) => [
    label,
    formatValue(value, unit),
    `${bound} ${formatValue(limit, unit)}`,
    reached ? 'yes' : 'no',
  ])
  return rows.length === 0
    ? []
    : ['', 'Goals of the project:', '', table(['Goal', 'Measured', 'Limit', 'Reached'], rows)]
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
  lines.push('', 'Set-up and limits:', '', ...PEER_NOTES.map((note) => `- ${note}`))
  return lines
}

export const shareTable = ({ measurements }: BenchResult): string[] => {
  const rows = stageShares(measurements).map(({ label, microseconds, share }) => [
    label,
    formatValue(microseconds, 'µs'),
    `${Math.round(share * 100)}%`,
  ])
  return rows.length === 0 ? [] : ['', 'CPU of one attestation:', '', table(['Work', 'CPU', 'Share'], rows)]
}

export const tableOf = ({ measurements }: BenchResult, part: string): string[] => {
  const own = measurements.filter(({ name }) => name.split('.')[0] === part)
  return own.length === 0 ? [] : [part === 'summary' ? ratioTable(own) : medianTable(own)]
}
