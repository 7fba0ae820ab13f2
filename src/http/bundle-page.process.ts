// A process that bundles one page and writes it to its standard output: a line of JSON, then the contents of its files.
// What the bundler takes and does not give back, 12 MB in the service's own process, ends with this one.
// Arguments: the page, and the path part of its public address.
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
await Bun.write(Bun.stdout, new Blob([`${JSON.stringify(head)}\n`, ...files.map(({ content }) => content)]))
