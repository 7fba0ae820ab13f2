// `bun test/long/disk-errors.ts [--rounds 20] [--ready-ms 2000]`: under load, one or all writes, flushes and resizes of the
// database or the decision log fail with EIO or ENOSPC for a second. No acknowledged response is lost or repeated, and the
// service responds two seconds later. Needs strace, which injects the errors. Exit code 1 if a goal is missed.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, 'ready-ms': { type: 'string', default: '2000' } },
})
const CALLS = ['write', 'pwrite64', 'writev', 'pwritev2', 'fsync', 'fdatasync', 'ftruncate']
const READY_WITHIN_MS = Number(values['ready-ms'])

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
const ledger = createLedger()
const injected = new Map<string, number>()
let slowestMs = 0

/** Injects errors into calls on the paths for a second, and counts them. */
const inject = async (pid: number, paths: readonly string[], error: string, when: string): Promise<void> => {
  const calls = CALLS.join(',')
  const words = ['strace', '-f', '-p', String(pid), '-e', `trace=${calls}`, '-e', 'signal=none', '-e']
  words.push(`inject=${calls}:error=${error}${when}`, ...paths.flatMap((path) => ['-P', path]))
  const child = Bun.spawn(words, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const text = new Response(child.stderr).text()
  await Bun.sleep(1_000)
  child.kill('SIGINT')
  await child.exited
  for (const [, call = ''] of (await text).matchAll(/(\w+)\([^\n]*\(INJECTED\)/g)) {
    injected.set(`${call} ${error}`, (injected.get(`${call} ${error}`) ?? 0) + 1)
  }
}

if (Bun.which('strace') === null) throw new Error('strace is not installed')
try {
  const service = await startService({ dataDirectory, environment: { COUNTERSIGN_WORKERS: '1' } })
  const load = ledger.load(() => service, 8)
  for (let round = 0; round < Number(values.rounds); round++) {
    const slot = join(dataDirectory, 'decisions', 'w00')
    const paths =
      [
        ['countersign.db', 'countersign.db-wal'].map((name) => join(dataDirectory, name)),
        readdirSync(slot).map((name) => join(slot, name)),
      ][round % 2] ?? []
    const error = round % 4 < 2 ? 'EIO' : 'ENOSPC'
    // One random call, or all calls from there.
    const first = 1 + Math.floor(Math.random() * 20)
    await inject(service.process.pid, paths, error, `:when=${first}${round % 8 < 4 ? '' : '+'}`)
    const before = ledger.count()
    const startedMs = performance.now()
    await readyAfterMs(service)
    await until(() => ledger.count() > before, { what: 'an attestation after the error', limitMs: 60_000 })
    const backMs = performance.now() - startedMs
    slowestMs = Math.max(slowestMs, backMs)
    if (backMs > READY_WITHIN_MS) ledger.problems.push(`round ${round}, ${error}: back after ${backMs.toFixed(0)} ms`)
    process.stderr.write(
      `\r${round + 1}/${values.rounds} rounds, ${ledger.count()} answers, ${ledger.problems.length} problems `,
    )
  }
  process.stderr.write('\n')
  await load.stop()
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
const failed = [...injected].map(([call, count]) => `${call} ${count}`).sort()
if (failed.length === 0) ledger.problems.push('no error was injected')
conclude(
  ledger,
  `${values.rounds} rounds, failed calls: ${failed.join(', ')}; back after at most ${slowestMs.toFixed(0)} ms`,
)
