// A result: measurements, machine, and whether the goals were reached. compare.ts reads the JSON form, to which later
// versions may add measurements. The names are stable.
import type { Commit, Machine, Runtime } from './machine.ts'
import { median } from './stages/harness.ts'

/** Formats a number without a fraction: `12,345`. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export const RESULT_SCHEMA = 'countersign-bench/1'

export type Unit = 'µs' | 'ms' | '/s' | 'ratio' | 'MB' | 'MB/h' | '%' | 'count'

export interface MeasurementDefinition {
  /** Stable dotted name that starts with the part: `service.closed.throughput`. */
  readonly name: string
  readonly label: string
  readonly unit: Unit
  readonly better: 'lower' | 'higher'
}

export interface Measurement extends MeasurementDefinition {
  /** One number per round, in the order of the rounds. */
  readonly rounds: readonly number[]
  readonly median: number
}

export interface Goal {
  /** Name of the measurement. */
  readonly name: string
  readonly label: string
  readonly unit: Unit
  readonly bound: 'at most' | 'at least'
  readonly limit: number
  readonly value: number
  readonly reached: boolean
}

export interface BenchResult {
  readonly schema: typeof RESULT_SCHEMA
  /** ISO 8601. */
  readonly startedAt: string
  readonly machine: Machine
  readonly runtime: Runtime
  readonly commit: Commit | null
  /** Settings of the run: parts, durations, connections, rate, signer. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly measurements: readonly Measurement[]
  readonly goals: readonly Goal[]
  /** Errors by status, wrong answers, and other reasons to doubt a number. Empty if there are none. */
  readonly findings: readonly string[]
}

export interface Collector {
  /** Adds a round's value; the first call defines the measurement. */
  add(definition: MeasurementDefinition, value: number): void
  /** Returns the rounds so far; empty if nothing was added under this name. */
  rounds(name: string): readonly number[]
  find(text: string): void
  measurements(): Measurement[]
  findings(): readonly string[]
}

export const createCollector = (): Collector => {
  const definitions = new Map<string, MeasurementDefinition>()
  const values = new Map<string, number[]>()
  const findings: string[] = []
  return {
    add(definition, value) {
      if (!Number.isFinite(value)) throw new RangeError(`${definition.name} is not a number`)
      const rounds = values.get(definition.name) ?? []
      rounds.push(value)
      values.set(definition.name, rounds)
      if (!definitions.has(definition.name)) definitions.set(definition.name, definition)
    },
    rounds: (name) => values.get(name) ?? [],
    find: (text) => {
      if (!findings.includes(text)) findings.push(text)
    },
    measurements: () =>
      [...definitions.values()].map((definition) => {
        const rounds = values.get(definition.name)!
        return { ...definition, rounds, median: median(rounds) }
      }),
    findings: () => findings,
  }
}

/** The text is not a result of this version of the bench. */
export class ResultInvalidError extends Error {
  override readonly name = 'ResultInvalidError'
}

const UNITS: readonly string[] = ['µs', 'ms', '/s', 'ratio', 'MB', 'MB/h', '%', 'count'] satisfies Unit[]

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMeasurement = (value: unknown): value is Measurement =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  typeof value['label'] === 'string' &&
  UNITS.some((unit) => unit === value['unit']) &&
  (value['better'] === 'lower' || value['better'] === 'higher') &&
  typeof value['median'] === 'number' &&
  Array.isArray(value['rounds']) &&
  value['rounds'].length > 0 &&
  value['rounds'].every((round) => typeof round === 'number')

const isGoal = (value: unknown): value is Goal =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  typeof value['limit'] === 'number' &&
  typeof value['value'] === 'number' &&
  typeof value['reached'] === 'boolean'

/** @throws ResultInvalidError with the reason */
export const parseResult = (text: string): BenchResult => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ResultInvalidError('not JSON')
  }
  if (!isRecord(value) || value['schema'] !== RESULT_SCHEMA) throw new ResultInvalidError(`not ${RESULT_SCHEMA}`)
  for (const name of ['machine', 'runtime', 'settings']) {
    if (!isRecord(value[name])) throw new ResultInvalidError(`${name} is missing`)
  }
  const lists: [string, (item: unknown) => boolean][] = [
    ['measurements', isMeasurement],
    ['goals', isGoal],
    ['findings', (item) => typeof item === 'string'],
  ]
  for (const [name, isItem] of lists) {
    const list = value[name]
    if (!Array.isArray(list) || !list.every(isItem)) throw new ResultInvalidError(`${name} is missing or malformed`)
  }
  return value as unknown as BenchResult
}
