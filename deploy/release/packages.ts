// Packs @countersign/client and @countersign/contracts for npm with the public URL of their source, and publishes them.
// The publisher specifies the URL, because the repository does not contain it.
//   bun deploy/release/packages.ts --repository https://github.com/OWNER/NAME --out DIR
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dir, '..', '..')
/** Folders of the packages. */
const FOLDERS = ['src/client', 'contracts']

const USAGE = `Usage: bun deploy/release/packages.ts --repository URL --out FOLDER [--publish] [--json]

Packs @countersign/client and @countersign/contracts as npm takes them, one file each, with the address of their source.

  --repository URL  https address of the public repository, for example https://github.com/OWNER/NAME
  --out FOLDER      Where the files go
  --publish         Publish them with npm, which signs in CI where each was built (provenance)
  --json            Print what was made as JSON
  --help            Print this

Exit codes: 0 done, 1 a package can't be made or published, 2 the call is wrong.
`

/** A package could not be packed or published. The message is from the tool. */
class PackageError extends Error {
  override readonly name = 'PackageError'
}

/** Invalid arguments, described in one line. */
class CallError extends Error {
  override readonly name = 'CallError'
}

export interface Packed {
  readonly name: string
  readonly version: string
  /** Path of the file to publish. */
  readonly path: string
}

const run = (words: readonly string[], cwd: string): void => {
  const { success, stderr } = Bun.spawnSync([...words], { cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  if (!success) throw new PackageError(`${words.slice(0, 3).join(' ')}: ${stderr.toString().trim()}`)
}

/** @throws CallError */
const parseRepository = (text: string | undefined): string => {
  if (text === undefined)
    throw new CallError('--repository URL is missing: nothing is packed without the address of its source')
  const address = text.replace(/(\.git)?\/?$/, '')
  if (!/^https:\/\/[a-z0-9.-]+(?:\/[\w.-]+){2,}$/i.test(address)) {
    throw new CallError(`--repository is no https address of a repository: ${text}`)
  }
  return address
}

const pack = (folder: string, into: string, ...options: readonly string[]): string => {
  mkdirSync(into)
  run([process.execPath, 'pm', 'pack', '--destination', into, ...options], folder)
  const name = readdirSync(into).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new PackageError(`nothing was packed of ${folder}`)
  return join(into, name)
}

/** Packs the published files of a folder, adds the repository's address, and packs the result. @throws PackageError */
const packOne = (folder: string, repository: string, out: string): Packed => {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-package-'))
  try {
    run(
      [
        'tar',
        '--extract',
        '--gzip',
        '--file',
        pack(join(ROOT, folder), join(scratch, 'plain')),
        '--directory',
        scratch,
      ],
      scratch,
    )
    const content = join(scratch, 'package')
    const path = join(content, 'package.json')
    // The scripts belong to the source folder.
    const { scripts: _, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    const addressed = {
      ...manifest,
      homepage: `${repository}#readme`,
      repository: { type: 'git', url: `git+${repository}.git`, directory: folder },
      bugs: { url: `${repository}/issues` },
    }
    writeFileSync(path, `${JSON.stringify(addressed, null, 2)}\n`)
    const packed = pack(content, join(scratch, 'addressed'))
    const file = join(out, packed.split('/').at(-1) ?? '')
    writeFileSync(file, readFileSync(packed))
    return { name: String(manifest['name']), version: String(manifest['version']), path: file }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

const main = (): number => {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      out: { type: 'string' },
      publish: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const repository = parseRepository(values.repository)
  if (values.out === undefined) throw new CallError('--out FOLDER is missing')
  const building = process.env['GITHUB_REPOSITORY']
  if (
    values.publish === true &&
    building !== undefined &&
    !repository.toLowerCase().endsWith(`/${building}`.toLowerCase())
  ) {
    throw new CallError(`--repository is not the one that is being built, ${building}: npm would refuse its provenance`)
  }
  const out = resolve(values.out)
  mkdirSync(out, { recursive: true })
  const packed = FOLDERS.map((folder) => packOne(folder, repository, out))
  if (values.publish === true) for (const { path } of packed) run(['npm', 'publish', path], out)
  const lines = packed.map(({ name, version, path }) => `${name} ${version}  ${path}\n`)
  process.stdout.write(values.json === true ? `${JSON.stringify(packed, null, 2)}\n` : lines.join(''))
  return 0
}

if (import.meta.main) {
  try {
    process.exitCode = main()
  } catch (error) {
    const isCall =
      error instanceof CallError || (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') === true
    if (!isCall && !(error instanceof PackageError)) throw error
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = isCall ? 2 : 1
  }
}
