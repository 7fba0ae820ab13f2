// A listener for `/metrics` alone, so that monitoring reaches only the metrics, and callers of the API do not reach
// them.
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from './listen-address.ts'
import type { RequestIdSource } from './request-id.ts'
import { requestPath } from './request-path.ts'
import { problemResponse } from './response.ts'
import { MethodNotAllowedError, RouteNotFoundError } from './route-errors.ts'
import { createHarden } from './security-headers.ts'

export interface MetricsListenerOptions {
  readonly listen: ListenAddress
  /** Null: HTTP. */
  readonly tls: ListenerTls | null
  readonly answer: (request: Request) => Promise<Response>
  readonly requestIds: RequestIdSource
  readonly report: (error: unknown, requestId: string) => void
}

export interface MetricsListener {
  readonly url: string
  /** Stops accepting, and resolves once the requests under way are answered. */
  stop(): Promise<void>
}

/** @throws what Bun throws when the address is taken */
export const startMetricsListener = ({
  listen,
  tls,
  answer,
  requestIds,
  report,
}: MetricsListenerOptions): MetricsListener => {
  const url = (port: number): string => listenUrl({ hostname: listen.hostname, port }, tls !== null)
  const harden = createHarden(url(listen.port))
  const server = Bun.serve({
    hostname: listen.hostname,
    port: listen.port,
    reusePort: false,
    ...serverOptions(tls),
    fetch: async (request) => {
      try {
        if (requestPath(request.url) !== '/metrics') throw new RouteNotFoundError()
        if (request.method !== 'GET') throw new MethodNotAllowedError('GET')
        return harden(await answer(request))
      } catch (error) {
        return harden(problemResponse(error, requestIds(request.headers.get('x-request-id')), { report }))
      }
    },
  })
  return { url: url(server.port ?? listen.port), stop: () => server.stop() }
}
