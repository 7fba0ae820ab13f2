// The real service in a separate process, and its dashboard.
import { type RunningService, type ServiceOptions, startService } from '../../service/start-service.ts'

export interface DashboardHost {
  readonly service: RunningService
  /** URL of the dashboard without a trailing slash. */
  readonly url: string
  /** First-admin link from the output of the start. */
  readonly welcome: string
  /** Calls the admin API with the admin key of the quick start, which has the scope `deployment`. */
  admin(method: string, path: string, body?: unknown): Promise<unknown>
  stop(): Promise<void>
}

/** Calls the admin API. @throws Error if it refuses the request */
export const callAdmin = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> => {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

export const startDashboardHost = async (options: ServiceOptions = {}): Promise<DashboardHost> => {
  const service = await startService(options)
  const url = service.quickstart['DASHBOARD_URL'] ?? ''
  const welcome = /^\s*(http\S+\/welcome#\S+)$/m.exec(service.output().stdout)?.[1]
  if (welcome === undefined) throw new Error(`no link was printed:\n${service.output().stdout}`)
  const headers = { authorization: `Bearer ${service.quickstart['ADMIN_API_KEY']}` }
  return {
    service,
    url,
    welcome,
    admin: (...request) => callAdmin(url, headers, ...request),
    stop: async () => void (await service.stop()),
  }
}
