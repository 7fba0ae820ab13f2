// Serves one Elysia app on an address. Every answer gets the security headers, every error becomes a problem, and a path
// without a route is answered 404, or 405 with the methods that the app's routes declare.
import { type AnyElysia, Elysia } from 'elysia'
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from './listen-address.ts'
import type { RefusalPacer } from './refusal-pacer.ts'
import type { RequestIdSource } from './request-id.ts'
import { requestPath } from './request-path.ts'
import { fromRouterError, MethodNotAllowedError, RouteNotFoundError } from './route-errors.ts'
import { createHarden } from './security-headers.ts'
import { leaveAfterTurn } from './turn-end.ts'

export interface ListenerOptions {
  readonly app: AnyElysia
  readonly listen: ListenAddress
  /** The URL as clients see it. */
  readonly publicUrl: string
  /** Null: HTTP. */
  readonly tls: ListenerTls | null
  /** Whether other processes listen on the address as well. */
  readonly shared?: boolean
  /** Seconds that a connection may be quiet. */
  readonly idleTimeoutSeconds: number
  readonly requestIds: RequestIdSource
  /** Converts an error into the answer. Must not throw. */
  readonly toResponse: (error: unknown, requestId: string) => Response
  /** Returns the error to answer instead of one for a path or method that no route has. */
  readonly explain?: (error: unknown, request: Request, path: string) => Promise<unknown>
  /** Answers GET and HEAD of paths that no route has; null if there is nothing. */
  readonly pages?: (request: Request, path: string) => Response | null | Promise<Response | null>
  /** Delays refusals under a flood. */
  readonly pacer?: RefusalPacer
  /** Whether routes for GET answer HEAD as well. */
  readonly answersHead: boolean
}

export interface Listener {
  readonly url: string
  /** Stops accepting, and resolves once the requests in flight are answered. End the streams first. */
  stop(): Promise<void>
  /** Cuts the remaining connections. */
  stopNow(): Promise<void>
}

/** The methods by which Bun finds routes. It treats all others as unknown paths. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

interface RoutePattern {
  readonly path: string
  readonly segments: readonly string[]
  readonly methods: readonly string[]
}

/**
 * The paths of an app, whatever their parameters are named. A literal segment precedes a parameter.
 * @throws Error if two routes take the same requests
 */
const patternsOf = ({ routes }: AnyElysia): readonly RoutePattern[] =>
  [...Map.groupBy(routes, ({ path }) => encodeURI(path).replaceAll(/:[^/]+/g, ':'))]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([shape, declared]) => {
      const methods = declared.map(({ method }) => method)
      if (new Set(methods).size < methods.length) throw new Error(`${shape} has two routes for one method`)
      return { path: encodeURI(declared[0]?.path ?? shape), segments: shape.split('/'), methods }
    })

const matches = ({ segments }: RoutePattern, asked: readonly string[]): boolean =>
  segments.length === asked.length &&
  segments.every((segment, index) => (segment === ':' ? asked[index] !== '' : segment === asked[index]))

/** @throws what Bun throws if the address is taken */
export const startListener = (options: ListenerOptions): Listener => {
  const { app, listen, tls, shared = false, requestIds, toResponse, pages, pacer, answersHead } = options
  const harden = createHarden(options.publicUrl)
  const patterns = patternsOf(app)

  /** Closes the connection unless the body was read. Otherwise, a client could send chunks without end, which Bun parses. */
  const finish = (response: Response, request: Request): Response => {
    const isRead = request.bodyUsed && response.status < 400
    if (!isRead && request.headers.has('transfer-encoding')) response.headers.set('connection', 'close')
    return harden(response)
  }
  const fail = (error: unknown, request: Request): Response =>
    finish(toResponse(error, requestIds(request.headers.get('x-request-id'))), request)

  /** @throws RouteNotFoundError, MethodNotAllowedError */
  const findPage = async (request: Request): Promise<Response> => {
    const path = requestPath(request.url)
    const segments = path.split('/')
    const methods = patterns.find((pattern) => matches(pattern, segments))?.methods
    // If the route exists with this method, the client wrote the path differently, for example as `/x/../livez`.
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
  /** Without these, Bun would answer `GET /a/search` by the route `GET /a/:id` if only `POST /a/search` exists. */
  const refusalsFor = (methods: readonly string[]) => {
    const answered = answersHead ? [...methods, 'HEAD'] : methods
    return Object.fromEntries(METHODS.filter((method) => !answered.includes(method)).map((name) => [name, otherwise]))
  }

  const { server } = new Elysia({
    // A proxy may decide by the path, so each route has one spelling.
    strictPath: true,
    serve: {
      idleTimeout: options.idleTimeoutSeconds,
      ...serverOptions(tls),
      error: (error) => harden(toResponse(error, requestIds(null))),
      routes: {
        ...Object.fromEntries(patterns.map(({ path, methods }) => [path, refusalsFor(methods)])),
        // Bun finds routes by the path as sent. Elysia's own search takes the path from a fixed place in the URL: with a
        // Host of at most three characters, `/nope/livez` would be `/livez`.
        '/*': otherwise,
      },
    },
  })
    // Elysia declares the handler as one that returns a function.
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
    stop: () => server.stop(),
    stopNow: () => server.stop(true),
  }
}
