// Listener for the admin API, the API reference and the pages. It is separate so that it can bind to a private network.
import type { AnyElysia } from 'elysia'
import { ADMIN_PREFIX } from '../admin/admin-api.ts'
import type { ExplainMissing } from '../admin/left-out.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { type Listener, type ListenerOptions, startListener } from '../server/listener.ts'
import { toProblem } from '../server/problem.ts'
import { problemResponse } from '../server/response.ts'
import type { ReferencePages } from './reference.ts'

export type DashboardPages = (request: Request, path: string) => Response | null | Promise<Response | null>

interface DashboardListenerOptions
  extends Pick<ListenerOptions, 'listen' | 'publicUrl' | 'tls' | 'requestIds' | 'pacer'> {
  readonly api: AnyElysia
  readonly explain: ExplainMissing
  readonly reference: ReferencePages
  readonly pages: DashboardPages
  readonly recordError: (code: ErrorCode) => void
  readonly report: (error: unknown, requestId: string) => void
}

/** Idle limit, which must exceed the request deadline. */
const IDLE_SECONDS = 150

export const startDashboardListener = (options: DashboardListenerOptions): Listener => {
  const { api, reference, pages, recordError, report } = options
  return startListener({
    ...options,
    app: api,
    idleTimeoutSeconds: IDLE_SECONDS,
    answersHead: false,
    pages: (request, path) => {
      if (path === ADMIN_PREFIX || path.startsWith(`${ADMIN_PREFIX}/`)) return null
      return reference.find(path, request.headers) ?? pages(request, path)
    },
    toResponse: (error, requestId) => {
      recordError(toProblem(error).code)
      return problemResponse(error, requestId, { report })
    },
  })
}
