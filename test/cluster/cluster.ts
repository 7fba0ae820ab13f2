// Several nodes with one PostgreSQL on loopback. Each node has its own data folder with links to the shared keystores,
// secrets and evidence.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, runCountersign } from '../service/run-to-end.ts'
import { freePort, type RunningService, startAlone } from '../service/start-service.ts'
import type { NodeAddresses } from './balancer.ts'

/** Folders that all nodes share. */
const SHARED_FOLDERS = ['keystores', 'secrets', 'evidence']

export interface Node {
  readonly index: number
  readonly dataDirectory: string
  readonly addresses: NodeAddresses
  /** Base URL of its own listener. */
  readonly api: string
  readonly dashboard: string
  /** The running service. */
  service(): RunningService
  /** Starts the node, optionally from another checkout of the program. */
  start(root?: string): Promise<void>
  /** Sends SIGTERM to its supervisor. @returns the exit code */
  stop(): Promise<number>
  /** Sends SIGKILL to all its processes, which simulates the loss of the machine. */
  kill(): Promise<void>
  /** Process ids, the supervisor's first. */
  pids(): readonly number[]
  /** Runs a `countersign` command on the node. */
  run(...commandArguments: readonly string[]): Promise<CommandResult>
}

export interface Cluster {
  readonly nodes: readonly Node[]
  /** Values of the quickstart file of the first start. */
  readonly quickstart: Readonly<Record<string, string>>
  /** Stops all running nodes and removes their folders. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  /** `postgres://…`; null if each node has its own SQLite file. */
  readonly store: string | null
  readonly nodes: number
  readonly processes: number
  /** Signing workers of each process. */
  readonly workers: number
  /** Settings of every node. */
  readonly environment?: Readonly<Record<string, string>>
  readonly arguments?: readonly string[]
}

interface NodeOptions extends Omit<ClusterOptions, 'nodes'> {
  readonly index: number
  readonly folder: string
}

const createNode = ({ index, folder, ...options }: NodeOptions): Node => {
  const dataDirectory = join(folder, `node${index + 1}`)
  mkdirSync(dataDirectory)
  for (const name of SHARED_FOLDERS) symlinkSync(join(folder, 'shared', name), join(dataDirectory, name))
  const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
  const addresses: NodeAddresses = {
    api: `127.0.0.1:${ports.api}`,
    portal: `127.0.0.1:${ports.portal}`,
    dashboard: `127.0.0.1:${ports.dashboard}`,
  }
  const environment = {
    ...(options.store === null ? {} : { COUNTERSIGN_STORE: options.store }),
    ...options.environment,
  }
  let running: RunningService | null = null
  const service = (): RunningService => {
    if (running === null) throw new Error(`node ${index + 1} does not run`)
    return running
  }
  const pids = (): number[] => {
    const { process, output } = service()
    const children = new Map<number, number>()
    for (const [, child, pid] of output().stderr.matchAll(/"starting a process","process":(\d+),"pid":(\d+)/g)) {
      children.set(Number(child), Number(pid))
    }
    return [process.pid, ...children.values()]
  }
  const stop = async (): Promise<number> => {
    const code = (await running?.stop()) ?? 0
    running = null
    return code
  }
  return {
    index,
    dataDirectory,
    addresses,
    service,
    pids,
    stop,
    api: `http://${addresses.api}`,
    dashboard: `http://${addresses.dashboard}`,
    start: async (root) => {
      const counts = ['--processes', String(options.processes), '--workers', String(options.workers)]
      running = await startAlone({
        arguments: [...counts, ...(options.arguments ?? [])],
        dataDirectory,
        ...(root === undefined ? {} : { root }),
        environment: {
          ...environment,
          COUNTERSIGN_API_LISTEN: addresses.api,
          COUNTERSIGN_PORTAL_LISTEN: addresses.portal,
          COUNTERSIGN_DASHBOARD_LISTEN: addresses.dashboard,
        },
      })
      if (options.processes > 1) await running.logLine(({ message }) => message === 'all processes are ready')
    },
    kill: async () => {
      for (const pid of pids()) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch (error) {
          // The process was replaced.
          if ((error as { code?: unknown }).code !== 'ESRCH') throw error
        }
      }
      await stop()
    },
    run: (...commandArguments) =>
      runCountersign({ ...environment, COUNTERSIGN_DATA_DIR: dataDirectory }, ...commandArguments),
  }
}

/** Removes the folder after the test run, even if it crashes. The nodes end by their own watchdogs. */
const startSweeper = (folder: string): { dismiss(): Promise<void> } => {
  const sweeper = Bun.spawn(['sh', '-c', 'read -r _; sleep 5; rm -rf "$0"', folder], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return {
    dismiss: async () => {
      sweeper.kill('SIGKILL')
      await sweeper.exited
    },
  }
}

/** Starts the first node, which creates the deployment, and then the others at once. */
export const startCluster = async (options: ClusterOptions): Promise<Cluster> => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cluster-'))
  for (const name of SHARED_FOLDERS) mkdirSync(join(folder, 'shared', name), { recursive: true, mode: 0o700 })
  const nodes = Array.from({ length: options.nodes }, (_, index) => createNode({ ...options, index, folder }))
  const sweeper = startSweeper(folder)
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()))
    await sweeper.dismiss()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const [first, ...others] = nodes
    if (first === undefined) throw new Error('a cluster needs a node')
    await first.start()
    const quickstart = readFileSync(join(first.dataDirectory, 'quickstart.env'), 'utf8')
    // Only the first node creates `quickstart.env`, but `startAlone` reads it on every node.
    for (const { dataDirectory } of others) writeFileSync(join(dataDirectory, 'quickstart.env'), quickstart)
    await Promise.all(others.map((node) => node.start()))
    return { nodes, quickstart: first.service().quickstart, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
