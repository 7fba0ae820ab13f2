// Starts a separate service for a part of the benchmark, as a user would, and fills it through its store.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { treeResidentMegabytes } from '../process-memory.ts'
import { freePort, type ManagedProcess, type Processes, waitUntilReady } from '../processes.ts'
import { parseEnvironmentFile, type Quickstart, requiredValue } from '../quickstart.ts'

const ROOT = join(import.meta.dir, '..', '..')
const LIVE_WITHIN_MS = 30_000
const LAUNCH_TRIES = 5

export interface RunningService {
  readonly dataDirectory: string
  readonly url: string
  readonly key: string
  readonly contract: string
  readonly attester: string
  /** secp256k1 backend of the service, from /readyz. */
  readonly signer: string
  readonly quickstart: Quickstart
  readonly managed: ManagedProcess
}

const launch = async (
  processes: Processes,
  settings: Readonly<Record<string, string>>,
): Promise<Pick<RunningService, 'dataDirectory' | 'managed' | 'signer'>> => {
  const dataDirectory = join(processes.temporaryFolder(), 'data')
  const listen = `127.0.0.1:${freePort()}`
  const managed = processes.start({
    name: 'countersign service',
    command: [process.execPath, join(ROOT, 'src/main.ts')],
    environment: {
      COUNTERSIGN_DATA_DIR: dataDirectory,
      COUNTERSIGN_API_LISTEN: listen,
      COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${freePort()}`,
      COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${freePort()}`,
      ...settings,
    },
  })
  const readiness = await waitUntilReady(`http://${listen}/readyz`, managed)
  const { signer = 'unknown' } = (await readiness.json()) as { readonly signer?: string }
  return { dataDirectory, managed, signer }
}

/** Tries again if another program takes a port before the service listens on it. */
const launchOnFreePorts = async (
  ...launchArguments: Parameters<typeof launch>
): Promise<Awaited<ReturnType<typeof launch>>> => {
  for (let tries = 1; ; tries++) {
    try {
      return await launch(...launchArguments)
    } catch (cause) {
      const isTaken = cause instanceof Error && cause.message.includes('the address is in use')
      if (!isTaken || tries === LAUNCH_TRIES) throw cause
    }
  }
}

/** @param settings additional COUNTERSIGN_* variables @throws Error with the end of its output if it does not start */
export const startService = async (
  processes: Processes,
  workers: number | 'auto',
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningService> => {
  const launched = await launchOnFreePorts(processes, { COUNTERSIGN_WORKERS: String(workers), ...settings })
  const quickstart = parseEnvironmentFile(readFileSync(join(launched.dataDirectory, 'quickstart.env'), 'utf8'))
  return {
    ...launched,
    quickstart,
    url: requiredValue(quickstart, 'ATTESTATION_URL'),
    key: requiredValue(quickstart, 'ATTESTATION_API_KEY'),
    contract: requiredValue(quickstart, 'DEMO_CONTRACT'),
    attester: requiredValue(quickstart, 'EVM_ATTESTER'),
  }
}

/** Opens the store of a running service, which uses changes within a second. */
export const withStore = async <Result>(
  { dataDirectory }: Pick<RunningService, 'dataDirectory'>,
  use: (store: Store, organizationId: string) => Promise<Result>,
): Promise<Result> => {
  const store = await openStore({ path: join(dataDirectory, 'countersign.db'), clock: systemClock })
  try {
    const organization = await store.organizations.find('demo')
    if (organization === null) throw new Error('there is no organization demo')
    return await use(store, organization.id)
  } finally {
    await store.close()
  }
}

const metric = async ({ url }: RunningService, line: RegExp): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(line.exec(text)?.[1] ?? Number.NaN)
}

/** Waits until the lists of the service's organizations have this many entries. */
export const waitForList = async (service: RunningService, entries: number): Promise<void> => {
  const giveUpMs = performance.now() + LIVE_WITHIN_MS
  while ((await metric(service, /^countersign_list_entries\{list="organizations"\} (\d+)/m)) !== entries) {
    if (performance.now() > giveUpMs) throw new Error('the service does not have the list')
    await Bun.sleep(50)
  }
}

export const residentMegabytes = ({ managed }: RunningService): number =>
  treeResidentMegabytes(managed.pid) ?? Number.NaN
