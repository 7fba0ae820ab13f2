// The API reference at /docs: Scalar, drawn from the three documents, served whole from this host. Nothing is asked of
// anyone else, and the policy of the page sees to it that nothing could be.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

/** Scalar's Fastify plugin carries the same bundle as @scalar/api-reference, and is a tenth of its size. */
const PACKAGE = '@scalar/fastify-api-reference'
const BUNDLE = join('js', 'standalone.js')

/**
 * Styles are set from the script as it runs, so they can't be named beforehand; scripts can. `unsafe-eval` is not there:
 * what needs it (running snippets) stays switched off.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const START = `Scalar.createApiReference('#reference', {
  sources: [
    { title: 'Attestation API', slug: 'attestation', url: '/admin/v1/openapi/attestation.json' },
    { title: 'Identity API', slug: 'identity', url: '/admin/v1/openapi/identity.json' },
    { title: 'Admin API', slug: 'admin', url: '/admin/v1/openapi.json' },
  ],
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  documentDownloadType: 'json',
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})
`

const page = (bundle: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Countersign API reference</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The documents themselves are at /admin/v1/openapi.json and beside it.</noscript>
    <script src="${bundle}"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

const compress = promisify(brotliCompress)
/** The best quality takes ten seconds for a tenth less. */
const BROTLI_QUALITY = 6

export interface ReferencePages {
  /** Null for a path that is none of theirs. */
  find(path: string, headers: Headers): Promise<Response | null>
}

const answer = (body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>): Response =>
  new Response(body, { headers: { ...HEADERS, ...headers } })

export const createReferencePages = (): ReferencePages => {
  // Read when it is first asked for: most starts never are.
  let bundle: {
    readonly path: string
    readonly plain: Uint8Array<ArrayBuffer>
    compressed: Promise<Uint8Array<ArrayBuffer>> | null
  } | null = null
  const load = () => {
    if (bundle === null) {
      const plain = new Uint8Array(readFileSync(join(dirname(Bun.resolveSync(PACKAGE, import.meta.dir)), BUNDLE)))
      const hash = createHash('sha256').update(plain).digest('hex').slice(0, 16)
      bundle = { path: `/docs/scalar-${hash}.js`, plain, compressed: null }
    }
    return bundle
  }
  const compressBundle = async (plain: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
    Uint8Array.from(await compress(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }))

  return {
    find: async (path, headers) => {
      if (path !== '/docs' && path !== '/docs/' && !path.startsWith('/docs/')) return null
      const loaded = load()
      if (path === '/docs' || path === '/docs/') {
        return answer(page(loaded.path), { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
      }
      if (path === '/docs/start.js') {
        return answer(START, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' })
      }
      if (path !== loaded.path) return null
      const named = {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
      }
      if (!/\bbr\b/.test(headers.get('accept-encoding') ?? '')) return answer(loaded.plain, named)
      loaded.compressed ??= compressBundle(loaded.plain)
      return answer(await loaded.compressed, { ...named, 'content-encoding': 'br' })
    },
  }
}
