// Writes a bundled page to standard output: one line of JSON, then the files. Runs in a separate process, because the
// bundler keeps about 12 MB of memory. Arguments: page, path of its public URL.
import { withHead } from '../lib/headed-bytes.ts'
import { bundlePage } from './bundle-page.ts'
import { type BundledHead, PAGE_NAMES } from './bundled-page.ts'

const [name, basePath = ''] = process.argv.slice(2)
const page = PAGE_NAMES.find((each) => each === name)
if (page === undefined) throw new Error('the first argument is the name of a page')
const { html, files } = await bundlePage(page, basePath)
const head: BundledHead = {
  html,
  files: files.map(({ name, type, content }) => ({ name, type, size: content.length })),
}
const contents = files.map(({ content }) => content)
await Bun.write(Bun.stdout, withHead(head, contents))
