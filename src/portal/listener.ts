// The verification page's own listener: the page, its files, its API, and nothing else. A link that a person follows is
// exchanged before the page loads, so that its token is in no page's address and reaches no script.
import { randomBytes } from 'node:crypto'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import { assetResponse, type PageAssets } from '../pages/page-assets.ts'
import type { ClientAddress } from '../server/client-address.ts'
import { type ListenAddress, type ListenerTls, listenUrl, serverOptions } from '../server/listen-address.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import { requestPath } from '../server/request-path.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import { createHarden } from '../server/security-headers.ts'
import { basePathOf, WORDS } from './assets.ts'
import type { PortalEntry } from './entry.ts'
import { LinkUnknownError } from './errors.ts'
import { type PortalRoute, portalProblem } from './gate.ts'
import { pageHeaders } from './page-headers.ts'
import { requestedLanguage } from './preferred-language.ts'
import { createRouter } from './router.ts'

export interface PortalListenerOptions {
  readonly listen: ListenAddress
  /** Null: HTTP. */
  readonly tls: ListenerTls | null
  readonly assets: PageAssets
  readonly entry: Pick<PortalEntry, 'enter'>
  readonly routes: readonly PortalRoute[]
  readonly requestIds: RequestIdSource
  /** The page's public address, without a trailing slash. */
  readonly portalUrl: string
  readonly clientAddress: ClientAddress
  readonly report: (error: unknown, requestId: string) => void
}

export interface PortalListener {
  readonly url: string
  /** Stops accepting, and resolves once the requests under way are answered. End the streams first. */
  stop(): Promise<void>
}

/** Idle timeout of a connection: a phone on a bad line may pause between two packets of a photograph. */
const IDLE_SECONDS = 60
const NONCE_BYTES = 18
const LINK = '/v/'
const SESSION_PAGE = /^\/s\/[0-9a-f-]{36}$/

/** Whether a person opens the page, and not a link preview or a browser's prefetch. */
const isVisit = (headers: Headers): boolean =>
  headers.get('sec-fetch-mode') === 'navigate' &&
  headers.get('sec-fetch-dest') === 'document' &&
  headers.get('sec-purpose') === null &&
  headers.get('purpose') === null

export const startPortalListener = (options: PortalListenerOptions): PortalListener => {
  const { listen, tls, assets, entry, routes, requestIds, portalUrl, clientAddress, report } = options
  const harden = createHarden(portalUrl)
  // Behind a proxy the page may be under a path of a larger site. The proxy may remove that path or pass it on.
  const base = basePathOf(portalUrl)
  const router = createRouter(routes)

  const page = (request: Request, status = 200): Response => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    const words = WORDS[requestedLanguage(request.headers)]
    return new Response(request.method === 'HEAD' ? null : assets.page(nonce, words), {
      status,
      headers: pageHeaders(nonce),
    })
  }

  /** Exchanges an unused link that a person opens for a cookie. In all other cases the page itself shows what to do. */
  const followLink = async (request: Request, token: string): Promise<Response> => {
    if (request.method !== 'GET' || !isVisit(request.headers)) return page(request)
    try {
      const found = await entry.enter(token, request.headers)
      if (found.kind === 'elsewhere') return page(request)
      const headers: Record<string, string> = {
        ...pageHeaders('none'),
        location: `${portalUrl}/s/${found.sessionId}`,
      }
      if (found.cookie !== null) headers['set-cookie'] = found.cookie
      return new Response(null, { status: 303, headers })
    } catch (error) {
      if (error instanceof LinkUnknownError) return page(request, 404)
      throw error
    }
  }

  const answer = async (request: Request, address: string): Promise<Response> => {
    const { method } = request
    const asked = requestPath(request.url)
    const pathname = asked.startsWith(`${base}/`) ? asked.slice(base.length) : asked
    const reads = method === 'GET' || method === 'HEAD'
    if (pathname.startsWith('/api/')) {
      const found = router.find(method, pathname)
      if (found !== null) return found.route.handle(request, found.parameters, address)
      const methods = router.methodsOf(pathname)
      throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods.join(', '))
    }
    if (!reads) throw new MethodNotAllowedError('GET')
    if (pathname.startsWith(ASSET_PATH)) {
      const asset = assets.find(pathname)
      if (asset === undefined) throw new RouteNotFoundError()
      return assetResponse(asset, request)
    }
    if (pathname.startsWith(LINK)) return await followLink(request, pathname.slice(LINK.length))
    if (pathname === '/robots.txt') return new Response('User-agent: *\nDisallow: /\n')
    // For any other path, the page itself tells the person what is wrong.
    return page(request, SESSION_PAGE.test(pathname) ? 200 : 404)
  }

  const server = Bun.serve({
    hostname: listen.hostname,
    port: listen.port,
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    ...serverOptions(tls),
    fetch: async (request, self) => {
      try {
        const response = await answer(request, clientAddress(self.requestIP(request)?.address ?? '', request.headers))
        // A stream is silent while nothing changes, so no idle timeout may end it.
        if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) self.timeout(request, 0)
        return harden(response)
      } catch (error) {
        const requestId = requestIds(request.headers.get('x-request-id'))
        const response = portalProblem(error, requestId)
        if (response.status === 500) report(error, requestId)
        if (error instanceof MethodNotAllowedError) response.headers.set('allow', error.allow)
        return harden(response)
      }
    },
  })
  return {
    url: listenUrl({ hostname: listen.hostname, port: server.port ?? listen.port }, tls !== null),
    stop: () => server.stop(),
  }
}
