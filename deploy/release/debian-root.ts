// Creates a root file system from Debian packages with only the requirements of the single-file executable, without
// shell tools and package manager. apt verifies the archive's signatures; no package script runs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In unpacking order: the first package contains the links from /lib to /usr/lib. */
const PACKAGES = [
  'base-files',
  'libc6',
  // Required by sharp and the package secp256k1.
  'gcc-14-base',
  'libgcc-s1',
  'libstdc++6',
  // The fastest signing backend.
  'libsecp256k1-2',
  // Sets the limits of the processes that open pictures.
  'dash',
  // Reaps orphaned processes, and forwards SIGTERM and SIGHUP.
  'tini',
  'ca-certificates',
]
const UNUSED = ['usr/share/man', 'usr/share/lintian', 'usr/share/locale', 'usr/share/base-files', 'usr/share/menu']
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The packages could not be downloaded or unpacked. The message is from apt or dpkg. */
export class DebianRootError extends Error {
  override readonly name = 'DebianRootError'
}

export interface DebianRootOptions {
  readonly suite: string
  /** Debian's name of the architecture. */
  readonly architecture: 'amd64' | 'arm64'
  /** A timestamp of snapshot.debian.org, for example 20261101T000000Z; null for the current packages. */
  readonly snapshot: string | null
  /** Folder for downloads. */
  readonly scratch: string
  /** Made. */
  readonly root: string
}

const run = (words: readonly string[], cwd: string): string => {
  const { success, stdout, stderr } = Bun.spawnSync([...words], {
    cwd,
    stdin: 'ignore',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  if (!success) throw new DebianRootError(`${words[0]}: ${stderr.toString().trim()}`)
  return stdout.toString()
}

const sourcesOf = (suite: string, snapshot: string | null): string => {
  const place = (name: string): string =>
    snapshot === null ? `http://deb.debian.org/${name}` : `http://snapshot.debian.org/archive/${name}/${snapshot}`
  const options = `[signed-by=${KEYRING}${snapshot === null ? '' : ' check-valid-until=no'}]`
  return [
    `deb ${options} ${place('debian')} ${suite} main`,
    `deb ${options} ${place('debian-security')} ${suite}-security main`,
    '',
  ].join('\n')
}

/** Uses separate sources, lists and architecture: apt's configuration on the machine is neither read nor changed. */
const download = ({ suite, architecture, snapshot, scratch }: DebianRootOptions): readonly string[] => {
  const apt = join(scratch, 'apt')
  const packages = join(scratch, 'packages')
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'etc'])
    mkdirSync(join(apt, folder), { recursive: true })
  mkdirSync(packages)
  writeFileSync(join(apt, 'sources.list'), sourcesOf(suite, snapshot))
  writeFileSync(join(apt, 'status'), '')
  const settings = {
    'Dir::Etc': join(apt, 'etc'),
    'Dir::Etc::SourceList': join(apt, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': join(apt, 'state'),
    'Dir::State::status': join(apt, 'status'),
    'Dir::Cache': join(apt, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  run(['apt-get', ...options, 'update'], scratch)
  run(['apt-get', ...options, 'download', ...PACKAGES], packages)
  return PACKAGES.map((name) => {
    const file = readdirSync(packages).find((found) => found.startsWith(`${name}_`))
    if (file === undefined) throw new DebianRootError(`apt-get has brought no ${name}`)
    return join(packages, file)
  })
}

/** Concatenates Debian's certificates into the file that programs read, as the package's script does. */
const joinCertificates = (root: string): void => {
  const folder = join(root, 'usr/share/ca-certificates/mozilla')
  const names = readdirSync(folder).sort()
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true })
  writeFileSync(
    join(root, 'etc/ssl/certs/ca-certificates.crt'),
    names.map((name) => readFileSync(join(folder, name), 'utf8')).join(''),
  )
  rmSync(folder, { recursive: true })
}

/** @returns the packages as `name=version` @throws DebianRootError */
export const makeDebianRoot = (options: DebianRootOptions): readonly string[] => {
  const { root } = options
  if (!existsSync(KEYRING)) throw new DebianRootError(`${KEYRING} is missing: install debian-archive-keyring`)
  mkdirSync(join(root, 'var/lib/dpkg/status.d'), { recursive: true })
  const installed = download(options).map((file) => {
    run(['dpkg-deb', '--extract', file, root], root)
    const control = run(['dpkg-deb', '--field', file], root)
    const [, name = ''] = /^Package: (.+)$/m.exec(control) ?? []
    const [, version = ''] = /^Version: (.+)$/m.exec(control) ?? []
    // Image scanners look for packages here if there is no package manager.
    writeFileSync(join(root, 'var/lib/dpkg/status.d', name), control)
    return `${name}=${version}`
  })
  joinCertificates(root)
  for (const name of UNUSED) rmSync(join(root, name), { recursive: true, force: true })
  const documents = join(root, 'usr/share/doc')
  for (const name of readdirSync(documents)) {
    const copyright = join(documents, name, 'copyright')
    const kept = existsSync(copyright) ? readFileSync(copyright) : null
    rmSync(join(documents, name), { recursive: true })
    if (kept === null) continue
    mkdirSync(join(documents, name))
    writeFileSync(copyright, kept)
  }
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/usr/sbin/nologin\ncountersign:x:1000:1000::/data:/usr/sbin/nologin\n',
  )
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\ncountersign:x:1000:\n')
  return installed
}
