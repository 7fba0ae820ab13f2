// Loss of a node, and a killed or frozen database: no acknowledged request is lost, no request hangs, and requests
// succeed two seconds after the repair.
import { readdirSync, readFileSync } from 'node:fs'
import { describeFailures, findLosses, startTraffic, type Traffic, type TrafficReport } from './traffic.ts'
import { type Finding, finding, milliseconds, type Stand, type Trial, untilReady } from './trial.ts'

const BACK_WITHIN_MS = 2_000
/** Deadline of a node, plus delays of the proxy and of a busy machine. */
const HANGS_AFTER_MS = 27_000
const BEFORE_MS = 3_000
const AFTER_MS = 6_000
const FREEZE_MS = 5_000

const traffic = ({ balancer, cluster }: Stand): Traffic => startTraffic(balancer.api, cluster.quickstart)

/** Milliseconds from a moment to the last request that failed; 0 if none failed. */
const failingAfter = (report: TrafficReport, sinceMs: number): number =>
  Math.max(0, ...report.failures.map(({ sentMs }) => sentMs - sinceMs))

const judge = async (name: string, stand: Stand, report: TrafficReport, repairedMs: number): Promise<Finding[]> => {
  const losses = await findLosses(stand.cluster, stand.balancer.api, report)
  const total = Object.values(report.requests).reduce((sum, count) => sum + count, 0)
  const backMs = failingAfter(report, repairedMs)
  return [
    finding(`${name}: acknowledged and lost`, losses.join('; ') || 'none', 'none', losses.length === 0),
    finding(`${name}: all requests succeed after`, milliseconds(backMs), '2 s', backMs <= BACK_WITHIN_MS),
    finding(
      `${name}: slowest request`,
      milliseconds(report.slowestMs),
      'no request hangs',
      report.slowestMs < HANGS_AFTER_MS,
    ),
    finding(`${name}: failures of ${total} requests`, describeFailures(report.failures), '', true),
  ]
}

export const killNode: Trial = async (stand) => {
  const node = stand.cluster.nodes[1]
  if (node === undefined) throw new Error('there is no second node')
  const load = traffic(stand)
  await Bun.sleep(BEFORE_MS)
  stand.progress('node 2: kill -9')
  const killedMs = performance.now()
  await node.kill()
  await Bun.sleep(AFTER_MS)
  stand.progress('node 2: starts again')
  await node.start()
  await untilReady([node])
  await Bun.sleep(BEFORE_MS)
  return judge('node killed', stand, await load.stop(), killedMs)
}

export const killDatabase: Trial = async (stand) => {
  const load = traffic(stand)
  await Bun.sleep(BEFORE_MS)
  stand.progress('PostgreSQL: killed and started again')
  const killedMs = performance.now()
  await stand.postgres.restart()
  const repairedMs = performance.now()
  await Bun.sleep(AFTER_MS)
  const report = await load.stop()
  await untilReady(stand.cluster.nodes)
  const findings = await judge('database killed', stand, report, repairedMs)
  return [finding('database killed: its own restart', milliseconds(repairedMs - killedMs), '', true), ...findings]
}

/** Process ids of a process and its descendants. */
const treeOf = (root: number): number[] => {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // The process ended.
    }
  }
  const isOf = (pid: number): boolean => pid === root || (parents.has(pid) && isOf(parents.get(pid) ?? 0))
  return [...parents.keys()].filter(isOf)
}

const signalAll = (pids: readonly number[], signal: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ESRCH') throw error
    }
  }
}

export const freezeDatabase: Trial = async (stand) => {
  const load = traffic(stand)
  await Bun.sleep(BEFORE_MS)
  stand.progress(`PostgreSQL: frozen for ${FREEZE_MS / 1_000} s`)
  // The postmaster is stopped first, because it starts processes.
  const root = stand.postgres.pid()
  signalAll([root], 'SIGSTOP')
  const tree = treeOf(root)
  signalAll(tree, 'SIGSTOP')
  try {
    await Bun.sleep(FREEZE_MS)
  } finally {
    signalAll(tree, 'SIGCONT')
  }
  const repairedMs = performance.now()
  await Bun.sleep(AFTER_MS)
  const report = await load.stop()
  await untilReady(stand.cluster.nodes)
  return judge('database frozen', stand, report, repairedMs)
}
