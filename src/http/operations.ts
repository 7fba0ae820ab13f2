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

const NO_STORE = { 'cache-control': 'no-store' } as const

export const operationsRoutes = ({ readiness, describe, metrics, requestIds }: OperationsRoutesOptions) =>
  new Elysia({ name: 'operations' })
    .get(
      '/livez',
      () => new Response('ok\n', { headers: { 'content-type': 'text/plain; charset=utf-8', ...NO_STORE } }),
    )
    .get('/readyz', async ({ request }) => {
      const checks = await readiness()
      const state = {
        checks: Object.fromEntries(checks.map(({ name, ok }) => [name, ok ? 'ok' : 'failing'])),
        ...describe(),
      }
      if (checks.every(({ ok }) => ok)) return Response.json({ ready: true, ...state }, { headers: NO_STORE })
      const requestId = requestIds(request.headers.get('x-request-id'))
      const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name)
      const problem = problemBody(
        {
          code: 'DEPENDENCY_UNAVAILABLE',
          status: 503,
          detail: `not ready: ${failing.join(', ')}`,
          retryAfterSeconds: 1,
        },
        requestId,
      )
      return Response.json(
        { ...problem, ready: false, ...state },
        {
          status: 503,
          headers: {
            ...NO_STORE,
            'content-type': 'application/problem+json',
            'retry-after': '1',
            'x-request-id': requestId,
          },
        },
      )
    })
    .get('/metrics', async () => {
      const { contentType, body } = await metrics()
      return new Response(body, { headers: { 'content-type': contentType, ...NO_STORE } })
    })
