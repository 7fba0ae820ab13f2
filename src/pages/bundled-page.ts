// HTML and files of a page. From source, a process bundles them at startup; the single-file executable contains them.
import { readFileSync } from 'node:fs'
import { headOf } from '../lib/headed-bytes.ts'
import { NamedError } from '../lib/named-error.ts'
import { BUILT, type BuiltPage } from '../program/built.ts'
import { ownProcess } from '../program/entries.ts'

export const ASSET_PATH = '/assets/'

/** Names of pages, each in `src/NAME/page/page.html`. */
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

class PageBuildError extends NamedError {}

export const BASE_PLACE = '/BASE-PATH-OF-THIS-PAGE'

const read = ({ html, files }: BuiltPage, basePath: string): BundledPage => {
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

/** First line of bundle-page.process.ts's output; the contents follow in this order. */
export interface BundledHead {
  readonly html: string
  readonly files: readonly { readonly name: string; readonly type: string; readonly size: number }[]
}

const bundle = async (page: PageName, title: string, basePath: string): Promise<BundledPage> => {
  const { words, environment } = ownProcess('src/pages/bundle-page.process.ts')
  const child = Bun.spawn([...words, page, basePath], {
    env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0', ...environment },
    stderr: 'pipe',
  })
  const [output, complaints, exitCode] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (exitCode !== 0) throw new PageBuildError(`${title} could not be bundled`, { cause: new Error(complaints) })
  const { head, rest } = headOf(new Uint8Array(output))
  const { html, files } = head as BundledHead
  let end = 0
  return {
    html,
    files: files.map(({ name, type, size }) => {
      end += size
      return { name, type, content: rest.subarray(end - size, end) }
    }),
  }
}

export const bundledPage = async (page: PageName, title: string, basePath: string): Promise<BundledPage> => {
  const built = BUILT?.pages[page]
  return built === undefined ? await bundle(page, title, basePath) : read(built, basePath)
}
