// A root file system of Debian's packages: only what the single-file executable needs, without a shell's tools and
// without a package manager. apt checks the archive's signatures; no script of a package runs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the order in which they are unpacked: the first has the links from /lib to /usr/lib. */
const PACKAGES = [
  'base-files',
  'libc6',
  // Of sharp and of the package secp256k1.
  'gcc-14-base',
  'libgcc-s1',
  'libstdc++6',
  // Signs fastest.
  'libsecp256k1-2',
  // Sets the limits of the processes that open pictures.
  'dash',
  // Reaps what a killed child leaves behind, and hands on SIGTERM and SIGHUP.
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
  /** As Debian names it. */
  readonly architecture: 'amd64' | 'arm64'
  /** A time of snapshot.debian.org, for example 20261101T000000Z; null for the packages of today. */
  readonly snapshot: string | null
  /** A folder for what is fetched. */
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

/** With sources, lists and an architecture of its own: nothing of the machine's own apt is read or changed. */
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

/** All of Debian's certificates in the one file that programs read; what the package's own script does. */
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

/** @returns the packages, as `name=version`. @throws DebianRootError */
export const makeDebianRoot = (options: DebianRootOptions): readonly string[] => {
  const { root } = options
  if (!existsSync(KEYRING)) throw new DebianRootError(`${KEYRING} is missing: install debian-archive-keyring`)
  mkdirSync(join(root, 'var/lib/dpkg/status.d'), { recursive: true })
  const installed = download(options).map((file) => {
    run(['dpkg-deb', '--extract', file, root], root)
    const control = run(['dpkg-deb', '--field', file], root)
    const [, name = ''] = /^Package: (.+)$/m.exec(control) ?? []
    const [, version = ''] = /^Version: (.+)$/m.exec(control) ?? []
    // Where scanners of images look for packages in roots that have no package manager.
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
