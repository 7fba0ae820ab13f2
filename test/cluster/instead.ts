// `bun test --preload ./test/cluster/instead.ts test/conformance` runs the tests with three nodes of two processes each, on
// PostgreSQL behind nginx. Commands run on the first node.
import type { CommandResult } from '../service/run-to-end.ts'
import { instead, type RunningService, type ServiceOptions } from '../service/start-service.ts'
import { createTemporaryDatabase } from '../support/postgres.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { JSON_TYPE } from './caller.ts'
import { type Cluster, startCluster } from './cluster.ts'

const alone = { ...instead }
/** Clusters by the data folder of their first node. */
const clusters = new Map<string, Cluster>()

/** Sums each sample over all processes and nodes. */
const addUp = (texts: readonly string[]): string => {
  const sums = new Map<string, number>()
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const [, name = '', value] = /^([^#].*) (\S+)$/.exec(line) ?? []
    if (value === undefined) continue
    const sample = name.replace(/process="\d+",?/, '').replace('{}', '')
    sums.set(sample, (sums.get(sample) ?? 0) + Number(value))
  }
  return [...sums].map(([sample, value]) => `${sample} ${value}\n`).join('')
}

const startMetrics = ({ nodes }: Cluster) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async () =>
      new Response(addUp(await Promise.all(nodes.map(async ({ api }) => (await fetch(`${api}/metrics`)).text())))),
  })

const asService = (cluster: Cluster, balancer: Balancer, stop: () => Promise<number>): RunningService => {
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('there is no node')
  const service = first.service()
  const quickstart: Readonly<Record<string, string>> = {
    ...service.quickstart,
    ATTESTATION_URL: balancer.api,
    IDENTITY_URL: balancer.api,
  }
  return {
    url: balancer.api,
    dataDirectory: first.dataDirectory,
    quickstart,
    stop,
    process: service.process,
    logLine: service.logLine,
    output: () => {
      const outputs = cluster.nodes.map((node) => node.service().output())
      const all = (kind: 'stdout' | 'stderr'): string => outputs.map((output) => output[kind]).join('')
      return { stdout: all('stdout'), stderr: all('stderr') }
    },
    attest: (body, headers = {}) =>
      fetch(`${balancer.api}/v2/attestation`, {
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

instead.startService = async (options: ServiceOptions = {}) => {
  if (options.dataDirectory !== undefined) return alone.startService(options)
  const database = await createTemporaryDatabase('nothing')
  const cluster = await startCluster({
    store: database.address,
    nodes: 3,
    processes: 2,
    workers: 1,
    environment: options.environment ?? {},
    arguments: options.arguments ?? [],
  })
  const metrics = startMetrics(cluster)
  const addresses = cluster.nodes.map((node) => node.addresses)
  const balancer = await startBalancer(addresses, `http://127.0.0.1:${metrics.port}`)
  const directory = cluster.nodes[0]?.dataDirectory ?? ''
  clusters.set(directory, cluster)
  return asService(cluster, balancer, async () => {
    clusters.delete(directory)
    await balancer.stop()
    await metrics.stop(true)
    await cluster.stop()
    await database.remove()
    return 0
  })
}
/** Commands about decisions run on every node, because each node has its own decision log. */
const runEverywhere = async (cluster: Cluster, commandArguments: readonly string[]): Promise<CommandResult> => {
  const results = await Promise.all(cluster.nodes.map((node) => node.run(...commandArguments)))
  const all = (kind: 'stdout' | 'stderr'): string => results.map((result) => result[kind]).join('')
  return { code: Math.max(...results.map(({ code }) => code)), stdout: all('stdout'), stderr: all('stderr') }
}

instead.runCommand = (dataDirectory, ...commandArguments) => {
  const cluster = clusters.get(dataDirectory)
  const [first] = cluster?.nodes ?? []
  if (cluster === undefined || first === undefined) return alone.runCommand(dataDirectory, ...commandArguments)
  return commandArguments[0] === 'decisions' ? runEverywhere(cluster, commandArguments) : first.run(...commandArguments)
}
