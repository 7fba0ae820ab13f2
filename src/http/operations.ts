// What orchestrators and monitors ask: `/livez` (the process answers), `/readyz` (it can attest), `/metrics`.
import { Elysia } from 'elysia'
import { problemBody } from './problem.ts'
import type { RequestIdSource } from './request-id.ts'

/** One condition of readiness. `ok` false names the part that is down, never why. */
export interface ReadinessCheck {
  readonly name: string
  readonly ok: boolean
}

export interface OperationsRoutesOptions {
  readonly readiness: () => Promise<readonly ReadinessCheck[]>
  /** Facts beside the checks: the signing backend, the number of workers. */
  readonly describe: () => Readonly<Record<string, string | number>>
  readonly requestIds: RequestIdSource
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>
}

export const operationsRoutes = ({ readiness, describe, metrics, requestIds }: OperationsRoutesOptions) => {
  const headersFor = (request: Request) => ({
    'cache-control': 'no-store',
    'x-request-id': requestIds(request.headers.get('x-request-id')),
  })
  return new Elysia({ name: 'operations' })
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
    .get('/metrics', async ({ request }) => {
      const headers = headersFor(request)
      const { contentType, body } = await metrics()
      return new Response(body, { headers: { 'content-type': contentType, ...headers } })
    })
}
