// `bun test/long/cluster.ts [--only NAME,…]`: three nodes with two processes each behind the nginx of deploy/, with a PostgreSQL
// that flushes each commit to disk. Takes about six minutes on an idle machine. Exit code 1 if a goal is missed.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBalancer } from '../cluster/balancer.ts'
import { startCluster } from '../cluster/cluster.ts'
import { streamDelivery } from '../cluster/trials/delivery.ts'
import { freezeDatabase, killDatabase, killNode } from '../cluster/trials/faults.ts'
import { reloadNodes, restartNodes } from '../cluster/trials/rolling.ts'
import { compareStores } from '../cluster/trials/throughput.ts'
import { type Finding, finding, type Trial } from '../cluster/trials/trial.ts'
import { upgradeNodes } from '../cluster/trials/upgrade.ts'
import { resultOf } from '../service/run-to-end.ts'
import { answerHelp } from '../support/head-help.ts'
import { startPostgres } from '../support/postgres-server.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..', '..')
const TRIALS: Readonly<Record<string, Trial>> = {
  'stream-delivery': streamDelivery,
  'restart-nodes': restartNodes,
  'reload-nodes': reloadNodes,
  'upgrade-nodes': upgradeNodes,
  'kill-node': killNode,
  'kill-database': killDatabase,
  'freeze-database': freezeDatabase,
}
const NAMES = [...Object.keys(TRIALS), 'throughput', 'conformance']

const USAGE = `Usage: bun test/long/cluster.ts [--only NAME,…]

  stream-delivery   A session decided on one node, followed on the others
  restart-nodes     Nodes restarted one after another under load
  reload-nodes      Processes of nodes replaced one after another under load
  upgrade-nodes     Nodes upgraded and downgraded one after another under load
  kill-node         kill -9 of a node under load
  kill-database     kill -9 of PostgreSQL under load
  freeze-database   PostgreSQL suspended for 5 s under load
  throughput        Attestations per second with PostgreSQL and with SQLite
  conformance       The conformance suite through the balancer
`

const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
const wanted = values.only?.split(',') ?? NAMES
if (values.help === true || wanted.some((name) => !NAMES.includes(name))) {
  process.stdout.write(USAGE)
  process.exit(values.help === true ? 0 : 2)
}

const startedMs = performance.now()
const progress = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`)
}
const findings: Finding[] = []
const report = (found: readonly Finding[]): void => {
  for (const { what, result, goal, reached } of found) {
    process.stdout.write(`${reached ? '  ' : '✗ '}${what}: ${result}${goal === '' ? '' : ` (goal: ${goal})`}\n`)
  }
  findings.push(...found)
}

/** Conformance tests of properties that hold only for a single process. */
const OF_ONE_PROCESS = [
  // Each process caches its own block height of a chain.
  'the block height is read at most once per block time',
  // Reads the SQLite file.
  'with another link, which is not stored',
  // Streams are counted per process.
  'above the limit of a key get 429',
]

const runConformance = async (): Promise<Finding[]> => {
  const options = ['--preload', './test/cluster/instead.ts', '--timeout', '60000']
  const except = ['--test-name-pattern', `^(?!.*(${OF_ONE_PROCESS.join('|')}))`]
  const child = Bun.spawn(['bun', 'test', ...options, ...except, 'test/conformance'], {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { code, stdout, stderr } = await resultOf(child)
  const lines = `${stdout}${stderr}`.split('\n')
  for (const line of lines.filter((text) => text.startsWith('(fail)'))) progress(line)
  const counts = lines.filter((line) => /^ *\d+ (pass|fail|skip)$/.test(line)).map((line) => line.trim())
  return [finding('conformance through the balancer', counts.join(', '), 'all pass', code === 0)]
}

const postgres = await startPostgres(true)
try {
  const trials = wanted.flatMap((name) => TRIALS[name] ?? [])
  if (trials.length > 0) {
    progress('starting three nodes with two processes each')
    await postgres.administer('CREATE DATABASE cluster')
    const cluster = await startCluster({ store: postgres.address('cluster'), nodes: 3, processes: 2, workers: 1 })
    try {
      const balancer = await startBalancer(cluster.nodes.map(({ addresses }) => addresses))
      try {
        for (const trial of trials) report(await trial({ cluster, balancer, postgres, progress }))
      } finally {
        await balancer.stop()
      }
    } finally {
      await cluster.stop()
    }
  }
  if (wanted.includes('throughput')) report(await compareStores(postgres, progress))
} finally {
  await postgres.stop()
}
if (wanted.includes('conformance')) {
  progress('running the conformance suite, each file with a separate cluster')
  report(await runConformance())
}
const missed = findings.filter(({ reached }) => !reached)
process.stdout.write(`${findings.length} findings, ${missed.length} goals missed\n`)
process.exit(missed.length === 0 ? 0 : 1)
