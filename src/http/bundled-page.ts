// A page's HTML and its files. From the source Bun bundles them; the one-file program has them inside, bundled when it was
// made, for a place that is only known at its start.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { NamedError } from '../domain/errors.ts'
import { BUILT, type BuiltPage } from '../program/built.ts'

export const ASSET_PATH = '/assets/'

/** Each is in `src/NAME/page/page.html`. */
export const PAGE_NAMES = ['dashboard', 'portal'] as const
export type PageName = (typeof PAGE_NAMES)[number]

export type Content = Uint8Array<ArrayBuffer>

export interface BundledFile {
  readonly name: string
  readonly type: string
  readonly content: Content
}

export interface BundledPage {
  readonly html: string
  readonly files: readonly BundledFile[]
}

/** The page could not be built: the service does not start without it. */
class PageBuildError extends NamedError {}

/** Stands for the path part of the page's public address. */
export const BASE_PLACE = '/BASE-PATH-OF-THIS-PAGE'

/** A style sheet beside a page's first one, which its script loads when what it is for is shown. */
const LATE_STYLES: ReadonlyMap<PageName, string> = new Map([['dashboard', 'styles/late.css']])
/** Stands in the HTML for the address of the late style sheet. */
const LATE_PLACE = 'LATE-STYLES'

/** @param basePath path part of the page's public address, without a trailing slash */
export const bundlePage = async (page: PageName, title: string, basePath: string): Promise<BundledPage> => {
  const late = LATE_STYLES.get(page)
  const result = await Bun.build({
    entrypoints: ['page.html', ...(late === undefined ? [] : [late])].map((name) =>
      join(import.meta.dir, '..', page, 'page', name),
    ),
    target: 'browser',
    minify: true,
    splitting: true,
    sourcemap: 'none',
    publicPath: basePath + ASSET_PATH,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  }).catch((error: unknown) => {
    throw new PageBuildError(`${title} could not be bundled`, { cause: error })
  })
  const html = result.outputs.find(({ path }) => path.endsWith('.html'))
  if (!result.success || html === undefined) throw new PageBuildError(`${title} could not be bundled`)
  const files = await Promise.all(
    result.outputs
      .filter((output) => output !== html)
      .map(async (output) => ({
        name: basename(output.path),
        type: output.type,
        content: new Uint8Array(await output.arrayBuffer()),
      })),
  )
  const lateFile = files.find(({ name }) => name.startsWith('late-') && name.endsWith('.css'))
  return { html: (await html.text()).replace(LATE_PLACE, basePath + ASSET_PATH + (lateFile?.name ?? '')), files }
}

const readBuilt = ({ html, files }: BuiltPage, basePath: string): BundledPage => {
  const place = (text: string): string => text.replaceAll(BASE_PLACE, () => basePath)
  return {
    html: place(readFileSync(html, 'utf8')),
    files: files.map(({ name, type, path }) => ({
      name,
      type,
      content: type.startsWith('text/')
        ? new TextEncoder().encode(place(readFileSync(path, 'utf8')))
        : new Uint8Array(readFileSync(path)),
    })),
  }
}

/** @throws PageBuildError */
export const bundledPage = async (page: PageName, title: string, basePath: string): Promise<BundledPage> => {
  const built = BUILT?.pages[page]
  return built === undefined ? await bundlePage(page, title, basePath) : readBuilt(built, basePath)
}
