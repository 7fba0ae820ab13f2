// Serves one document for all dashboard paths; the document selects the page. Also serves its files.
import { randomBytes } from 'node:crypto'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import { assetResponse, buildPageAssets, type PageAssets } from '../pages/page-assets.ts'
import { PAGE_HEADERS } from '../server/security-headers.ts'
import type { DashboardPages } from './listener.ts'

const NONCE_BYTES = 18

/**
 * Permits scripts with the nonce of the response, and scripts that they load. Content from other hosts, forms to other
 * hosts and framing are forbidden. Source: CSP Level 3.
 */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic' 'self'`,
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "frame-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const pageHeaders = (nonce: string): Record<string, string> => ({
  ...PAGE_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(nonce),
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), publickey-credentials-get=(self)',
})

/**
 * @param without names of the modules that aren't running
 * @param hasReference whether the API reference is served
 * @throws PageBuildError
 */
export const buildDashboardAssets = (without: readonly string[], hasReference: boolean): Promise<PageAssets> =>
  buildPageAssets({
    page: 'dashboard',
    title: 'the dashboard',
    basePath: '',
    fill: (html) =>
      html.replace('MODULE-NAMES', () => without.join(' ')).replace('HAS-REFERENCE', String(hasReference)),
  })

export const createDashboardPages = (assets: PageAssets): DashboardPages => {
  return async (request, path) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (path.startsWith(ASSET_PATH)) {
      const asset = assets.find(path)
      return asset === undefined ? null : await assetResponse(asset, request)
    }
    if (path === '/robots.txt') return new Response('User-agent: *\nDisallow: /\n')
    // Unknown files, which browsers and scanners request, have no page.
    if (!reads || /\.[a-z0-9]+$/i.test(path)) return null
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    return new Response(request.method === 'HEAD' ? null : assets.page(nonce), { headers: pageHeaders(nonce) })
  }
}
