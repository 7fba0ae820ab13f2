// A service of the scale benchmark: started like a user's, filled through its store, watched from outside.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/domain/time.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { parseEnvironmentFile } from '../parts/service.ts'
import { freePort, type ManagedProcess, type Processes, waitUntilReady } from '../processes.ts'

const ROOT = join(import.meta.dir, '..', '..')
const LIVE_WITHIN_MS = 30_000

export interface RunningService {
  readonly dataDirectory: string
  readonly url: string
  readonly key: string
  readonly contract: string
  readonly attester: string
  readonly managed: ManagedProcess
}

export const startService = async (processes: Processes, workers: number | 'auto'): Promise<RunningService> => {
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
      COUNTERSIGN_WORKERS: String(workers),
    },
  })
  await waitUntilReady(`http://${listen}/readyz`, managed)
  const quickstart = parseEnvironmentFile(readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8'))
  const required = (name: string): string => {
    const value = quickstart[name]
    if (value === undefined) throw new Error(`quickstart.env has no ${name}`)
    return value
  }
  return {
    dataDirectory,
    url: required('ATTESTATION_URL'),
    key: required('ATTESTATION_API_KEY'),
    contract: required('DEMO_CONTRACT'),
    attester: required('EVM_ATTESTER'),
    managed,
  }
}

/** Uses the store of a service that runs: what is written is live in it within a second. */
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

/** Until the service has this many entries in its organizations' lists. */
export const waitForList = async (service: RunningService, entries: number): Promise<void> => {
  const giveUpMs = performance.now() + LIVE_WITHIN_MS
  while ((await metric(service, /^countersign_list_entries\{list="organizations"\} (\d+)/m)) !== entries) {
    if (performance.now() > giveUpMs) throw new Error('the service does not have the list')
    await Bun.sleep(50)
  }
}

export const residentMegabytes = ({ managed }: RunningService): number => {
  const status = readFileSync(`/proc/${managed.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1000
}
