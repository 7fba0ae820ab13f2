// Bundles a page from source, for the one-file program or at the start of a service that runs from source (in a
// separate process, bundle-page.process.ts).
import { basename, join } from 'node:path'
import { ASSET_PATH, type BundledPage, type PageName } from './bundled-page.ts'

/** Second style sheet of a page, which its script loads on demand. */
const LATE_STYLES: ReadonlyMap<PageName, string> = new Map([['dashboard', 'styles/late.css']])
const LATE_PLACE = 'LATE-STYLES'

/**
 * @param basePath path of the page's public URL, without a trailing slash
 * @throws the bundler's errors
 */
export const bundlePage = async (page: PageName, basePath: string): Promise<BundledPage> => {
  const late = LATE_STYLES.get(page)
  const { outputs } = await Bun.build({
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
  })
  const html = outputs.find(({ path }) => path.endsWith('.html'))
  if (html === undefined) throw new Error('the bundler made no page')
  const files = await Promise.all(
    outputs
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
