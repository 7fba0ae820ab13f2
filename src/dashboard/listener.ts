// The dashboard's own listener: the admin API, the API reference, and the pages. Nothing else of the service answers here,
// so that it can be kept off the networks that the other listeners are on.
import { ADMIN_PREFIX, type AdminApi } from '../admin/admin-api.ts'
import { type ListenAddress, listenUrl } from '../http/listen-address.ts'
import type { RequestIdSource } from '../http/request-id.ts'
import { requestPath } from '../http/request-path.ts'
import { problemResponse } from '../http/response.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../http/route-errors.ts'
import type { ReferencePages } from './reference.ts'

/** Answers for the pages; null for a path that is none of theirs. */
export type DashboardPages = (request: Request, path: string) => Response | null | Promise<Response | null>

export interface DashboardListenerOptions {
  readonly listen: ListenAddress
  readonly api: AdminApi
  readonly reference: ReferencePages
  readonly pages?: DashboardPages
  readonly requestIds: RequestIdSource
  readonly report: (error: unknown, requestId: string) => void
}

export interface DashboardListener {
  readonly url: string
  /** Stops accepting, and resolves once the requests under way are answered. Streams have to be ended first. */
  stop(): Promise<void>
}

/** Seconds that a connection may be quiet: longer than a request's deadline. */
const IDLE_SECONDS = 150
/** The largest list file; what is smaller by nature is refused sooner. */
const BODY_MAX_BYTES = 314_572_800

export const startDashboardListener = (options: DashboardListenerOptions): DashboardListener => {
  const { listen, api, reference, pages, requestIds, report } = options

  const answerPage = async (request: Request, path: string): Promise<Response> => {
    const found = (await reference.find(path, request.headers)) ?? (await pages?.(request, path)) ?? null
    if (found === null) throw new RouteNotFoundError()
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new MethodNotAllowedError('GET')
    return found
  }

  const server = Bun.serve({
    ...{ hostname: listen.hostname, port: listen.port, reusePort: false },
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: BODY_MAX_BYTES,
    development: false,
    fetch: async (request, self) => {
      try {
        const path = requestPath(request.url)
        if (path === ADMIN_PREFIX || path.startsWith(`${ADMIN_PREFIX}/`)) {
          return await api(request, {
            address: self.requestIP(request)?.address ?? '',
            keepOpen: () => self.timeout(request, 0),
          })
        }
        return await answerPage(request, path)
      } catch (error) {
        return problemResponse(error, requestIds(request.headers.get('x-request-id')), { report })
      }
    },
  })
  return { url: listenUrl({ hostname: listen.hostname, port: server.port ?? listen.port }), stop: () => server.stop() }
}
