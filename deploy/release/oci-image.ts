// Builds a container image of Countersign without a container runtime: the single-file executable on a root file system
// of Debian packages. bun deploy/release/oci-image.ts --architecture amd64 --out DIR
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readManifest } from '../../src/cli/locked-packages.ts'
import { DebianRootError, makeDebianRoot } from './debian-root.ts'
import { LayerError, writeImage } from './oci-layout.ts'
import { makeOneFile, OneFileError, type OneFileTarget } from './one-file.ts'

const ROOT = join(import.meta.dir, '..', '..')

const USAGE = `Usage: bun deploy/release/oci-image.ts --out FOLDER [--architecture amd64] [--snapshot TIME] [--json]

Makes an image of one node as an OCI layout: for skopeo, podman, or \`tar -C FOLDER -c . | docker load\`. Needs Debian's apt,
dpkg-deb, tar and debian-archive-keyring; neither root nor a container runtime.

  --out FOLDER         Where the image goes: a folder that is empty or does not exist
  --architecture ARCH  amd64 or arm64; amd64 unless given
  --suite SUITE        Debian's release; trixie unless given
  --snapshot TIME      Packages as of a time of snapshot.debian.org, for example 20261101T000000Z: the image can then be
                       made again later, with the same digest; today's packages unless given
  --json               Print what was made as JSON
  --help               Print this

SOURCE_DATE_EPOCH, in seconds, is the time of the image and its files; 0 unless set.
Exit codes: 0 done, 1 the image can't be made, 2 the call is wrong.
`

const TARGETS = { amd64: 'linux-x64', arm64: 'linux-arm64' } as const satisfies Readonly<Record<string, OneFileTarget>>
export type Architecture = keyof typeof TARGETS

export interface OciImageOptions {
  readonly architecture: Architecture
  readonly out: string
  readonly suite: string
  readonly snapshot: string | null
  readonly createdSeconds: number
  readonly tell: (line: string) => void
}

export interface OciImage {
  /** Digest of the manifest. */
  readonly digest: string
  readonly reference: string
  /** Debian packages as `name=version`. */
  readonly packages: readonly string[]
}

/** @throws OneFileError, DebianRootError, LayerError */
export const makeOciImage = async (options: OciImageOptions): Promise<OciImage> => {
  const { architecture, out, suite, snapshot, createdSeconds, tell } = options
  const { version, license, name } = readManifest()
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-oci-image-'))
  // Packed files keep their permissions from here.
  const umask = process.umask(0o022)
  const folderOf = (layer: string): string => {
    const folder = join(scratch, layer)
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    return folder
  }
  try {
    const target = TARGETS[architecture]
    const made = await makeOneFile({ target, out: join(scratch, 'one-file'), tell, nativesBeside: true })
    tell(`Debian ${suite}`)
    const system = folderOf('system')
    const packages = makeDebianRoot({ suite, architecture, snapshot, scratch, root: system })

    const program = folderOf('program')
    const binary = join(program, 'usr/bin/countersign')
    mkdirSync(join(program, 'usr/bin'), { recursive: true })
    copyFileSync(made.path, binary)
    chmodSync(binary, 0o755)
    cpSync(`${made.path}.native`, `${binary}.native`, { recursive: true })
    mkdirSync(join(program, 'usr/share/doc/countersign'), { recursive: true })
    copyFileSync(join(ROOT, 'LICENSE'), join(program, 'usr/share/doc/countersign/copyright'))

    // Created here, so that volumes mounted on them belong to the service's user.
    const data = folderOf('data-layer')
    for (const folder of ['', 'keystores', 'secrets', 'evidence', 'decisions']) {
      mkdirSync(join(data, 'data', folder), { mode: 0o700 })
    }

    tell('image')
    const digest = writeImage({
      architecture,
      createdSeconds,
      reference: version,
      out,
      layers: [
        { folder: system, owner: 0, made: `Debian ${suite}: ${packages.join(' ')}` },
        { folder: program, owner: 0, made: `${name} ${version}, one file for ${target}` },
        { folder: data, owner: 1000, made: 'the data folder' },
      ],
      config: {
        User: '1000:1000',
        ExposedPorts: { '8080/tcp': {}, '8081/tcp': {}, '8082/tcp': {} },
        Env: [
          'PATH=/usr/bin:/bin',
          'HOME=/tmp',
          'NODE_ENV=production',
          // The allocator keeps freed memory for a while, for speed: see src/cluster/allocator.ts.
          'MIMALLOC_PURGE_DELAY=5000',
          'MIMALLOC_PURGE_HOLES=0',
          'COUNTERSIGN_DATA_DIR=/data',
          'COUNTERSIGN_API_LISTEN=0.0.0.0:8080',
          'COUNTERSIGN_PORTAL_LISTEN=0.0.0.0:8081',
          'COUNTERSIGN_DASHBOARD_LISTEN=0.0.0.0:8082',
        ],
        Entrypoint: ['/usr/bin/tini', '--', '/usr/bin/countersign'],
        Cmd: ['start'],
        Volumes: { '/data': {} },
        WorkingDir: '/data',
        Labels: {
          'org.opencontainers.image.title': name,
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.licenses': license,
          'org.opencontainers.image.base.name': `debian:${suite}`,
        },
        // On SIGTERM, /readyz changes to 503, requests in flight are answered (at most 25 s), and the process ends.
        // Allow 45 s.
        StopSignal: 'SIGTERM',
      },
    })
    return { digest, reference: version, packages }
  } finally {
    process.umask(umask)
    rmSync(scratch, { recursive: true })
  }
}

const run = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      architecture: { type: 'string', default: 'amd64' },
      suite: { type: 'string', default: 'trixie' },
      snapshot: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const { out, architecture, suite, snapshot = null } = values
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const createdSeconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0)
  const fault =
    out === undefined
      ? '--out FOLDER is missing'
      : existsSync(out) && readdirSync(out).length > 0
        ? `${out} is not empty`
        : !Object.hasOwn(TARGETS, architecture)
          ? `there is no architecture ${architecture}`
          : !Number.isSafeInteger(createdSeconds) || createdSeconds < 0
            ? 'SOURCE_DATE_EPOCH is not a number of seconds'
            : null
  if (out === undefined || fault !== null) {
    process.stderr.write(`${fault}\n`)
    return 2
  }
  const tell = (line: string): void => void process.stderr.write(`${line}\n`)
  const made = await makeOciImage({
    architecture: architecture as Architecture,
    out,
    suite,
    snapshot,
    createdSeconds,
    tell,
  })
  process.stdout.write(
    values.json === true ? `${JSON.stringify(made, null, 2)}\n` : `${made.digest}  ${out}:${made.reference}\n`,
  )
  return 0
}

if (import.meta.main) {
  try {
    process.exitCode = await run()
  } catch (error) {
    const isCall = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') === true
    const isOurs = [OneFileError, DebianRootError, LayerError].some((kind) => error instanceof kind)
    if (!isCall && !isOurs) throw error
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = isCall ? 2 : 1
  }
}
