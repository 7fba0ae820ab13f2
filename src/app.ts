// The API listener: routes, and the one place where what the router itself refuses becomes an answer of ours.
import { Elysia } from 'elysia'
import { type AttestationEndpoints, attestationRoutes } from './attestation/routes.ts'
import type { ErrorCode } from './domain/errors.ts'
import { type OperationsRoutesOptions, operationsRoutes } from './http/operations.ts'
import { toProblem } from './http/problem.ts'
import type { RequestIdSource } from './http/request-id.ts'
import { requestPath } from './http/request-path.ts'
import { problemResponse } from './http/response.ts'
import { fromRouterError, MethodNotAllowedError } from './http/route-errors.ts'
import type { IdentityEndpoints } from './identity/endpoints.ts'
import { IDENTITY_METHODS, identityRoutes } from './identity/routes.ts'
import type { ProviderEndpoints } from './identity/webhooks/provider-endpoints.ts'
import type { ListenAddress } from './settings.ts'

export interface AppOptions {
  readonly listen: ListenAddress
  /** Seconds that a connection may be quiet: longer than the deadline, or a slow answer would be cut off. */
  readonly idleTimeoutSeconds: number
  readonly endpoints: AttestationEndpoints
  readonly identity: IdentityEndpoints & ProviderEndpoints
  readonly operations: OperationsRoutesOptions
  readonly requestIds: RequestIdSource
  readonly report: (error: unknown, requestId: string) => void
  /** Told of what the router itself refuses, for metrics. */
  readonly recordRefusal: (status: number, code: ErrorCode) => void
}

export interface App {
  readonly url: string
  /** Stops accepting, and resolves once the requests under way are answered. */
  stop(): Promise<void>
  /** Cuts what is left. */
  stopNow(): Promise<void>
}

/** Path → the methods it answers; a segment `:name` stands for any. A path that is not here is 404. */
const METHODS: Readonly<Record<string, string>> = {
  '/v2/attestation': 'POST',
  '/v1/task': 'POST',
  '/livez': 'GET',
  '/readyz': 'GET',
  '/metrics': 'GET',
  ...IDENTITY_METHODS,
}

const PATTERNS = Object.entries(METHODS).map(([path, methods]) => ({ segments: path.split('/'), methods }))

const methodsOf = (path: string): string | undefined => {
  const segments = path.split('/')
  return PATTERNS.find(
    (pattern) =>
      pattern.segments.length === segments.length &&
      pattern.segments.every((segment, index) => segment.startsWith(':') || segment === segments[index]),
  )?.methods
}

export const startApp = (options: AppOptions): App => {
  const { listen, requestIds, report, recordRefusal } = options
  const app = new Elysia({
    name: 'countersign',
    serve: { idleTimeout: options.idleTimeoutSeconds, reusePort: false },
  })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      const requestId = requestIds(request.headers.get('x-request-id'))
      const allow = code === 'NOT_FOUND' ? methodsOf(requestPath(request.url)) : undefined
      const refused = allow === undefined ? fromRouterError(code, error) : new MethodNotAllowedError(allow)
      const { status, code: refusedCode } = toProblem(refused)
      recordRefusal(status, refusedCode)
      return problemResponse(refused, requestId, { report })
    })
    .use(attestationRoutes(options.endpoints))
    .use(identityRoutes(options.identity))
    .use(operationsRoutes(options.operations))
    .listen({ hostname: listen.hostname, port: listen.port, reusePort: false })

  const { server } = app
  if (server === null) throw new Error('the API listener did not start')
  const host = listen.hostname.includes(':') ? `[${listen.hostname}]` : listen.hostname
  return {
    url: `http://${host}:${server.port}`,
    stop: () => server.stop(),
    stopNow: () => server.stop(true),
  }
}
