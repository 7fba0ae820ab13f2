// The API listener: routes, and the one place where what the router itself refuses becomes an answer of ours.
import { Elysia } from 'elysia'
import { ATTESTATION_PATHS } from '../attestation/paths.ts'
import { type AttestationEndpoints, attestationNativeRoutes, attestationRoutes } from '../attestation/routes.ts'
import type { CountersignError, ErrorCode } from '../domain/errors.ts'
import type { IdentityEndpoints } from '../identity/endpoints.ts'
import { IDENTITY_PATHS } from '../identity/paths.ts'
import { identityRoutes } from '../identity/routes.ts'
import type { ProviderEndpoints } from '../identity/webhooks/provider-endpoints.ts'
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from '../server/listen-address.ts'
import { createLogFileAnswer, type LogFiles } from '../server/log-files.ts'
import { type OperationsRoutesOptions, operationsRoutes } from '../server/operations.ts'
import { toProblem } from '../server/problem.ts'
import { routerPath } from '../server/public-route.ts'
import type { RefusalPacer } from '../server/refusal-pacer.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath } from '../server/request-path.ts'
import { problemResponse } from '../server/response.ts'
import { fromRouterError, MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import { createHarden, createTransportHarden } from '../server/security-headers.ts'

export interface AppOptions {
  readonly listen: ListenAddress
  /** As callers reach it. */
  readonly publicUrl: string
  /** Null: HTTP. Bun's least version is TLS 1.2. */
  readonly tls: ListenerTls | null
  /** Other processes listen there as well. */
  readonly shared: boolean
  /** Seconds that a connection may be quiet: longer than the deadline, or a slow answer would be cut off. */
  readonly idleTimeoutSeconds: number
  readonly endpoints: AttestationEndpoints
  readonly identity: IdentityEndpoints & ProviderEndpoints
  readonly operations: OperationsRoutesOptions
  /** Null where the operator does not publish the log's tree. */
  readonly logFiles: LogFiles | null
  readonly requestIds: RequestIdSource
  /** The one of this thread, whose time what no route answers shares with what the gate refuses. */
  readonly pacer: RefusalPacer
  readonly report: (error: unknown, requestId: string) => void
  /** Told of every answer given here, which no route counts. Must not throw. */
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
  '/livez': 'GET',
  '/readyz': 'GET',
  '/metrics': 'GET',
  '/openapi.json': 'GET',
  '/checkpoint': 'GET',
  ...Object.fromEntries(
    [...Object.values(ATTESTATION_PATHS), ...Object.values(IDENTITY_PATHS)].map((route) => [
      routerPath(route),
      route.method,
    ]),
  ),
}

const PATTERNS = Object.entries(METHODS).map(([path, methods]) => ({ segments: path.split('/'), methods }))

/** Undefined for a path that is not served. */
const methodsOf = (path: string): string | undefined => {
  const segments = path.split('/')
  return PATTERNS.find(
    (pattern) =>
      pattern.segments.length === segments.length &&
      pattern.segments.every((segment, index) => segment.startsWith(':') || segment === segments[index]),
  )?.methods
}

/** Why no route took a request. */
const notServed = ({ method, url }: Request, switchedOff: ReadonlySet<string>): CountersignError => {
  const path = requestPath(url)
  const allow = switchedOff.has(path) ? undefined : methodsOf(path)
  // With a method that the path does answer, the path was written another way, such as `/x/../livez`.
  return allow === undefined || allow.split(', ').includes(method)
    ? new RouteNotFoundError()
    : new MethodNotAllowedError(allow)
}

export const startApp = (options: AppOptions): App => {
  const { listen, tls, logFiles, requestIds, pacer, report, recordRefusal } = options
  const harden = createHarden(options.publicUrl)
  const { metrics, document } = options.operations
  const switchedOff = new Set([
    ...(metrics === null ? ['/metrics'] : []),
    ...(document === null ? ['/openapi.json'] : []),
    ...(logFiles === null ? ['/checkpoint'] : []),
  ])
  const refuse = (error: unknown, requestId: string): Response => {
    const { status, code } = toProblem(error)
    recordRefusal(status, code)
    return harden(problemResponse(error, requestId, { report }))
  }
  const logFile = logFiles === null ? null : createLogFileAnswer(logFiles, requestIds)
  const logFileRoute = {
    GET: (request: Request) =>
      (logFile?.(request) ?? Promise.reject(notServed(request, switchedOff)))
        .then(harden)
        .catch((error: unknown) => refuse(error, requestIds(request.headers.get('x-request-id')))),
  }
  const app = new Elysia({
    name: 'countersign',
    // One path per route: what stands before the service goes by paths too, and must not be talked around.
    strictPath: true,
    serve: {
      idleTimeout: options.idleTimeoutSeconds,
      reusePort: options.shared,
      ...serverOptions(tls),
      error: (error) => refuse(error, requestIds(null)),
      // Bun finds the routes by the path that was sent. The rest would go to Elysia, which takes the path from the URL at a
      // fixed place: with a Host of three characters or none, `/nope/livez` is `/livez` to it.
      routes: {
        ...attestationNativeRoutes(options.endpoints, createTransportHarden(options.publicUrl)),
        '/checkpoint': logFileRoute,
        // Elysia would hand a path with a wildcard to the catch-all below.
        '/tile/*': logFileRoute,
        '/*': (request) => {
          pacer.arrived()
          return pacer.refuse(() =>
            refuse(notServed(request, switchedOff), requestIds(request.headers.get('x-request-id'))),
          )
        },
      },
    },
  })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      const requestId = requestIds(request.headers.get('x-request-id'))
      return refuse(code === 'NOT_FOUND' ? notServed(request, switchedOff) : fromRouterError(code, error), requestId)
    })
    .onAfterHandle({ as: 'global' }, ({ response }) => (response instanceof Response ? harden(response) : undefined))
    .use(attestationRoutes(options.endpoints))
    .use(identityRoutes(options.identity))
    .use(operationsRoutes(options.operations))
    .listen({ hostname: listen.hostname, port: listen.port, reusePort: options.shared })

  const { server } = app
  if (server === null) throw new Error('the API listener did not start')
  return {
    url: listenUrl({ hostname: listen.hostname, port: server.port ?? listen.port }, tls !== null),
    stop: () => server.stop(),
    stopNow: () => server.stop(true),
  }
}
