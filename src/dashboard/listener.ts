// The dashboard's own listener: the admin API, the API reference, and the pages. Nothing else of the service answers here,
// so that it can be kept off the networks that the other listeners are on.
import { ADMIN_PREFIX, type AdminApi } from '../admin/admin-api.ts'
import type { ClientAddress } from '../server/client-address.ts'
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from '../server/listen-address.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath } from '../server/request-path.ts'
import { problemResponse } from '../server/response.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import { createHarden } from '../server/security-headers.ts'
import type { ReferencePages } from './reference.ts'

/** Answers for the pages; null for a path that is none of theirs. */
export type DashboardPages = (request: Request, path: string) => Response | null | Promise<Response | null>

export interface DashboardListenerOptions {
  readonly listen: ListenAddress
  /** As people open it. */
  readonly publicUrl: string
  /** Null: HTTP. */
  readonly tls: ListenerTls | null
  readonly api: AdminApi
  readonly reference: ReferencePages
  readonly pages?: DashboardPages
  readonly requestIds: RequestIdSource
  readonly clientAddress: ClientAddress
  readonly report: (error: unknown, requestId: string) => void
}

export interface DashboardListener {
  readonly url: string
  /** Stops accepting, and resolves once the requests under way are answered. Streams have to be ended first. */
  stop(): Promise<void>
}

/** Seconds that a connection may be quiet: longer than a request's deadline. */
const IDLE_SECONDS = 150

export const startDashboardListener = (options: DashboardListenerOptions): DashboardListener => {
  const { listen, tls, publicUrl, api, reference, pages, requestIds, clientAddress, report } = options
  const harden = createHarden(publicUrl)

  const answerPage = async (request: Request, path: string): Promise<Response> => {
    const found = (await reference.find(path, request.headers)) ?? (await pages?.(request, path)) ?? null
    if (found === null) throw new RouteNotFoundError()
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new MethodNotAllowedError('GET')
    return found
  }

  const server = Bun.serve({
    hostname: listen.hostname,
    port: listen.port,
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    ...serverOptions(tls),
    fetch: async (request, self) => {
      try {
        const path = requestPath(request.url)
        if (path === ADMIN_PREFIX || path.startsWith(`${ADMIN_PREFIX}/`)) {
          const caller = {
            address: clientAddress(self.requestIP(request)?.address ?? '', request.headers),
            keepOpen: () => self.timeout(request, 0),
          }
          return harden(await api(request, caller))
        }
        return harden(await answerPage(request, path))
      } catch (error) {
        return harden(problemResponse(error, requestIds(request.headers.get('x-request-id')), { report }))
      }
    },
  })
  return {
    url: listenUrl({ hostname: listen.hostname, port: server.port ?? listen.port }, tls !== null),
    stop: () => server.stop(),
  }
}
