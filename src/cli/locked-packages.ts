// Packages of the lock file with their licenses, for the bill of materials.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { BUILT } from '../program/built.ts'

/** Root folder, if the program runs from source. */
const ROOT = join(import.meta.dir, '..', '..')

export interface LockedPackage {
  /** Position in the tree: `viem`, or `borsh/bs58` for a version that only borsh uses. */
  readonly place: string
  readonly name: string
  readonly version: string
  /** Subresource integrity, such as `sha512-…`. */
  readonly integrity: string
  /** Null if package.json has none, or the package isn't installed on this platform. */
  readonly license: string | null
  /** Whether this project's package.json lists it. */
  readonly direct: boolean
  /** Whether the running service needs it. */
  readonly production: boolean
  /** Positions of the package's dependencies. */
  readonly needs: readonly string[]
}

type Versions = Readonly<Record<string, string>>
interface Needs {
  readonly dependencies?: Versions
  readonly optionalDependencies?: Versions
}
type LockEntry = readonly [resolution: string, registry: string, needs: Needs, integrity: string]
interface LockFile {
  readonly workspaces: Readonly<Record<string, Needs & { readonly devDependencies?: Versions }>>
  readonly packages: Readonly<Record<string, LockEntry>>
}

/** `packageManager` is the runtime, such as `bun@1.4.4`. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly packageManager: string
}

export const readManifest = (): Manifest => manifest

/** `@a/b/c` → `['@a/b', 'c']`. */
const namesIn = (place: string): string[] => place.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []

const licenseAt = (place: string): string | null => {
  const path = join(ROOT, ...namesIn(place).flatMap((name) => ['node_modules', name]), 'package.json')
  if (!existsSync(path)) return null
  const { license } = JSON.parse(readFileSync(path, 'utf8')) as { license?: unknown }
  // In old packages, the license is an object.
  const text = typeof license === 'object' && license !== null ? (license as { type?: unknown }).type : license
  return typeof text === 'string' && text !== '' ? text : null
}

/** Omits peer dependencies, which bunfig.toml doesn't install. @throws Error for an unknown lock file version */
export const readLockedPackages = (): readonly LockedPackage[] => {
  if (BUILT !== null) return JSON.parse(readFileSync(BUILT.packages, 'utf8')) as readonly LockedPackage[]
  const lock = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as LockFile
  const { packages } = lock
  const own = lock.workspaces['']
  if (own === undefined) throw new Error('bun.lock has no root workspace')

  /** Looks next to the dependent, then higher in the tree. */
  const placeOf = (name: string, from: string): string | null => {
    for (let names = namesIn(from); ; names = names.slice(0, -1)) {
      const place = [...names, name].join('/')
      if (Object.hasOwn(packages, place)) return place
      if (names.length === 0) return null
    }
  }
  const needsOf = (place: string): string[] => {
    const { dependencies, optionalDependencies } = packages[place]?.[2] ?? {}
    return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => placeOf(name, place) ?? [])
  }
  const reachable = (...versions: readonly (Versions | undefined)[]): Set<string> => {
    const reached = new Set<string>()
    const reach = (place: string): void => {
      if (reached.has(place)) return
      reached.add(place)
      for (const needed of needsOf(place)) reach(needed)
    }
    for (const name of versions.flatMap((some) => Object.keys(some ?? {}))) reach(name)
    return reached
  }
  const production = reachable(own.dependencies)
  const installed = reachable(own.dependencies, own.devDependencies)
  const direct = new Set([...Object.keys(own.dependencies ?? {}), ...Object.keys(own.devDependencies ?? {})])

  return Object.entries(packages)
    .filter(([place]) => installed.has(place))
    .map(([place, [resolution, , , integrity]]) => {
      const at = resolution.lastIndexOf('@')
      return {
        place,
        name: resolution.slice(0, at),
        version: resolution.slice(at + 1),
        integrity,
        license: licenseAt(place),
        direct: direct.has(place),
        production: production.has(place),
        needs: needsOf(place),
      }
    })
    .sort((a, b) => (a.place < b.place ? -1 : 1))
}
