// Files of a page, named by their content so that browsers may cache them forever.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { ASSET_PATH, type BundledFile, bundledPage, type Content, type PageName } from './bundled-page.ts'

export type Encoding = 'br' | 'gzip' | 'identity'

export interface Asset {
  readonly path: string
  readonly type: string
  /** Compressed on the first request. */
  readonly encoded: (encoding: Encoding) => Promise<Content>
}

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** `first` is 8% smaller for 0.1 s of CPU time after startup. For all dashboard files, this would take 1 s. */
const BROTLI_QUALITY = { first: 11, late: 9 } as const

const compress = async (content: Content, encoding: Encoding, when: keyof typeof BROTLI_QUALITY): Promise<Content> => {
  if (encoding === 'identity') return content
  if (encoding === 'gzip') return Uint8Array.from(await compressGzip(content, { level: 9 }))
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[when],
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  }
  return Uint8Array.from(await compressBrotli(content, { params }))
}

const toAsset = ({ name, type, content }: BundledFile, isFirst: (path: string) => boolean): Asset => {
  const path = ASSET_PATH + name
  const when = isFirst(path) ? 'first' : 'late'
  const done = new Map<Encoding, Promise<Content>>()
  return {
    path,
    type,
    encoded: (encoding) => {
      let compressed = done.get(encoding)
      if (compressed === undefined) {
        compressed = compress(content, encoding, when)
        done.set(encoding, compressed)
      }
      return compressed
    },
  }
}

const NONCE_PLACE = 'NONCE-OF-THIS-RESPONSE'

interface PageBuild {
  readonly page: PageName
  /** Name in errors, such as `the verification page`. */
  readonly title: string
  /** Path of the public URL, without a trailing slash. */
  readonly basePath: string
  /** Inserts HTML known only at startup. */
  readonly fill?: (html: string) => string
  /** Base names of alternative files, such as languages; each visitor needs exactly one. */
  readonly early?: readonly string[]
}

export const buildPageAssets = async (build: PageBuild) => {
  const { page, title, basePath, fill, early = [] } = build
  const { html: pageText, files } = await bundledPage(page, title, basePath)
  const isNamed = (path: string, name: string): boolean => path.startsWith(`${ASSET_PATH}${name}-`)
  const isFirst = (path: string): boolean => pageText.includes(path) || early.some((name) => isNamed(path, name))
  const all = files.map((file) => toAsset(file, isFirst))
  const byPath = new Map(all.map((asset) => [asset.path, asset]))
  const withNonce = (text: string): readonly string[] => {
    const filled = text.replaceAll(/<(script|link rel="modulepreload") /g, `<$1 nonce="${NONCE_PLACE}" `)
    return (fill === undefined ? filled : fill(filled)).split(NONCE_PLACE)
  }
  const preload = (path: string): string =>
    pageText.replace('</head>', () => `<link rel="modulepreload" crossorigin href="${basePath}${path}"></head>`)
  const plain = withNonce(pageText)
  const preloading = new Map(
    early.flatMap((name) => {
      const found = all.find(({ path }) => isNamed(path, name))
      return found === undefined ? [] : [[name, withNonce(preload(found.path))] as const]
    }),
  )
  return {
    /** @param nonce of the response @param name one of the build's `early` files, loaded together with the page */
    page: (nonce: string, name: string = ''): string => (preloading.get(name) ?? plain).join(nonce),
    /** Every path occurs in the page or in another asset. */
    find: (path: string): Asset | undefined => byPath.get(path),
    all,
  }
}

export type PageAssets = Awaited<ReturnType<typeof buildPageAssets>>

/** Returns the most compact encoding that the browser accepts. */
export const chooseEncoding = (acceptEncoding: string | null): Encoding => {
  const accepted = (acceptEncoding ?? '').split(',').map((part) => part.trim().split(';')[0])
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : 'identity'
}

export const assetResponse = async (asset: Asset, request: Request): Promise<Response> => {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))
  const headers: Record<string, string> = {
    'content-type': asset.type,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  }
  if (encoding !== 'identity') headers['content-encoding'] = encoding
  return new Response(request.method === 'HEAD' ? null : await asset.encoded(encoding), { headers })
}
