// API listener: attestation API, identity API and operator endpoints. A separate metrics listener lets monitoring reach
// only metrics.
import { Elysia } from 'elysia'
import { type AttestationEndpoints, attestationRoutes } from '../attestation/endpoint.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { IdentityEndpoints } from '../identity/endpoints.ts'
import { identityRoutes } from '../identity/routes.ts'
import type { ProviderEndpoints } from '../identity/webhooks/provider-endpoints.ts'
import { listenUrl } from '../server/listen-address.ts'
import { type Listener, type ListenerOptions, startListener } from '../server/listener.ts'
import { createLogFilePages, type LogFiles } from '../server/log-files.ts'
import { type OperationsRoutesOptions, operationsRoutes } from '../server/operations.ts'
import { toProblem } from '../server/problem.ts'
import { problemResponse } from '../server/response.ts'

export interface AppOptions
  extends Pick<
    ListenerOptions,
    'listen' | 'publicUrl' | 'tls' | 'shared' | 'idleTimeoutSeconds' | 'requestIds' | 'pacer'
  > {
  readonly endpoints: AttestationEndpoints | null
  readonly identity: (IdentityEndpoints & ProviderEndpoints) | null
  readonly operations: OperationsRoutesOptions
  readonly logFiles: LogFiles | null
  readonly report: (error: unknown, requestId: string) => void
  /** Called for error responses that no endpoint counts. Must not throw. */
  readonly recordRefusal: (status: number, code: ErrorCode) => void
}

export const startApp = (options: AppOptions): Listener => {
  const { endpoints, identity, operations, logFiles, requestIds, report, recordRefusal } = options
  const app = new Elysia({ name: 'api' })
  if (endpoints !== null) app.use(attestationRoutes(endpoints))
  if (identity !== null) app.use(identityRoutes(identity))
  return startListener({
    ...options,
    app: app.use(operationsRoutes(operations)),
    answersHead: true,
    ...(logFiles === null ? {} : { pages: createLogFilePages(logFiles, requestIds) }),
    toResponse: (error, requestId) => {
      const { status, code } = toProblem(error)
      recordRefusal(status, code)
      return problemResponse(error, requestId, { report })
    },
  })
}

export const startMetricsListener = (
  answer: (request: Request) => Promise<Response>,
  options: Pick<ListenerOptions, 'listen' | 'tls' | 'idleTimeoutSeconds' | 'requestIds'> & Pick<AppOptions, 'report'>,
): Listener =>
  startListener({
    ...options,
    app: new Elysia({ name: 'metrics' }).get('/metrics', ({ request }) => answer(request)),
    publicUrl: listenUrl(options.listen, options.tls !== null),
    answersHead: false,
    toResponse: (error, requestId) => problemResponse(error, requestId, { report: options.report }),
  })
