// Serves the verification page and its files. A link is exchanged before the page loads, so that its token is never in
// the URL of a page or available to scripts.
import { randomBytes } from 'node:crypto'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import { assetResponse, type PageAssets } from '../pages/page-assets.ts'
import { basePathOf, WORDS } from './assets.ts'
import type { PortalEntry } from './entry.ts'
import { LinkUnknownError } from './errors.ts'
import { pageHeaders } from './page-headers.ts'
import { requestedLanguage } from './preferred-language.ts'

interface PortalPagesOptions {
  readonly assets: PageAssets
  readonly entry: Pick<PortalEntry, 'enter'>
  /** Public URL of the page, without a trailing slash. */
  readonly portalUrl: string
}

const NONCE_BYTES = 18
const LINK = '/v/'
const SESSION_PAGE = /^\/s\/[0-9a-f-]{36}$/

/** Returns whether a person opens the page, as opposed to a link preview or a prefetch. */
const isVisit = (headers: Headers): boolean =>
  headers.get('sec-fetch-mode') === 'navigate' &&
  headers.get('sec-fetch-dest') === 'document' &&
  headers.get('sec-purpose') === null &&
  headers.get('purpose') === null

export const createPortalPages = ({ assets, entry, portalUrl }: PortalPagesOptions) => {
  const base = basePathOf(portalUrl)

  const page = (request: Request, status = 200): Response => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    const words = WORDS[requestedLanguage(request.headers)]
    return new Response(request.method === 'HEAD' ? null : assets.page(nonce, words), {
      status,
      headers: pageHeaders(nonce),
    })
  }

  /** Exchanges an unused link that a person opens for a cookie. In all other cases, the page shows the next step. */
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

  /** Returns null if the path doesn't belong to a page. */
  return (request: Request, asked: string): Response | Promise<Response> | null => {
    const path = asked.startsWith(`${base}/`) ? asked.slice(base.length) : asked
    if (path.startsWith('/api/')) return null
    if (path.startsWith(ASSET_PATH)) {
      const asset = assets.find(path)
      return asset === undefined ? null : assetResponse(asset, request)
    }
    if (path.startsWith(LINK)) return followLink(request, path.slice(LINK.length))
    if (path === '/robots.txt') return new Response('User-agent: *\nDisallow: /\n')
    // For any other path, the page itself shows the problem.
    return page(request, SESSION_PAGE.test(path) ? 200 : 404)
  }
}
