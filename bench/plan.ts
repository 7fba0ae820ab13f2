// `bun bench/plan.ts --rate 5000 --p99 20`: measures this machine for about 20 s and recommends processes, workers and
// nodes. `countersign plan` runs it.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { answerHelp } from '../test/support/head-help.ts'
import { describePlan, loadPoints } from './capacity.ts'
import { startLoadClient } from './load/load-client.ts'
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

/** The default, and one process per core without workers. */
const settingsFor = (cores: number): readonly SweepSetting[] => [
  { processes: 1, workers: cores },
  { processes: cores, workers: 0 },
]

const measurePlan = async (processes: Processes, ratePerSecond: number, p99Ms: number): Promise<string> => {
  const options = parseOptions(['--quick'])
  if (options === null) throw new Error('unreachable: no help was requested')
  const progress = createProgress()
  const collector = createCollector()
  const context: BenchContext = {
    options: { ...options, durations: { ...options.durations, ...DURATIONS } },
    processes,
    collector,
    progress,
    client: await startLoadClient(processes),
    bareServer: async () => null,
  }
  const settings = settingsFor(availableParallelism())
  progress.section(settings.length)
  for (const setting of settings) {
    await measureSetting(context, setting, 'auto', null)
    progress.finished()
  }
  progress.end()
  for (const finding of collector.findings()) progress.note(`plan: ${finding}`)
  return describePlan(loadPoints(collector.measurements()), ratePerSecond, p99Ms)
}

const { rate = '', p99 = '' } = parseArgs({ options: { rate: { type: 'string' }, p99: { type: 'string' } } }).values
const processes = createProcesses()
const signals = stopOnSignals(processes)
let exitCode = 0
try {
  console.log(await measurePlan(processes, Number(rate), Number(p99)))
  console.log('The load generator used the same processors. A machine of another size needs its own measurement.')
} catch (cause) {
  exitCode = signals.exitCode() ?? 1
  if (exitCode === 1) console.error(`plan: ${cause instanceof Error ? cause.message : String(cause)}`)
} finally {
  await processes.stopAll()
}
process.exit(exitCode)
