// Every request to an endpoint of the verification page goes through this function: request id, origin, deadline, then
// the endpoint's own work. Errors are mapped and counted, and get a `reason`, by which the page chooses its words.
import { CountersignError } from '../domain/errors.ts'
import type { ClientAddress } from '../server/client-address.ts'
import type { Deadline, Deadlines } from '../server/deadline.ts'
import { problemBody, toProblem } from '../server/problem.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath } from '../server/request-path.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { checkSameOrigin } from './same-origin.ts'

export interface PortalGateDependencies {
  readonly deadlines: Deadlines
  /** Longer deadlines for uploads over slow lines. */
  readonly uploadDeadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly report: (error: unknown, requestId: string) => void
  readonly clientAddress: ClientAddress
  /** Scheme, host and port of the page, as browsers write it. */
  readonly origin: string
}

export interface PortalCall {
  readonly request: Request
  readonly requestId: string
  readonly deadline: Deadline
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The client's address in canonical form; empty when it is not known. */
  readonly address: string
  /** Lifts the listener's idle timeout for this connection. */
  keepOpen(): void
}

/** A request as Elysia passes it to a handler. */
interface RoutedRequest extends Pick<PortalCall, 'request' | 'params'> {
  /** The path as declared. */
  readonly route: string
  readonly server: Pick<Bun.Server<unknown>, 'requestIP' | 'timeout'> | null
}

export type PortalGate = (
  perform: (call: PortalCall) => Promise<Response>,
  settings?: { readonly slow: boolean },
) => (routed: RoutedRequest) => Promise<Response>

/** `WalletLockedError` → `wallet-locked`. */
const reasonOf = (error: unknown): string =>
  error instanceof CountersignError
    ? error.name
        .replace(/Error$/, '')
        .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`)
        .toLowerCase()
    : 'internal'

/** The answer to any thrown value: an RFC 9457 problem, with its `reason`. */
export const portalProblem = (error: unknown, requestId: string): Response => {
  const problem = toProblem(error)
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    'cache-control': 'no-store',
  }
  if (problem.retryAfterSeconds !== null) headers['retry-after'] = String(Math.ceil(problem.retryAfterSeconds))
  if (error instanceof MethodNotAllowedError) headers['allow'] = error.allow
  return new Response(JSON.stringify({ ...problemBody(problem, requestId), reason: reasonOf(error) }), {
    status: problem.status,
    headers,
  })
}

/** Without the path of a larger site that the page is part of. */
const metricName = (route: string): string => `portal ${route.slice(route.indexOf('/api/')).replaceAll(/:[^/]+/g, '*')}`

export const createPortalGate =
  (dependencies: PortalGateDependencies): PortalGate =>
  (perform, { slow } = { slow: false }) => {
    const { deadlines, uploadDeadlines, requestIds, monotonicMs, metrics, clientAddress, report, origin } = dependencies
    return async ({ request, params, route, server }) => {
      const startedMs = monotonicMs()
      const { method, headers } = request
      const record = metrics.route(method, metricName(route))
      const requestId = requestIds(headers.get('x-request-id'))
      const address = clientAddress(server?.requestIP(request)?.address ?? '', headers)
      const keepOpen = () => server?.timeout(request, 0)
      try {
        // Ids need no percent-encoding, so each path has one spelling.
        const path = requestPath(request.url)
        if (path.includes('%', path.lastIndexOf('/api/'))) throw new RouteNotFoundError()
        if (method !== 'GET') checkSameOrigin(headers, origin)
        const response = await (slow ? uploadDeadlines : deadlines).watch((deadline) =>
          perform({ request, requestId, deadline, params, address, keepOpen }),
        )
        record(response.status, monotonicMs() - startedMs)
        return response
      } catch (error) {
        const { status, code } = toProblem(error)
        record(status, monotonicMs() - startedMs)
        metrics.recordError(code)
        if (code === 'INTERNAL') report(error, requestId)
        return portalProblem(error, requestId)
      }
    }
  }
