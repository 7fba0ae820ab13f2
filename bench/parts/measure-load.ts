// Measures one server in closed and open loop, and adds measurements and findings under the part's name.
import type { AnswerPlan, BodyPlan, LoadPlan, LoadReport, LoadShape } from '../load/plan.ts'
import type { MeasurementDefinition, Unit } from '../result.ts'
import type { BenchContext } from './context.ts'

export interface LoadTarget {
  /** First word of the measurements' names. */
  readonly part: string
  /** Prefix of the measurements' labels if a part measures several servers. */
  readonly label?: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodies: BodyPlan
  readonly answers: AnswerPlan
  /** Window of the closed loop, if it differs from the default. */
  readonly closedMs?: number
  /** Window at a share of the capacity, if it differs from the open loop. */
  readonly shareMs?: number
  /** Null if the server's CPU time can't be read. */
  readonly pid: number | null
}

export interface LoadMeasurer {
  warm(): Promise<void>
  /** Closed loop: each connection sends as soon as the last answer arrives. Measures throughput and CPU. */
  closed(): Promise<void>
  /** Open loop at a fixed rate. Measures latency. */
  open(): Promise<void>
  /**
   * Open loop at a share of the throughput of the last closed loop; at half of it by default, named `half`.
   * @throws Error before the first closed loop
   */
  half(share?: number, kind?: string): Promise<void>
}

/** Wallets of one run: too many for the CPU caches, and few enough to be created quickly. */
export const WALLETS = 4_096
const QUEUE_LIMIT = 100_000
const DRAIN_MS = 5_000
/** Share of a core above which the generator itself may limit a closed loop. */
const GENERATOR_SHARE_LIMIT = 0.95

/** Lateness of the generator above which latencies of an open loop only show an overloaded machine. */
const GENERATOR_LATENESS_LIMIT_MS = 2

const describeCounts = (counts: Readonly<Record<string, number>>, what: string): string[] =>
  Object.entries(counts).map(([name, count]) => `${count} ${what} ${name}`)

/**
 * @param mayBeLate ignores a late generator, which is expected if the load uses most of the machine
 * @returns reasons to doubt a report
 */
export const findingsOf = (report: LoadReport, mayBeLate = false): string[] => {
  const bad = Object.fromEntries(Object.entries(report.statuses).filter(([status]) => !status.startsWith('2')))
  const found = [
    ...describeCounts(bad, 'answers with status'),
    ...describeCounts(report.failures, 'requests without an answer:'),
    ...report.answers.problems,
  ]
  const share = report.generatorCpuMicroseconds / 1000 / report.windowMs
  if (report.shape.mode === 'closed' && share > GENERATOR_SHARE_LIMIT) {
    found.push(`the generator used ${Math.round(share * 100)}% of a core: the peak may be its own`)
  }
  if (report.shape.mode === 'open' && report.throughputPerSecond < report.shape.ratePerSecond * 0.98) {
    found.push(`answered ${Math.round(report.throughputPerSecond)}/s of the requested ${report.shape.ratePerSecond}/s`)
  }
  const latenessMs = report.generatorDelayMs?.p99 ?? 0
  if (!mayBeLate && latenessMs > GENERATOR_LATENESS_LIMIT_MS) {
    found.push(
      `the generator itself was ${latenessMs.toFixed(1)} ms late (p99), because the machine was busy with other work`,
    )
  }
  return found.map((finding) => `${report.name}: ${finding}`)
}

/** Returns the load generator's plan for one window on a target. */
export const loadPlan = (
  target: LoadTarget,
  name: string,
  shape: LoadShape,
  warmupMs: number,
  durationMs: number,
): LoadPlan => ({
  name,
  shape,
  warmupMs,
  durationMs,
  drainMs: DRAIN_MS,
  url: target.url,
  headers: target.headers,
  bodies: target.bodies,
  answers: target.answers,
  observePid: target.pid,
})

