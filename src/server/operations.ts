// Endpoints for operation: `/livez` (the process responds), `/readyz` (it can attest), `/metrics`, `/openapi.json`.
import { Elysia } from 'elysia'
import { parseIpAddress } from '../lib/ip-address.ts'
import { isLoopbackHost } from '../lib/loopback.ts'
import { problemBody } from './problem.ts'
import type { RequestIdSource } from './request-id.ts'
import { RouteNotFoundError } from './route-errors.ts'

/** If `ok` is false, the response contains the name, but never the reason. */
export interface ReadinessCheck {
  readonly name: string
  readonly ok: boolean
}

export interface OperationsRoutesOptions {
  readonly readiness: () => Promise<readonly ReadinessCheck[]>
  readonly describe: () => Readonly<Record<string, string | number>>
  readonly requestIds: RequestIdSource
  /** Null if `/metrics` has its own listener. */
  readonly metrics: {
    readonly answer: (request: Request) => Promise<Response>
    /** True if other machines may also read the metrics. */
    readonly isOpen: boolean
  } | null
  readonly document: (() => string) | null
}

export interface MetricsAnswerOptions {
  readonly requestIds: RequestIdSource
  readonly contentType: string
  readonly expose: () => Promise<string>
  readonly monotonicMs: () => number
}

/** Time for which the response is cached, because rendering uses the main thread, and callers need no key. */
const RENDERED_FOR_MS = 1_000

/** A proxy on this machine forwards requests from other machines. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

export const isFromThisMachine = (peer: string, headers: Headers): boolean =>
  isLoopbackHost(parseIpAddress(peer) ?? '') && !PROXY_HEADERS.some((name) => headers.has(name))

const headersOf = (request: Request, requestIds: RequestIdSource) => ({
  'cache-control': 'no-store',
  'x-request-id': requestIds(request.headers.get('x-request-id')),
})

export const createMetricsAnswer = ({ requestIds, contentType, expose, monotonicMs }: MetricsAnswerOptions) => {
  let rendered: { readonly text: Promise<string>; readonly atMs: number } | null = null

  const current = (): Promise<string> => {
    const nowMs = monotonicMs()
    if (rendered !== null && nowMs - rendered.atMs < RENDERED_FOR_MS) return rendered.text
    const own = { text: expose(), atMs: nowMs }
    rendered = own
    own.text.catch(() => {
      if (rendered === own) rendered = null
    })
    return own.text
  }

  return async (request: Request): Promise<Response> =>
    new Response(await current(), { headers: { 'content-type': contentType, ...headersOf(request, requestIds) } })
}

export const operationsRoutes = ({ readiness, describe, metrics, document, requestIds }: OperationsRoutesOptions) => {
  const headersFor = (request: Request) => headersOf(request, requestIds)
  const app = new Elysia({ name: 'operations' })
    .get(
      '/livez',
      ({ request }) =>
        new Response('ok\n', { headers: { 'content-type': 'text/plain; charset=utf-8', ...headersFor(request) } }),
    )
    .get('/readyz', async ({ request }) => {
      const headers = headersFor(request)
      const checks = await readiness()
      const state = {
        checks: Object.fromEntries(checks.map(({ name, ok }) => [name, ok ? 'ok' : 'failing'])),
        ...describe(),
      }
      if (checks.every(({ ok }) => ok)) return Response.json({ ready: true, ...state }, { headers })
      const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name)
      const problem = problemBody(
        {
          code: 'DEPENDENCY_UNAVAILABLE',
          status: 503,
          detail: `not ready: ${failing.join(', ')}`,
          retryAfterSeconds: 1,
        },
        headers['x-request-id'],
      )
      return Response.json(
        { ...problem, ready: false, ...state },
        {
          status: 503,
          headers: {
            ...headers,
            'content-type': 'application/problem+json',
            'retry-after': '1',
          },
        },
      )
    })
  if (metrics !== null) {
    app.get('/metrics', ({ request, server }) => {
      const peer = server?.requestIP(request)?.address ?? ''
      if (!metrics.isOpen && !isFromThisMachine(peer, request.headers)) throw new RouteNotFoundError()
      return metrics.answer(request)
    })
  }
  if (document !== null) {
    app.get('/openapi.json', ({ request }) => {
      const headers = { ...headersFor(request), 'content-type': 'application/json', 'cache-control': 'no-cache' }
      return new Response(document(), { headers })
    })
  }
  return app
}
