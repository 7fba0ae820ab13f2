// The dashboard's pages: one document for every address, its files, and what browsers are told about it. Which page an
// address is, the document itself finds out.
import { randomBytes } from 'node:crypto'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import { assetResponse, buildPageAssets, type PageAssets } from '../pages/page-assets.ts'
import { PAGE_HEADERS } from '../server/security-headers.ts'
import type { DashboardPages } from './listener.ts'

const NONCE_BYTES = 18

/**
 * Scripts run by the nonce of the one response that names them, and what they load themselves. Nothing may be loaded from
 * anywhere else, no form may be sent anywhere, nobody may frame it. Source: threats row 23; CSP Level 3.
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
 * @param without names of the modules that are left out, which the page reads from its document
 * @throws PageBuildError
 */
export const buildDashboardAssets = (without: readonly string[]): Promise<PageAssets> =>
  buildPageAssets({
    page: 'dashboard',
    title: 'the dashboard',
    basePath: '',
    fill: (html) => html.replace('MODULE-NAMES', () => without.join(' ')),
  })

export const createDashboardPages = (assets: PageAssets): DashboardPages => {
  return async (request, path) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (path.startsWith(ASSET_PATH)) {
      const asset = assets.find(path)
      return asset === undefined ? null : await assetResponse(asset, request)
    }
    if (path === '/robots.txt') return new Response('User-agent: *\nDisallow: /\n')
    // A file that browsers or strangers guess at is no page.
    if (!reads || /\.[a-z0-9]+$/i.test(path)) return null
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    return new Response(request.method === 'HEAD' ? null : assets.page(nonce), { headers: pageHeaders(nonce) })
  }
}
