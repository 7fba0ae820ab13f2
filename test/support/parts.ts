// The parts of the product that tests check: the core and each module. A test file belongs to a module if it is in the folder
// test/NAME or test/long/NAME, or if it or its support code imports from src/modules/NAME. All others belong to the core: they
// run in a tree without src/modules.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..')
const MODULE = /^src\/modules\/([^/]+)\//
const FOLDER = /^test\/(?:long\/)?([^/]+)\//

/** Files that list all modules. A tree without modules has empty lists. */
export const MODULE_LISTS: Readonly<Record<string, string>> = {
  'src/modules.ts':
    "import type { Module } from './module-interface/module.ts'\n\nexport const MODULES: readonly Module[] = []\n",
  'test/admin/support/module-services.ts': 'export const moduleServices = (_near: unknown): readonly never[] => []\n',
  'src/module-routes.ts': 'export type ModuleRoute = never\n\nexport type ModuleCommand = never\n',
  'src/module-pages.ts':
    "import type { ModulePages } from './dashboard/page/module-pages.ts'\n\nexport const MODULE_PAGES: readonly ModulePages[] = []\n",
}

const MODULE_NAMES: readonly string[] = existsSync(join(ROOT, 'src', 'modules'))
  ? readdirSync(join(ROOT, 'src', 'modules'))
  : []

export const PARTS: readonly string[] = ['core', ...MODULE_NAMES]

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const known = new Map<string, readonly string[]>()

/**
 * Returns the files of the repository that a file imports, statically or dynamically. Does not follow core code, which
 * imports no module.
 */
const importsOf = (path: string): readonly string[] => {
  const found = known.get(path)
  if (found !== undefined) return found
  const isFollowed = !path.startsWith('src/') && !(path in MODULE_LISTS) && /\.tsx?$/.test(path)
  const source = isFollowed && existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : ''
  const imports = transpilers[path.endsWith('x') ? 'tsx' : 'ts']
    .scanImports(source.replace(/^#!.*/, ''))
    .flatMap((each) => (each.path.startsWith('.') ? [normalize(join(dirname(path), each.path))] : []))
  known.set(path, imports)
  return imports
}

/** Returns the names of the modules that a test file belongs to. @param path from the root of the repository */
export const modulesOf = (path: string): ReadonlySet<string> => {
  const folder = FOLDER.exec(path)?.[1]
  const modules = new Set(MODULE_NAMES.filter((name) => name === folder))
  const reached = new Set([path])
  for (const each of reached) {
    const module = MODULE.exec(each)?.[1]
    if (module !== undefined) modules.add(module)
    for (const target of importsOf(each)) reached.add(target)
  }
  return modules
}

/** Returns whether a test file belongs to the part. @param path from the root of the repository */
export const isOfPart = (path: string, part: string): boolean => {
  const modules = modulesOf(path)
  return part === 'core' ? modules.size === 0 : modules.has(part)
}
