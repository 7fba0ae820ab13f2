// Attestations per second of one node on PostgreSQL and on SQLite, in rotating turns. Signing reads caches, so the database
// should not matter. The search index writes each decision to the database, so PostgreSQL also runs with a local index.
import { runLoad } from '../../../bench/load/run-load.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { type Cluster, startCluster } from '../cluster.ts'
import { type Finding, finding, percentile } from './trial.ts'

const ROUNDS = 9
const WARM_UP_MS = 1_000
const ROUND_MS = 4_000
const CONNECTIONS = 32
const GOAL = 0.95

interface Measured {
  readonly perSecond: number
  /** CPU time of the service and its workers, without low-priority work; NaN if the system does not report it. */
  readonly cpuMicroseconds: number
}

const measure = async (name: string, { nodes, quickstart }: Cluster): Promise<Measured> => {
  const [node] = nodes
  if (node === undefined) throw new Error('there is no node')
  const report = await runLoad({
    name,
    url: `${node.api}/v2/attestation`,
    headers: { 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
    bodies: { seed: name, wallets: 1_000, chain: 'base', target: { to: quickstart['DEMO_CONTRACT'] ?? '' } },
    answers: { kind: 'attestation', attester: quickstart['EVM_ATTESTER'] ?? null, sampleEvery: 5_000 },
    shape: { mode: 'closed', connections: CONNECTIONS },
    warmupMs: WARM_UP_MS,
    durationMs: ROUND_MS,
    drainMs: 5_000,
    observePid: node.service().process.pid,
  })
  if (report.answers.problems.length > 0) throw new Error(report.answers.problems.join('; '))
  const { serverCpu, completed, throughputPerSecond } = report
  const cpu = serverCpu?.total ?? Number.NaN
  return { perSecond: throughputPerSecond, cpuMicroseconds: cpu / completed }
}

const MODES = ['SQLite', 'PostgreSQL', 'PostgreSQL, local index'] as const
type Mode = (typeof MODES)[number]

const startMode = async (mode: Mode, postgres: PostgresServer): Promise<Cluster> => {
  const one = { nodes: 1, processes: 1, workers: 1 }
  if (mode === 'SQLite') return startCluster({ ...one, store: null })
  const database = mode === 'PostgreSQL' ? 'throughput' : 'throughput_local'
  await postgres.administer(`CREATE DATABASE ${database}`)
  const environment = mode === 'PostgreSQL' ? {} : { COUNTERSIGN_DECISIONS_INDEX: 'local' }
  return startCluster({ ...one, store: postgres.address(database), environment })
}

export const compareStores = async (postgres: PostgresServer, progress: (line: string) => void): Promise<Finding[]> => {
  const clusters = new Map<Mode, Cluster>()
  const measured = new Map<Mode, Measured[]>(MODES.map((mode) => [mode, []]))
  try {
    for (const mode of MODES) clusters.set(mode, await startMode(mode, postgres))
    for (let round = 0; round < ROUNDS; round++) {
      for (let turn = 0; turn < MODES.length; turn++) {
        const mode = MODES[(round + turn) % MODES.length] ?? 'SQLite'
        const cluster = clusters.get(mode)
        if (cluster !== undefined) measured.get(mode)?.push(await measure(mode, cluster))
      }
      const rates = MODES.map((mode) => `${mode} ${Math.round(measured.get(mode)?.[round]?.perSecond ?? 0)}/s`)
      progress(`round ${round + 1}/${ROUNDS}: ${rates.join(', ')}`)
    }
  } finally {
    for (const cluster of clusters.values()) await cluster.stop()
  }
  const median = (mode: Mode, of: (one: Measured) => number): number =>
    percentile((measured.get(mode) ?? []).map(of), 0.5)
  const rate = (mode: Mode): number => median(mode, ({ perSecond }) => perSecond)
  const cpu = (mode: Mode): number => median(mode, ({ cpuMicroseconds }) => cpuMicroseconds)
  const line = (mode: Mode): Finding =>
    finding(
      `attestations of one process with one worker, ${mode}`,
      `${Math.round(rate(mode)).toLocaleString('en-US')}/s, ${cpu(mode).toFixed(0)} µs of CPU each`,
      '',
      true,
    )
  const ratio = (mode: Mode): Finding => {
    const share = rate(mode) / rate('SQLite')
    return finding(`${mode} against SQLite, median of ${ROUNDS} rounds`, share.toFixed(3), `${GOAL}`, share >= GOAL)
  }
  // CPU time depends less on other processes than a rate.
  const work = cpu('SQLite') / cpu('PostgreSQL')
  return [
    ...MODES.map(line),
    finding('CPU time on SQLite as a share of that on PostgreSQL', work.toFixed(3), '', true),
    ratio('PostgreSQL'),
    ratio('PostgreSQL, local index'),
  ]
}
