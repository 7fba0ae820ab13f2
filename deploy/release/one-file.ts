// Builds Countersign as a single executable for a platform: runtime, code, pages, templates and libraries.
//   bun deploy/release/one-file.ts --target linux-x64 --out DIR
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { readLockedPackages, readManifest } from '../../src/cli/locked-packages.ts'
import { bundlePage } from '../../src/pages/bundle-page.ts'
import { BASE_PLACE, PAGE_NAMES } from '../../src/pages/bundled-page.ts'
import type { BuiltPage } from '../../src/program/built.ts'

const ROOT = join(import.meta.dir, '..', '..')

const USAGE = `Usage: bun deploy/release/one-file.ts [--target TARGET]… --out FOLDER [--json]

Makes Countersign as one executable file, with its SHA-256 in a file beside it.

  --target TARGET  linux-x64, linux-arm64, darwin-x64, darwin-arm64 or windows-x64; all of them unless given
  --out FOLDER     Where the files go
  --json           Print what was made as JSON
  --help           Print this

Bun gets the runtime of another platform, and \`bun install\` its libraries, from their registries.
Exit codes: 0 done, 1 a file can't be made, 2 the call is wrong.
`

/** Differences between the platforms: npm names, and the addon of the package secp256k1. */
const PLATFORMS = {
  'linux-x64': { os: 'linux', cpu: 'x64', secp256k1: 'linux-x64/secp256k1.glibc.node' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', secp256k1: null },
  'darwin-x64': { os: 'darwin', cpu: 'x64', secp256k1: null },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64', secp256k1: 'darwin-arm64/secp256k1.node' },
  'windows-x64': { os: 'win32', cpu: 'x64', secp256k1: 'win32-x64/secp256k1.node' },
} as const

export type OneFileTarget = keyof typeof PLATFORMS
export const ONE_FILE_TARGETS = Object.keys(PLATFORMS) as readonly OneFileTarget[]

export interface OneFile {
  readonly target: OneFileTarget
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** Names of the included libraries. */
  readonly natives: readonly string[]
}

export interface OneFileOptions {
  readonly target: OneFileTarget
  /** Output folder. */
  readonly out: string
  readonly tell: (line: string) => void
  /**
   * Whether to write the libraries next to the executable too, for systems on which it cannot write loadable libraries.
   */
  readonly nativesBeside?: boolean
}

/** A file can't be built. The message is one line. */
export class OneFileError extends Error {
  override readonly name = 'OneFileError'
}

const isHost = (target: OneFileTarget): boolean =>
  PLATFORMS[target].os === process.platform && PLATFORMS[target].cpu === process.arch

/** Returns the packages of the lock file for a platform; for the current platform, the packages of this folder. */
const packagesFor = (target: OneFileTarget, scratch: string): string => {
  if (isHost(target)) return join(ROOT, 'node_modules')
  const { os, cpu } = PLATFORMS[target]
  const folder = join(scratch, 'packages')
  mkdirSync(folder)
  for (const name of ['package.json', 'bun.lock', 'bunfig.toml']) cpSync(join(ROOT, name), join(folder, name))
  const words = ['install', '--frozen-lockfile', '--production', '--ignore-scripts', `--os=${os}`, `--cpu=${cpu}`]
  const { success, stderr } = Bun.spawnSync([process.execPath, ...words], { cwd: folder, stdin: 'ignore' })
  if (!success) throw new OneFileError(`the packages for ${target} can't be had: ${stderr.toString().trim()}`)
  return join(folder, 'node_modules')
}

/** Libraries by their relative paths: `sharp.node` finds libvips relative to itself. */
const nativesIn = (packages: string, target: OneFileTarget): ReadonlyMap<string, string> => {
  const natives = new Map<string, string>()
  const { os, cpu, secp256k1 } = PLATFORMS[target]
  if (secp256k1 !== null) natives.set('secp256k1.node', join(packages, 'secp256k1/prebuilds', secp256k1))
  for (const name of [`@img/sharp-${os}-${cpu}`, `@img/sharp-libvips-${os}-${cpu}`]) {
    const folder = join(packages, name, 'lib')
    if (!existsSync(folder)) continue
    for (const file of readdirSync(folder)) {
      if (/\.(node|so[.\d]*|dylib|dll)$/.test(file)) natives.set(`${name}/lib/${file}`, join(folder, file))
    }
  }
  return natives
}

const isSharp = (name: string): boolean => /\/sharp-[^/]*\.node$/.test(name)

/** Bundles the pages into a folder and returns their paths. */
const buildPages = async (scratch: string): Promise<Record<string, BuiltPage>> => {
  const pages: Record<string, BuiltPage> = {}
  for (const page of PAGE_NAMES) {
    const folder = join(scratch, page)
    mkdirSync(folder)
    const { html, files } = await bundlePage(page, BASE_PLACE)
    const htmlPath = join(folder, `${page}.page`)
    writeFileSync(htmlPath, html)
    pages[page] = {
      html: htmlPath,
      files: files.map(({ name, type, content }) => {
        // Without an extension, because the bundler would treat a script as source code.
        const path = join(folder, `${name}.page`)
        writeFileSync(path, content)
        return { name, type, path }
      }),
    }
  }
  return pages
}

/** Followed by a number: the build must not contain a path of the building machine, or two builds would differ. */
const INSIDE = 'inside:'

/** Returns a module that replaces src/program/built.ts with paths of files inside the executable. */
const builtModule = (
  target: OneFileTarget,
  pages: Readonly<Record<string, BuiltPage>>,
  packages: string,
  natives: ReadonlyMap<string, string>,
): { readonly code: string; readonly paths: readonly string[] } => {
  const paths: string[] = []
  const imports: string[] = []
  const inside = (path: string): string => {
    imports.push(`import file${imports.length} from ${JSON.stringify(INSIDE + imports.length)} with { type: 'file' }`)
    paths.push(path)
    return `file${imports.length - 1}`
  }
  const object = (entries: readonly (readonly [string, string])[]): string =>
    `{ ${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')} }`
  const pageOf = ({ html, files }: BuiltPage): string => {
    const list = files.map(({ name, type, path }) =>
      object([
        ['name', JSON.stringify(name)],
        ['type', JSON.stringify(type)],
        ['path', inside(path)],
      ]),
    )
    return object([
      ['html', inside(html)],
      ['files', `[${list.join(', ')}]`],
    ])
  }
  const built = object([
    ['target', JSON.stringify(target)],
    ['pages', object(Object.entries(pages).map(([name, page]) => [name, pageOf(page)]))],
    ['packages', inside(packages)],
    ['natives', object([...natives].map(([name, path]) => [name, inside(path)]))],
  ])
  return { code: `${imports.join('\n')}\nexport const BUILT = ${built}\n`, paths }
}

/** Replaces only the part of sharp that finds its library. */
const sharpModule = (natives: ReadonlyMap<string, string>, kind: string): string => {
  const name = [...natives.keys()].find(isSharp) ?? 'none'
  const load = `createRequire(import.meta.url)(nativeFile(${JSON.stringify(name)}))`
  const imports = `import { createRequire } from 'node:module'
import { nativeFile } from ${JSON.stringify(join(ROOT, 'src/program/native-files.ts'))}
`
  if (kind === 'mjs') return `${imports}export default ${load}\n`
  return `const { createRequire } = require('node:module')
const { nativeFile } = require(${JSON.stringify(join(ROOT, 'src/program/native-files.ts'))})
module.exports = createRequire(__filename)(nativeFile(${JSON.stringify(name)}))
`
}

/** @throws OneFileError */
export const makeOneFile = async (options: OneFileOptions): Promise<OneFile> => {
  const { target, out, tell, nativesBeside = false } = options
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-one-file-'))
  try {
    tell(`${target}: packages`)
    const natives = nativesIn(packagesFor(target, scratch), target)
    if (![...natives.keys()].some(isSharp))
      throw new OneFileError(`the packages for ${target} have no library of sharp`)
    tell(`${target}: pages`)
    const pages = await buildPages(scratch)
    const packages = join(scratch, 'packages.list')
    writeFileSync(packages, JSON.stringify(readLockedPackages()))
    mkdirSync(out, { recursive: true })
    const path = join(
      out,
      `countersign-${readManifest().version}-${target}${target.startsWith('windows') ? '.exe' : ''}`,
    )
    const built = builtModule(target, pages, packages, natives)
    tell(`${target}: runtime and code`)
    const result = await Bun.build({
      entrypoints: [
        join(ROOT, 'src/one-file.ts'),
        ...[...new Glob('{src,workers}/**/*.worker.ts').scanSync({ cwd: ROOT })]
          .sort()
          .map((entry) => join(ROOT, entry)),
      ],
      root: ROOT,
      target: 'bun',
      format: 'esm',
      splitting: true,
      bytecode: true,
      minify: { whitespace: true, syntax: true, identifiers: false },
      compile: {
        target: `bun-${target}`,
        outfile: path,
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
      plugins: [
        {
          name: 'what is made ahead of time',
          setup: (build) => {
            build.onLoad({ filter: /[\\/]src[\\/]program[\\/]built\.ts$/ }, () => ({
              contents: built.code,
              loader: 'js',
            }))
            build.onResolve({ filter: /^inside:/ }, ({ path: file }) => ({ path: file, namespace: 'inside' }))
            build.onLoad({ filter: /./, namespace: 'inside' }, ({ path: file }) => ({
              contents: readFileSync(built.paths[Number(file.replace(INSIDE, ''))] ?? ''),
              loader: 'file',
            }))
            build.onLoad({ filter: /[\\/]sharp[\\/]dist[\\/]sharp\.[cm]js$/ }, ({ path: file }) => ({
              contents: sharpModule(natives, file.slice(-3)),
              loader: 'js',
            }))
          },
        },
      ],
    }).catch((error: unknown) => {
      const detail = error instanceof AggregateError ? error.errors.map(String).join('; ') : String(error)
      throw new OneFileError(`${target} can't be built: ${detail}`)
    })
    if (!result.success) throw new OneFileError(`${target} can't be built: ${result.logs.map(String).join('; ')}`)
    if (nativesBeside) for (const [name, from] of natives) cpSync(from, join(`${path}.native`, name))
    const content = readFileSync(path)
    const sha256 = createHash('sha256').update(content).digest('hex')
    writeFileSync(`${path}.sha256`, `${sha256}  ${path.slice(out.length).replace(/^\//, '')}\n`)
    return { target, path, bytes: content.length, sha256, natives: [...natives.keys()] }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

const isTarget = (text: string): text is OneFileTarget => Object.hasOwn(PLATFORMS, text)

const run = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', multiple: true },
      out: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const targets = values.target ?? ONE_FILE_TARGETS
  const unknown = targets.find((target) => !isTarget(target))
  if (values.out === undefined || unknown !== undefined) {
    process.stderr.write(values.out === undefined ? '--out FOLDER is missing\n' : `there is no target ${unknown}\n`)
    return 2
  }
  const made: OneFile[] = []
  for (const target of targets.filter(isTarget)) {
    made.push(await makeOneFile({ target, out: values.out, tell: (line) => void process.stderr.write(`${line}\n`) }))
  }
  const lines = made.map(({ path, bytes, sha256 }) => `${sha256}  ${path}  ${(bytes / 2 ** 20).toFixed(1)} MiB\n`)
  process.stdout.write(values.json === true ? `${JSON.stringify(made, null, 2)}\n` : lines.join(''))
  return 0
}

if (import.meta.main) {
  try {
    process.exitCode = await run()
  } catch (error) {
    const isCall = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') === true
    if (!isCall && !(error instanceof OneFileError)) throw error
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = isCall ? 2 : 1
  }
}
