// Several processes of a service: requests to any of them, their pool, their metrics and their process ids.
import { expect } from 'bun:test'
import { projectRequest } from '../../service/calls.ts'
import { type RunningService, startService } from '../../service/start-service.ts'

export const isLinux = process.platform === 'linux'

/** Starts a service, and waits until all its processes are ready. */
export const startProcesses = async (processes: number, workers: number): Promise<RunningService> => {
  const service = await startService({ arguments: ['--processes', `${processes}`, '--workers', `${workers}`] })
  await service.logLine(({ message }) => message === 'all processes are ready')
  return service
}

/** Sends a request on a new connection, so that any process can receive it. */
export const attestAnywhere = (
  service: RunningService,
  headers: Readonly<Record<string, string>> = {},
  fields: object = {},
): Promise<Response> => service.attest({ ...projectRequest(service), ...fields }, { connection: 'close', ...headers })

/** The pool in the admin API. */
interface Pool {
  readonly processes: {
    readonly ready: number
    readonly wanted: number
    readonly each: readonly { readonly process: number; readonly state: string; readonly pid: number }[]
  }
  readonly workers: { readonly live: number; readonly wanted: number; readonly each: number }
}

/** Reads the pool, or changes it. */
export const requestPool = ({ quickstart }: RunningService, change?: object): Promise<Response> =>
  fetch(`${quickstart['DASHBOARD_URL']}/admin/v1/pool`, {
    method: change === undefined ? 'GET' : 'PATCH',
    headers: { authorization: `Bearer ${quickstart['ADMIN_API_KEY']}`, 'content-type': 'application/json' },
    body: change === undefined ? null : JSON.stringify(change),
  })

export const loadPool = async (service: RunningService, change?: object): Promise<Pool> => {
  const response = await requestPool(service, change)
  expect(response.status).toBe(200)
  return (await response.json()) as Pool
}

/** Returns a metric per process. @param label of the samples */
export const metricByProcess = async (
  { url }: RunningService,
  name: string,
  label = '',
): Promise<Record<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = [...text.matchAll(new RegExp(`^${name}\\{process="(\\d+)"[^}]*${label}[^}]*\\} (\\S+)$`, 'gm'))]
  return Object.fromEntries(samples.map(([, index = '', sample]) => [index, Number(sample)]))
}

/** Returns the process ids of all children, oldest first. @param index of a process; by default, of all */
export const startedBy = (service: RunningService, index = '\\d'): number[] =>
  [...service.output().stderr.matchAll(new RegExp(`"starting a process","process":${index},"pid":(\\d+)`, 'g'))].map(
    ([, pid]) => Number(pid),
  )
