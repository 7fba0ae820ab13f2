// Every request to an endpoint of the verification page goes through this function: request id, origin, deadline, then
// the endpoint's own work. Errors are mapped and counted, and get a `reason`, by which the page chooses its words.
import { CountersignError } from '../domain/errors.ts'
import type { Deadline, Deadlines } from '../server/deadline.ts'
import { problemBody, toProblem } from '../server/problem.ts'
import type { RequestIdSource } from '../server/request-id.ts'
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
  /** Scheme, host and port of the page, as browsers write it. */
  readonly origin: string
}

export interface PortalCall {
  readonly request: Request
  readonly requestId: string
  readonly deadline: Deadline
  /** The variable parts of the path, in order. */
  readonly parameters: readonly string[]
  /** The client's address in canonical form; empty when it is not known. */
  readonly address: string
}

export interface PortalRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments; `*` stands for any. */
  readonly path: string
  readonly handle: (request: Request, parameters: readonly string[], address: string) => Promise<Response>
}

export interface PortalRouteSettings extends Pick<PortalRoute, 'method' | 'path'> {
  readonly slow?: boolean
}

export type PortalGate = (
  settings: PortalRouteSettings,
  perform: (call: PortalCall) => Promise<Response>,
) => PortalRoute

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
  return new Response(JSON.stringify({ ...problemBody(problem, requestId), reason: reasonOf(error) }), {
    status: problem.status,
    headers,
  })
}

export const createPortalGate =
  (dependencies: PortalGateDependencies): PortalGate =>
  ({ method, path, slow = false }, perform) => {
    const { deadlines, uploadDeadlines, requestIds, monotonicMs, metrics, report, origin } = dependencies
    const record = metrics.route(method, `portal ${path}`)
    return {
      method,
      path,
      handle: async (request, parameters, address) => {
        const startedMs = monotonicMs()
        const requestId = requestIds(request.headers.get('x-request-id'))
        try {
          if (method !== 'GET') checkSameOrigin(request.headers, origin)
          const response = await (slow ? uploadDeadlines : deadlines).watch((deadline) =>
            perform({ request, requestId, deadline, parameters, address }),
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
      },
    }
  }
