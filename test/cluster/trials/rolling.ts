// Nodes are replaced one after another under load, and no request fails: with SIGTERM to each node, as in an upgrade, and
// with SIGHUP, which replaces the processes of a node behind its port.
import { describeFailures, findLosses, startTraffic } from './traffic.ts'
import { type Finding, finding, milliseconds, type Stand, type Trial, untilReady } from './trial.ts'

const SETTLE_MS = 2_000

/** Runs a replacement under load. @returns failed, lost and slow requests */
export const underLoad = async (name: string, stand: Stand, replace: () => Promise<void>): Promise<Finding[]> => {
  const { cluster, balancer } = stand
  const load = startTraffic(balancer.api, cluster.quickstart)
  await Bun.sleep(SETTLE_MS)
  await replace()
  await Bun.sleep(SETTLE_MS)
  const report = await load.stop()
  const losses = await findLosses(cluster, balancer.api, report)
  const safe = report.failures.filter(({ kind }) => kind !== 'plain')
  const plain = report.failures.filter(({ kind }) => kind === 'plain')
  const { requests } = report
  const safeTotal = requests.keyed + requests.register + requests.verify
  return [
    finding(`${name}: failures of ${safeTotal} retryable requests`, describeFailures(safe), 'none', safe.length === 0),
    finding(
      `${name}: failures of ${requests.plain} requests without a key`,
      describeFailures(plain),
      'none',
      plain.length === 0,
    ),
    finding(`${name}: acknowledged and lost`, losses.join('; ') || 'none', 'none', losses.length === 0),
    finding(`${name}: slowest request`, milliseconds(report.slowestMs), '', true),
  ]
}

export const restartNodes: Trial = (stand) =>
  underLoad('nodes restarted', stand, async () => {
    for (const node of stand.cluster.nodes) {
      stand.progress(`node ${node.index + 1}: SIGTERM and start`)
      await node.stop()
      await node.start()
      await untilReady([node])
    }
  })

export const reloadNodes: Trial = (stand) =>
  underLoad('processes replaced', stand, async () => {
    for (const node of stand.cluster.nodes) {
      stand.progress(`node ${node.index + 1}: SIGHUP`)
      const { process, logLine } = node.service()
      process.kill('SIGHUP')
      await logLine(({ message }) => message === 'replaced all processes')
    }
  })
