// `bun test/long/kill-process.ts [--times 100] [--processes 1] [--workers 1] [--hangs 5] [--ready-ms 2000]`: repeated kill -9 at
// random moments under load, with one data folder. With several processes, it kills the supervisor, a process, or a background
// process (the search index), and --hangs percent of the rounds suspend a process until the supervisor kills it, after 10 s or
// 120 s during a start. After each round, the service must be ready within two seconds. At the end, every response is in the
// log, no uuid was returned twice, and the log is valid. Exit code 1 if anything is lost.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type RunningService, startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '100' },
    processes: { type: 'string', default: '1' },
    // 0: the main threads sign.
    workers: { type: 'string', default: '1' },
    hangs: { type: 'string', default: '5' },
    // For busy machines.
    'ready-ms': { type: 'string', default: '2000' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (
  values.help === true ||
  !/^[1-9]\d{0,5}$/.test(values.times) ||
  !/^[1-9]\d?$/.test(values.processes) ||
  !/^\d\d?$/.test(values.workers) ||
  !/^\d\d?$/.test(values.hangs)
) {
  process.stdout.write(
    'Usage: bun test/long/kill-process.ts [--times 100] [--processes 1] [--workers 1] [--hangs 5] [--ready-ms 2000]\n',
  )
  process.exit(values.help === true ? 0 : 2)
}
const times = Number(values.times)
const processes = Number(values.processes)
/** Whether a separate process supervises the others. */
const supervised = processes > 1 || values.workers === '0'
const CLIENTS = 16
const READY_WITHIN_MS = Number(values['ready-ms'])

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-kill-'))
const ledger = createLedger()
const { problems } = ledger
const killed = { supervisor: 0, process: 0, helper: 0, hung: 0 }
let slowestStartMs = 0
let reported = 0
let slowestReturnMs = 0

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    // The process has exited.
    return []
  }
}

const start = async (round: number): Promise<RunningService> => {
  const startedMs = performance.now()
  const started = await startService({
    dataDirectory,
    arguments: ['--processes', values.processes],
    environment: { COUNTERSIGN_WORKERS: values.workers },
  })
  const startMs = performance.now() - startedMs
  // Before all processes are ready, the exit of one ends the start.
  for (let number = 0; supervised && number < processes; number++) {
    await started.logLine(({ message, process: of }) => message === 'ready' && of === number)
  }
  if (round > 1) slowestStartMs = Math.max(slowestStartMs, startMs)
  if (round > 1 && startMs > READY_WITHIN_MS) problems.push(`round ${round}: ready after ${startMs.toFixed(0)} ms`)
  return started
}

/** Waits until all processes are restarted. */
const untilWhole = async (supervisor: number): Promise<void> => {
  const limitMs = performance.now() + 30_000
  while (childrenOf(supervisor).length < processes) {
    if (performance.now() > limitMs) throw new Error('a process was not started again within 30 s')
    await Bun.sleep(20)
  }
}

/** Waits until the supervisor kills a process after ten missed pings of a second each, or 120 during a start. */
const untilGone = (supervisor: number, child: number): Promise<void> =>
  until(() => !childrenOf(supervisor).includes(child), {
    what: 'the end of a process that hangs',
    limitMs: 150_000,
  })

let service: RunningService | null = null
const load = ledger.load(() => service, CLIENTS)
try {
  for (let round = 1; round <= times; round++) {
    const running: RunningService = service ?? (await start(round))
    service = running
    const before = ledger.count()
    const limitMs = performance.now() + 10_000
    while (ledger.count() === before && performance.now() < limitMs) await Bun.sleep(5)
    if (ledger.count() === before) problems.push(`round ${round}: nothing was answered in 10 s`)
    await Bun.sleep(50 + Math.random() * 250)
    const own = childrenOf(running.process.pid)
    const helpers = own.flatMap(childrenOf)
    const choice = supervised ? Math.random() : 0
    const victim =
      choice < 0.34 || own.length === 0
        ? 'supervisor'
        : choice < 0.34 + Number(values.hangs) / 100
          ? 'hung'
          : choice < 0.85 || helpers.length === 0
            ? 'process'
            : 'helper'
    killed[victim] += 1
    if (victim === 'supervisor') {
      service = null
      running.process.kill('SIGKILL')
      await running.stop()
    } else {
      const among = victim === 'helper' ? helpers : own
      const chosen = among[Math.floor(Math.random() * among.length)] ?? 0
      process.kill(chosen, victim === 'hung' ? 'SIGSTOP' : 'SIGKILL')
      if (victim === 'hung') await untilGone(running.process.pid, chosen)
      const returnMs = await readyAfterMs(running)
      slowestReturnMs = Math.max(slowestReturnMs, returnMs)
      if (returnMs > READY_WITHIN_MS) problems.push(`round ${round}: ready again after ${returnMs.toFixed(0)} ms`)
      await untilWhole(running.process.pid)
    }
    process.stderr.write(`\r${round}/${times} kills, ${ledger.count()} answers, ${problems.length} problems `)
    for (; reported < problems.length; reported++) process.stderr.write(`\n${problems[reported]}\n`)
  }
  process.stderr.write('\n')
  service ??= await start(times)
  await load.stop()
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}

const what = Object.entries(killed).filter(([, count]) => count > 0)
conclude(
  ledger,
  `${times} kills (${what.map(([name, count]) => `${name} ${count}`).join(', ')}), slowest start ${slowestStartMs.toFixed(0)} ms, ready again after at most ${slowestReturnMs.toFixed(0)} ms`,
)
