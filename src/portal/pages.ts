// Serves the page. A link is exchanged before the page loads, so that scripts never see its token.
import { randomBytes } from 'node:crypto'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import { assetResponse, buildPageAssets, type PageAssets } from '../pages/page-assets.ts'
import { PAGE_HEADERS } from '../server/security-headers.ts'
import type { Language } from './contract.ts'
import type { PortalEntry } from './entry.ts'
import { LinkUnknownError } from './errors.ts'
import { requestedLanguage } from './preferred-language.ts'

interface PortalPagesOptions {
  readonly assets: PageAssets
  readonly entry: Pick<PortalEntry, 'enter'>
  readonly portalUrl: string
}

const NONCE_BYTES = 18
const LINK = '/v/'
const SESSION_PAGE = /^\/s\/[0-9a-f-]{36}$/

/** Returns whether a person opens the page, not a link preview or a prefetch. */
const isVisit = (headers: Headers): boolean =>
  headers.get('sec-fetch-mode') === 'navigate' &&
  headers.get('sec-fetch-dest') === 'document' &&
  headers.get('sec-purpose') === null &&
  headers.get('purpose') === null

/** Denies unused features. Permits the camera, for which the browser prompts the person. */
const PERMISSIONS = [
  'camera=(self)',
  ...['accelerometer', 'autoplay', 'display-capture', 'encrypted-media', 'fullscreen', 'geolocation', 'gyroscope'].map(
    (feature) => `${feature}=()`,
  ),
  ...['magnetometer', 'microphone', 'midi', 'payment', 'picture-in-picture', 'screen-wake-lock'].map(
    (feature) => `${feature}=()`,
  ),
].join(', ')

/** Browsers without `strict-dynamic` allow this host. Data URIs are for wallet icons, blobs for unsent photographs. */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic' 'self'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "frame-src 'none'",
  ].join('; ')

/** Source: threats rows 2, 17 and 23; CSP Level 3. */
const pageHeaders = (nonce: string): Record<string, string> => ({
  ...PAGE_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(nonce),
  'permissions-policy': PERMISSIONS,
  // Windows opened by wallets must be able to communicate with this page.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
})

/** Each visitor needs one of these language files. */
const WORDS: Readonly<Record<Language, string>> = { en: 'english', de: 'german' }

/** Returns the path of the public URL; empty at the root of a host. */
export const basePathOf = (portalUrl: string): string => new URL(portalUrl).pathname.replace(/\/$/, '')

export const buildPortalAssets = (portalUrl: string): Promise<PageAssets> =>
  buildPageAssets({
    page: 'portal',
    title: 'the verification page',
    basePath: basePathOf(portalUrl),
    early: Object.values(WORDS),
    fill: (html) => html.replace('PORTAL-URL', () => portalUrl),
  })

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

  /** Exchanges an unused link for a cookie. In all other cases, the page shows the next step. */
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

  return (request: Request, asked: string): Response | Promise<Response> | null => {
    const path = asked.startsWith(`${base}/`) ? asked.slice(base.length) : asked
    if (path.startsWith('/api/')) return null
    if (path.startsWith(ASSET_PATH)) {
      const asset = assets.find(path)
      return asset === undefined ? null : assetResponse(asset, request)
    }
    if (path.startsWith(LINK)) return followLink(request, path.slice(LINK.length))
    if (path === '/robots.txt') return new Response('User-agent: *\nDisallow: /\n')
    // The page itself shows the problem.
    return page(request, SESSION_PAGE.test(path) ? 200 : 404)
  }
}
