// Serves one Elysia app on an address. Every response gets the security headers, and every error becomes a problem.
import { type AnyElysia, Elysia } from 'elysia'
import { matchesPath } from '../lib/path-pattern.ts'
import { leaveAfterTurn, type RefusalPacer } from './event-loop-turns.ts'
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from './listen-address.ts'
import type { RequestIdSource } from './request-id.ts'
import { requestPath } from './request-path.ts'
import { fromRouterError, MethodNotAllowedError, RouteNotFoundError } from './route-errors.ts'
import { createHarden } from './security-headers.ts'

export interface ListenerOptions {
  readonly app: AnyElysia
  readonly listen: ListenAddress
  readonly publicUrl: string
  readonly tls: ListenerTls | null
  readonly shared?: boolean
  readonly idleTimeoutSeconds: number
  readonly requestIds: RequestIdSource
  readonly toResponse: (error: unknown, requestId: string) => Response
  readonly explain?: (error: unknown, request: Request, path: string) => Promise<unknown>
  /** Answers GET and HEAD of paths without a route; null if there is no such page. */
  readonly pages?: (request: Request, path: string) => Response | null | Promise<Response | null>
  readonly pacer?: RefusalPacer
  readonly answersHead: boolean
}

/** Methods that Bun routes. Requests with other methods count as unknown paths. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

interface RoutePattern {
  readonly path: string
  readonly segments: readonly string[]
  readonly methods: readonly string[]
}

/** Ignores parameter names; literal segments come first. @throws Error if two routes match the same requests */
const patternsOf = ({ routes }: AnyElysia): readonly RoutePattern[] =>
  [...Map.groupBy(routes, ({ path }) => encodeURI(path).replaceAll(/:[^/]+/g, ':'))]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([shape, declared]) => {
      const methods = declared.map(({ method }) => method)
      if (new Set(methods).size < methods.length) throw new Error(`${shape} has two routes for one method`)
      return { path: encodeURI(declared[0]?.path ?? shape), segments: shape.split('/'), methods }
    })

/** @throws Bun's error if the address is in use */
export const startListener = (options: ListenerOptions) => {
  const { app, listen, tls, shared = false, requestIds, toResponse, pages, pacer, answersHead } = options
  const harden = createHarden(options.publicUrl)
  const patterns = patternsOf(app)

  /** Closes the connection unless the body was read: a client could send endless chunks, which Bun parses. */
  const finish = (response: Response, request: Request): Response => {
    const isRead = request.bodyUsed && response.status < 400
    if (!isRead && request.headers.has('transfer-encoding')) response.headers.set('connection', 'close')
    return harden(response)
  }
  const fail = (error: unknown, request: Request): Response =>
    finish(toResponse(error, requestIds(request.headers.get('x-request-id'))), request)

  const findPage = async (request: Request): Promise<Response> => {
    const path = requestPath(request.url)
    const asked = path.split('/')
    const methods = patterns.find(({ segments }) => matchesPath(segments, asked))?.methods
    // If a route matches, the client used another spelling of the route's path, for example `/x/../livez`.
    if (methods !== undefined && !methods.includes(request.method)) throw new MethodNotAllowedError(methods.join(', '))
    const page = methods === undefined ? await pages?.(request, path) : null
    if (page === undefined || page === null) throw new RouteNotFoundError()
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new MethodNotAllowedError('GET')
    return finish(page, request)
  }
  const otherwise = leaveAfterTurn(async (request: Request): Promise<Response> => {
    pacer?.arrived()
    try {
      return await findPage(request)
    } catch (error) {
      const explained =
        options.explain === undefined ? error : await options.explain(error, request, requestPath(request.url))
      const make = () => fail(explained, request)
      return pacer === undefined ? make() : pacer.refuse(make)
    }
  })
  /**
   * Refuses other methods. Otherwise, Bun would route `GET /a/search` to `GET /a/:id` if only `POST /a/search` exists.
   */
  const refusalsFor = (methods: readonly string[]) => {
    const answered = answersHead ? [...methods, 'HEAD'] : methods
    return Object.fromEntries(METHODS.filter((method) => !answered.includes(method)).map((name) => [name, otherwise]))
  }

  const { server } = new Elysia({
    // A proxy may decide by the path, so each route has exactly one spelling.
    strictPath: true,
    serve: {
      idleTimeout: options.idleTimeoutSeconds,
      ...serverOptions(tls),
      error: (error) => harden(toResponse(error, requestIds(null))),
      routes: {
        ...Object.fromEntries(patterns.map(({ path, methods }) => [path, refusalsFor(methods)])),
        // Bun matches the path as sent. Elysia assumes a fixed offset of the path in the URL: with a Host of at most
        // three characters, `/nope/livez` would match `/livez`.
        '/*': otherwise,
      },
    },
  })
    // Elysia types the handler as a function that returns a function.
    .wrap((handle) => leaveAfterTurn(handle as unknown as (request: Request) => Promise<Response>))
    .onError({ as: 'global' }, ({ code, error, request }) => fail(fromRouterError(code, error), request))
    .onAfterHandle({ as: 'global' }, ({ response, request }) =>
      response instanceof Response ? finish(response, request) : undefined,
    )
    .use(app)
    .listen({ hostname: listen.hostname, port: listen.port, reusePort: shared })

  if (server === null) throw new Error('the listener did not start')
  return {
    url: listenUrl({ hostname: listen.hostname, port: server.port ?? listen.port }, tls !== null),
    /** Stops accepting connections, and resolves when all requests are answered. End the streams first. */
    stop: (): Promise<void> => server.stop(),
    stopNow: (): Promise<void> => server.stop(true),
  }
}

export type Listener = ReturnType<typeof startListener>
