// API reference at /docs, one page per API. The content security policy forbids requests to other hosts.
import { createHash } from 'node:crypto'
import type { ApiDocuments } from '../admin/routes/reference.ts'
import { ASSET_PATH } from '../pages/bundled-page.ts'
import ROOT from '../pages/root.css' with { type: 'text' }
import { RouteNotFoundError } from '../server/route-errors.ts'
import { PAGE_HEADERS } from '../server/security-headers.ts'
import TOKENS from './page/styles/tokens.css' with { type: 'text' }
import type { OpenApiDocument } from './reference/document.ts'
import { type ReferencePage, renderPage } from './reference/page.ts'
import SCRIPT from './reference/reference.client.js' with { type: 'text' }
import STYLES from './reference/reference.css' with { type: 'text' }

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  ...PAGE_HEADERS,
  'content-security-policy': CONTENT_SECURITY_POLICY,
}

const parse = (text: string): OpenApiDocument => JSON.parse(text) as OpenApiDocument

const pagesOf = (documents: ApiDocuments): readonly ReferencePage[] => [
  {
    slug: 'attestation',
    title: 'Attestation',
    source: '/admin/v1/openapi/attestation.json',
    document: parse(documents.attestation),
    style: { address: '$ATTESTATION_URL', credentials: { attestationKey: '-H "x-api-key: $ATTESTATION_API_KEY"' } },
  },
  {
    slug: 'identity',
    title: 'Identity',
    source: '/admin/v1/openapi/identity.json',
    document: parse(documents.identity),
    style: { address: '$IDENTITY_URL', credentials: { identityKey: '-H "Authorization: Bearer $IDENTITY_API_KEY"' } },
  },
  {
    slug: 'admin',
    title: 'Administration',
    source: '/admin/v1/openapi.json',
    document: parse(documents.admin),
    style: {
      address: '$ADMIN_URL',
      credentials: {
        cookie: '-b "countersign=$COOKIE" -H "Origin: $DASHBOARD_URL"',
        adminKey: '-H "Authorization: Bearer $ADMIN_API_KEY"',
      },
      openChanges: '-H "Origin: $DASHBOARD_URL"',
    },
  },
]

interface File {
  readonly type: string
  readonly text: string
  /** Whether the URL changes with the content. */
  readonly immutable: boolean
}

const fontFaces = (assets: readonly string[]): string =>
  Object.entries({ inter: '"Inter";font-weight:100 900', 'ibm-plex-mono': '"IBM Plex Mono"' })
    .map(([name, family]) => {
      const path = assets.find((each) => each.startsWith(`${ASSET_PATH}${name}-`)) ?? ''
      return `@font-face{font-family:${family};font-display:swap;src:url(${path})}`
    })
    .join('')

const prepare = (documents: ApiDocuments, assets: readonly string[]): ReadonlyMap<string, File> => {
  const files = new Map<string, File>()
  const add = (name: string, extension: string, type: string, text: string): string => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
    const path = `/docs/${name}-${hash}.${extension}`
    files.set(path, { type, text, immutable: true })
    return path
  }
  const links = {
    stylesheet: add('reference', 'css', 'text/css', ROOT + fontFaces(assets) + TOKENS + STYLES),
    script: add('reference', 'js', 'text/javascript', SCRIPT),
  }
  const pages = pagesOf(documents)
  for (const page of pages) {
    files.set(`/docs/${page.slug}`, { type: 'text/html', text: renderPage(page, pages, links), immutable: false })
  }
  return files
}

/** @param assets paths of the dashboard's assets, which include the fonts */
export const createReferencePages = (documents: ApiDocuments | null, assets: readonly string[]) => {
  // Built on the first request, because the reference is rarely used.
  let files: ReadonlyMap<string, File> | null = null
  return {
    /** Returns null for other paths. @throws RouteNotFoundError if the reference is disabled */
    find: (path: string, headers: Headers): Response | null => {
      if (documents === null) {
        if (path === '/docs' || path.startsWith('/docs/')) throw new RouteNotFoundError()
        return null
      }
      if (path === '/docs' || path === '/docs/') {
        return new Response(null, { status: 302, headers: { ...HEADERS, location: '/docs/attestation' } })
      }
      if (!path.startsWith('/docs/')) return null
      files ??= prepare(documents, assets)
      const file = files.get(path)
      if (file === undefined) return null
      const isCompressed = /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
      return new Response(isCompressed ? Bun.gzipSync(Buffer.from(file.text)) : file.text, {
        headers: {
          ...HEADERS,
          'content-type': `${file.type}; charset=utf-8`,
          'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
          vary: 'accept-encoding',
          ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
        },
      })
    },
  }
}

export type ReferencePages = ReturnType<typeof createReferencePages>
