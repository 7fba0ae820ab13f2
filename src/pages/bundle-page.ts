// Bundles a page from source, for the single-file executable or at startup (bundle-page.process.ts).
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type BunPlugin, Glob } from 'bun'
import { ASSET_PATH, type BundledPage, type PageName } from './bundled-page.ts'

/** Second style sheet of a page, loaded on demand. */
const LATE_STYLES: ReadonlyMap<PageName, string> = new Map([['dashboard', 'styles/late.css']])
const LATE_PLACE = 'LATE-STYLES'

const SOURCES = join(import.meta.dir, '..')
const PAGE_SOURCES = ['dashboard/page/**/*.{ts,tsx}', 'modules/*/pages/*.{ts,tsx}']
/** Loaded alone: first screens, and files with large libraries. */
const ALONE = /\/(charts|first-steps|signed-out|try-it|qr-code|chart|editor|rule-builder)\.tsx$/
const DYNAMIC_IMPORT = /await import\('([^']+)'\)/g

/** Returns the other files that pages load on demand. */
const lateFiles = (): readonly string[] =>
  PAGE_SOURCES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: SOURCES, absolute: true })])
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(DYNAMIC_IMPORT)].map(([, name = '']) => join(dirname(path), name)),
    )
    .filter((path) => !ALONE.test(path))
    .sort()

/** Joins them into one file, because each request takes longer than their code. */
const joinLateFiles = (): BunPlugin => {
  const files = [...new Set(lateFiles())]
  return {
    name: 'join-late-files',
    setup: (build) => {
      build.onLoad({ filter: /\/(dashboard\/page|modules\/[^/]+\/pages)\/.*\.tsx?$/ }, ({ path, loader }) => ({
        contents: readFileSync(path, 'utf8').replaceAll(DYNAMIC_IMPORT, (text, name: string) => {
          const index = files.indexOf(join(dirname(path), name))
          return index === -1 ? text : `(await import('late-pages')).file${index}`
        }),
        loader,
      }))
      build.onResolve({ filter: /^late-pages$/ }, () => ({ path: 'late-pages', namespace: 'late-pages' }))
      build.onLoad({ filter: /.*/, namespace: 'late-pages' }, () => ({
        contents: files.map((path, index) => `export * as file${index} from ${JSON.stringify(path)}`).join('\n'),
        loader: 'ts',
      }))
    },
  }
}

/** @param basePath path of the public URL, without a trailing slash @throws the bundler's errors */
export const bundlePage = async (page: PageName, basePath: string): Promise<BundledPage> => {
  const late = LATE_STYLES.get(page)
  const { outputs } = await Bun.build({
    entrypoints: ['page.html', ...(late === undefined ? [] : [late])].map((name) =>
      join(import.meta.dir, '..', page, 'page', name),
    ),
    target: 'browser',
    minify: true,
    splitting: true,
    plugins: page === 'dashboard' ? [joinLateFiles()] : [],
    sourcemap: 'none',
    publicPath: basePath + ASSET_PATH,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  const html = outputs.find(({ path }) => path.endsWith('.html'))
  if (html === undefined) throw new Error('the bundler produced no page')
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
