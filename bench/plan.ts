// `bun bench/plan.ts --rate 5000 --p99 20`: measures this machine for about 20 s and recommends processes, workers and
// nodes. `countersign plan` runs it.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { answerHelp } from '../test/support/head-help.ts'
import { type CapacityReport, describePlan, loadPoints, reportAsJson, reportCapacity } from './capacity.ts'
import { startLoadClient } from './load/load-client.ts'
import { describeBusy, readMachine } from './machine.ts'
import { parseOptions } from './options.ts'
import type { BenchContext } from './parts/context.ts'
import { measureSetting } from './parts/sweep.ts'
import { createProcesses, type Processes, stopOnSignals } from './processes.ts'
import { createProgress } from './progress.ts'
import { createCollector } from './result.ts'
import type { SweepSetting } from './sweep.ts'

answerHelp(import.meta)

/** With two settings, about 20 s. */
const DURATIONS = { firstWarmupMs: 2_000, warmupMs: 200, closedMs: 1_500, openMs: 2_600 }

const CORES = availableParallelism()
const DEFAULT_SETTING: SweepSetting = { processes: 1, workers: CORES }
/** The default, and one process per core without workers. */
const SETTINGS: readonly SweepSetting[] = [DEFAULT_SETTING, { processes: CORES, workers: 0 }]

const measurePlan = async (processes: Processes, ratePerSecond: number, p99Ms: number): Promise<CapacityReport> => {
  const options = parseOptions(['--quick'])
  if (options === null) throw new Error('unreachable: no help was requested')
  const progress = createProgress()
  const collector = createCollector()
  const busy = describeBusy(readMachine())
  if (busy !== null) collector.find(busy)
  const context: BenchContext = {
    options: { ...options, durations: { ...options.durations, ...DURATIONS } },
    processes,
    collector,
    progress,
    client: await startLoadClient(processes),
    bareServer: async () => null,
  }
  progress.section(SETTINGS.length)
  for (const setting of SETTINGS) {
    await measureSetting(context, setting, 'auto', null)
    progress.finished()
  }
  progress.end()
  for (const finding of collector.findings()) progress.note(`plan: ${finding}`)
  const measured = loadPoints(collector.measurements())
  return reportCapacity({ ratePerSecond, p99Ms, defaultSetting: DEFAULT_SETTING, measured })
}

const {
  rate = '',
  p99 = '',
  json = false,
} = parseArgs({ options: { rate: { type: 'string' }, p99: { type: 'string' }, json: { type: 'boolean' } } }).values
const processes = createProcesses()
const signals = stopOnSignals(processes)
let exitCode = 0
try {
  const report = await measurePlan(processes, Number(rate), Number(p99))
  if (json) console.log(JSON.stringify(reportAsJson(report), null, 2))
  else {
    console.log(describePlan(report))
    console.log('The load generator used the same processors. A machine of another size needs its own measurement.')
  }
} catch (cause) {
  exitCode = signals.exitCode() ?? 1
  if (exitCode === 1) console.error(`plan: ${cause instanceof Error ? cause.message : String(cause)}`)
} finally {
  await processes.stopAll()
}
process.exit(exitCode)
