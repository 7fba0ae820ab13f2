// Handles every request of the page: request id, origin, deadline, endpoint, and errors with a `reason`, which
// determines the text on the page.
import { CountersignError } from '../domain/errors.ts'
import { runFor } from '../lib/caller.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { ClientAddress } from '../server/client-address.ts'
import type { Deadline, Deadlines } from '../server/deadline.ts'
import type { RefusalPacer } from '../server/event-loop-turns.ts'
import { problemBody, toProblem } from '../server/problem.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath } from '../server/request-path.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface PortalGateDependencies {
  readonly deadlines: Deadlines
  /** Deadlines for uploads over slow connections. */
  readonly uploadDeadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly monotonicMs: () => number
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly report: (error: unknown, requestId: string) => void
  readonly clientAddress: ClientAddress
  readonly pacer: RefusalPacer
  /** Origin of the page, as in the Origin header. */
  readonly origin: string
}

export interface PortalCall {
  readonly request: Request
  readonly requestId: string
  readonly deadline: Deadline
  readonly params: Readonly<Record<string, string>>
  /** Client's canonical IP address; empty if unknown. */
  readonly address: string
  keepOpen(): void
}

interface RoutedRequest extends Pick<PortalCall, 'request' | 'params'> {
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

/** Maps any thrown value to an RFC 9457 problem with a `reason`. */
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

/** Omits the path prefix of a site that contains the page. */
const metricName = (route: string): string => `portal ${route.slice(route.indexOf('/api/')).replaceAll(/:[^/]+/g, '*')}`

/** The request came from another site, or from this page under another URL. */
class OriginForeignError extends CountersignError {
  constructor(origin: string) {
    super('FORBIDDEN_ORIGIN', `this request is accepted only from the verification page at ${origin}`)
  }
}

/**
 * Prevents cross-site requests (threats row 23). Browsers send Origin with every POST, PUT and DELETE; without it,
 * Sec-Fetch-Site decides. @throws OriginForeignError
 */
const checkSameOrigin = (headers: Headers, origin: string): void => {
  const site = headers.get('sec-fetch-site')
  const sent = headers.get('origin')
  const same = sent === null ? site === 'same-origin' : sent === origin && (site === null || site === 'same-origin')
  if (!same) throw new OriginForeignError(origin)
}

export const createPortalGate =
  (dependencies: PortalGateDependencies): PortalGate =>
  (perform, { slow } = { slow: false }) => {
    const { deadlines, uploadDeadlines, requestIds, monotonicMs, metrics, clientAddress, pacer, report, origin } =
      dependencies
    return async ({ request, params, route, server }) => {
      const startedMs = monotonicMs()
      pacer.arrived()
      const { method, headers } = request
      const record = metrics.route(method, metricName(route))
      const requestId = requestIds(headers.get('x-request-id'))
      const address = clientAddress(server?.requestIP(request)?.address ?? '', headers)
      const network = networkOf(address)
      const keepOpen = () => server?.timeout(request, 0)
      try {
        // Ids need no percent-encoding, so each path has only one spelling.
        const path = requestPath(request.url)
        if (path.includes('%', path.lastIndexOf('/api/'))) throw new RouteNotFoundError()
        if (method !== 'GET') checkSameOrigin(headers, origin)
        const response = await (slow ? uploadDeadlines : deadlines).watch((deadline, expired) =>
          // The owner is unknown until the session is found (session-routes.ts, entry.ts).
          runFor({ owner: '', network, signal: AbortSignal.any([request.signal, expired]) }, () =>
            perform({ request, requestId, deadline, params, address, keepOpen }),
          ),
        )
        record(response.status, monotonicMs() - startedMs)
        return response
      } catch (error) {
        return pacer.refuse(() => {
          const { status, code } = toProblem(error)
          record(status, monotonicMs() - startedMs)
          metrics.recordError(code)
          if (code === 'INTERNAL') report(error, requestId)
          return portalProblem(error, requestId)
        })
      }
    }
  }