export const createLoadMeasurer = (context: BenchContext, target: LoadTarget): LoadMeasurer => {
  const { options, client, collector, progress } = context
  const { durations, connections, ratePerSecond } = options
  const closedShape: LoadShape = { mode: 'closed', connections }
  const openShape: Extract<LoadShape, { mode: 'open' }> = {
    mode: 'open',
    connections,
    ratePerSecond,
    queueLimit: QUEUE_LIMIT,
  }

  let peak: number | null = null

  const run = (kind: string, shape: LoadShape, warmupMs: number, durationMs: number): Promise<LoadReport> => {
    const name = `${target.part} ${kind}`
    progress.step(name)
    return client.run(loadPlan(target, name, shape, warmupMs, durationMs))
  }
  const add = (
    name: string,
    label: string,
    unit: Unit,
    value: number,
    better: MeasurementDefinition['better'] = unit === '/s' ? 'higher' : 'lower',
  ): void => {
    const definition: MeasurementDefinition = {
      name: `${target.part}.${name}`,
      label: target.label === undefined ? label : `${target.label}: ${label}`,
      unit,
      better,
    }
    collector.add(definition, value)
  }
  const addCpu = (name: string, label: string, { serverCpu, completed }: LoadReport): void => {
    if (serverCpu === null) return
    add(name, label, 'µs', serverCpu.total / completed)
    if (serverCpu.mainThread !== null) {
      add(`${name}_main`, `${label}: main thread`, 'µs', serverCpu.mainThread / completed)
    }
    if (serverCpu.yielding !== null && serverCpu.yielding > 0) {
      add(`${name}_index`, `${label}: search index, in addition`, 'µs', serverCpu.yielding / completed)
    }
  }
  /** Adds the answered requests per second, and all others as separate measurements. */
  const addOutcomes = (kind: string, label: string, { outcomes, windowMs, throughputPerSecond }: LoadReport): void => {
    add(`${kind}.throughput`, `throughput, ${label}`, '/s', throughputPerSecond)
    for (const what of ['refused', 'late', 'errors'] as const) {
      add(`${kind}.${what}`, `${what}, ${label}`, '/s', (outcomes[what] * 1_000) / windowMs, 'lower')
    }
  }
  const noteFindings = (report: LoadReport, mayBeLate = false): void => {
    for (const finding of findingsOf(report, mayBeLate)) collector.find(finding)
  }

  return {
    async warm() {
      noteFindings(await run('warm-up', closedShape, 0, durations.firstWarmupMs))
    },
    async closed() {
      const report = await run('closed loop', closedShape, durations.warmupMs, target.closedMs ?? durations.closedMs)
      peak = report.throughputPerSecond
      addOutcomes('closed', `closed loop, ${connections} connections`, report)
      addCpu('closed.cpu', 'CPU per request, closed loop', report)
      add('closed.p50', 'p50, closed loop', 'ms', report.latencyMs.p50)
      add('closed.p99', 'p99, closed loop', 'ms', report.latencyMs.p99)
      noteFindings(report)
    },
    async open() {
      const report = await run('open loop', openShape, durations.warmupMs, durations.openMs)
      const { latencyMs, generatorDelayMs } = report
      const at = `at ${ratePerSecond.toLocaleString('en-US')}/s`
      addOutcomes('open', `open loop ${at}`, report)
      add('open.p50', `p50 ${at}, open loop`, 'ms', latencyMs.p50)
      add('open.p90', `p90 ${at}`, 'ms', latencyMs.p90)
      add('open.p99', `p99 ${at}`, 'ms', latencyMs.p99)
      add('open.p99_9', `p99.9 ${at}`, 'ms', latencyMs.p99_9)
      add('open.max', `slowest ${at}`, 'ms', latencyMs.max)
      if (generatorDelayMs !== null) add('open.generator_p99', 'generator lateness, p99', 'ms', generatorDelayMs.p99)
      addCpu('open.cpu', `CPU per request ${at}`, report)
      noteFindings(report)
    },
    async half(share = 0.5, kind = 'half') {
      if (peak === null) throw new Error(`the capacity of ${target.part} is not known yet`)
      const at = share === 0.5 ? 'at half of capacity' : `at ${share * 100}% of capacity`
      const shape: LoadShape = { ...openShape, ratePerSecond: Math.max(1, Math.round(peak * share)) }
      const report = await run(`open loop ${at}`, shape, durations.warmupMs, target.shareMs ?? durations.openMs)
      const { latencyMs, generatorDelayMs } = report
      addOutcomes(kind, `open loop ${at}`, report)
      add(`${kind}.rate`, `rate ${at}`, '/s', shape.ratePerSecond)
      add(`${kind}.p50`, `p50 ${at}, open loop`, 'ms', latencyMs.p50)
      add(`${kind}.p99`, `p99 ${at}`, 'ms', latencyMs.p99)
      add(`${kind}.p99_9`, `p99.9 ${at}`, 'ms', latencyMs.p99_9)
      const lateness = 'generator lateness, p99'
      if (generatorDelayMs !== null) add(`${kind}.generator_p99`, lateness, 'ms', generatorDelayMs.p99)
      noteFindings(report, true)
    },
  }
}
