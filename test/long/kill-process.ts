// `bun test/long/kill-process.ts [--times 100] [--processes 1] [--workers 1] [--hangs 5] [--ready-ms 2000]`: kill -9 at a
// random moment under load, again and again over one data folder. With one process it is the whole service; with several it is
// the supervisor, one of its processes, or a process beside them (the search index), and as often as --hangs says (of 100) a
// process is suspended until the supervisor kills it, which takes it 10 s, or 120 s while it starts. After each: ready within
// two seconds, and answering; at the end every answer that was received is in the log, no uuid was given twice, and the log
// verifies. Exit code 1 when anything is lost.
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
    // 0: the threads that answer sign.
    workers: { type: 'string', default: '1' },
    hangs: { type: 'string', default: '5' },
    // For machines that have other work.
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
/** Whether a process of its own watches the others: it is killed with them, or without. */
const supervised = processes > 1 || values.workers === '0'
const CLIENTS = 16
const READY_WITHIN_MS = Number(values['ready-ms'])

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-kill-'))
const ledger = createLedger()
const { problems } = ledger
const killed = { supervisor: 0, process: 0, helper: 0, hung: 0 }
let slowestStartMs = 0
let told = 0
let slowestReturnMs = 0

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    // It is gone.
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
  // Until all were ready once, a process that ends ends the start.
  for (let number = 0; supervised && number < processes; number++) {
    await started.logLine(({ message, process: of }) => message === 'ready' && of === number)
  }
  if (round > 1) slowestStartMs = Math.max(slowestStartMs, startMs)
  if (round > 1 && startMs > READY_WITHIN_MS) problems.push(`round ${round}: ready after ${startMs.toFixed(0)} ms`)
  return started
}

/** Until all processes that there should be are there again and have children of their own, or it took far too long. */
const untilWhole = async (supervisor: number): Promise<void> => {
  const limitMs = performance.now() + 30_000
  while (childrenOf(supervisor).length < processes) {
    if (performance.now() > limitMs) throw new Error('a process was not started again within 30 s')
    await Bun.sleep(20)
  }
}

/** One that does not answer is killed after ten pings, a second each; one that is still starting after 120. */
const untilGone = (supervisor: number, child: number): Promise<void> =>
  until(() => !childrenOf(supervisor).includes(child), {
    what: 'the supervisor to kill a process that hangs',
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
    for (; told < problems.length; told++) process.stderr.write(`\n${problems[told]}\n`)
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
