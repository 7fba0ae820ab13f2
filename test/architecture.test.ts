// The allowed imports between folders, and other rules of the source tree.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { Glob } from 'bun'
import { ATTESTATION_PATHS } from '../src/attestation/paths.ts'
import { IDENTITY_PATHS } from '../src/identity/paths.ts'
import { MODULES } from '../src/modules.ts'

const ROOT = join(import.meta.dir, '..')

/**
 * Folder → folders that it may import, which precede it, so that no two folders depend on each other. All may import
 * `src/lib`. A module, its workers and its pages are separate folders. Single files of `workers` are the messages and
 * entries of a process.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/lib': '',
  'src/domain': '',
  'src/program': '',
  'src/telemetry': 'src/domain',
  // Reads machine-readable zones, on the verification page and in the module of documents.
  'src/zone-reader': 'src/domain',
  // Folders and buckets for copies of files.
  'src/object-store': '',
  'src/decision-log': 'src/domain src/object-store',
  // Rules of the policy form, which also run in browsers.
  'src/policy/rule-form': '',
  'src/policy': 'src/domain src/decision-log src/policy/rule-form docs/policies',
  'src/facts': 'src/domain src/policy',
  'src/signing': 'src/domain src/program',
  'src/store': 'src/domain src/program src/decision-log src/policy',
  'src/pool': 'src/domain src/telemetry src/policy src/signing',
  'src/server': 'src/domain src/telemetry',
  'src/attestation': `
    src/domain src/telemetry src/decision-log src/policy src/facts src/signing src/store src/pool src/server`,
  'src/identity': 'src/domain src/program src/telemetry src/policy src/server',
  // The published package contains its imports, which are constants without further imports.
  'src/client': 'src/attestation/paths.ts src/identity/paths.ts',
  'src/pages': 'src/program',
  'src/portal': 'src/domain src/telemetry src/server src/identity src/pages src/zone-reader',
  'src/admin': `
    src/domain src/program src/telemetry src/decision-log src/policy src/facts src/signing src/store src/pool
    src/server src/attestation src/identity workers/index/decision-index-protocol.ts workers/tasks/task-input.ts`,
  'src/dashboard': `
    src/domain src/policy/rule-form src/server src/attestation src/identity src/pages src/admin src/module-routes.ts
    src/module-pages.ts`,
  'src/config': 'src/domain src/object-store src/facts src/server src/identity package.json',
  'src/setup': `
    src/domain src/program src/telemetry src/policy src/facts src/signing src/store src/pool src/server
    src/attestation src/identity src/admin src/config`,
  'src/cluster': `
    src/domain src/program src/telemetry src/policy src/store src/pool src/server src/attestation src/admin
    src/config src/setup`,
  // Declaration, parsing and output of commands.
  'src/command-line': `
    src/domain src/object-store src/decision-log src/policy src/store src/admin src/config src/setup
    src/module-routes.ts`,
  // The interface between the core and modules.
  'src/module-interface': `
    src/domain src/telemetry src/policy src/facts src/signing src/store src/pool src/identity src/admin src/config
    src/setup src/cluster src/command-line workers/tasks/task-input.ts`,
  'src/modules/tracing': 'src/telemetry src/config src/module-interface',
  'src/modules/hardware-keys': `
    src/program src/telemetry src/signing src/pool src/config src/setup src/cluster src/module-interface
    src/modules/hardware-keys/worker`,
  'src/modules/hardware-keys/worker': 'src/signing src/modules/hardware-keys workers/signing/token-protocol.ts',
  'src/modules/documents': `
    src/domain src/zone-reader src/store src/identity src/admin src/cluster src/module-interface
    src/modules/documents/worker`,
  'src/modules/policy-lab': `
    src/domain src/program src/decision-log src/policy src/facts src/store src/admin src/command-line
    src/module-interface src/modules/policy-lab/worker`,
  'src/modules/policy-lab/worker': `
    src/domain src/decision-log src/policy workers/tasks/replay-report.ts workers/tasks/run-task.ts`,
  'src/modules/providers': 'src/domain src/server src/identity src/admin src/module-interface',
  'src/modules/screening': `
    src/domain src/zone-reader src/program src/telemetry src/facts src/store src/identity src/admin src/setup
    src/cluster src/command-line src/modules/documents src/module-interface src/modules/screening/worker`,
  'src/modules/documents/pages': 'src/dashboard/page',
  'src/modules/policy-lab/pages': 'src/dashboard/page',
  'src/modules/providers/pages': 'src/dashboard/page',
  'src/modules/screening/pages': 'src/dashboard/page',
  'src/modules/session-policies/pages': 'src/dashboard/page src/modules/policy-lab/pages',
  'src/modules/transparency/pages': 'src/dashboard/page',
  'src/modules/session-policies': `
    src/domain src/command-line src/modules/policy-lab/operations src/telemetry src/policy src/store src/identity
    src/admin src/module-interface`,
  'src/modules/log-shipping': `
    src/object-store src/program src/telemetry src/decision-log src/store src/config src/cluster src/command-line
    src/module-interface src/modules/log-shipping/worker`,
  'src/modules/backups': `
    src/domain src/object-store src/program src/decision-log src/signing src/store src/identity src/client src/config
    src/setup src/command-line src/module-interface`,
  'src/modules/transparency': `
    src/domain src/object-store src/program src/telemetry src/decision-log src/signing src/store src/server
    src/attestation src/client src/admin src/config src/setup src/cluster src/command-line src/module-interface
    src/modules/transparency/worker`,
  // Signing threads use no database.
  'workers/signing': 'src/domain src/program src/decision-log src/policy src/signing src/pool',
  'workers/index': `
    src/domain src/object-store src/decision-log src/store/decision-index workers/background-process.ts`,
  'src/modules/log-shipping/worker': `
    src/object-store src/decision-log src/modules/log-shipping workers/background-process.ts`,
  // Signs tree heads and verifies logs, without policies and requests.
  'src/modules/transparency/worker': `
    src/object-store src/decision-log src/signing src/store src/modules/transparency workers/background-process.ts
    workers/tasks/run-task.ts workers/tasks/verify-log.ts`,
  // Opens untrusted pictures, with only the zone reader.
  'src/modules/documents/worker': 'src/zone-reader src/modules/documents/portrait-hash.ts',
  'workers/tasks': 'src/domain src/decision-log src/policy workers/background-process.ts',
  // Compares names with lists, without the store and keys.
  'src/modules/screening/worker': `
    src/modules/screening/formats src/modules/screening/matching workers/background-process.ts`,
  workers: '',
  // One part of the service per file, called by src/service.ts in order.
  'src/compose': 'src workers package.json',
  'src/cli': 'src package.json',
  src: 'src workers package.json',
}

/** Returns null if the folder is not in the table. */
const allowedFor = (folder: string): readonly string[] | null => ALLOWED[folder]?.split(/\s+/).filter(Boolean) ?? null

/** Packages that only some files may import. */
const RESERVED: ReadonlyArray<{ pattern: RegExp; places: readonly string[]; why: string }> = [
  {
    pattern: /^bun:sqlite$/,
    places: ['src/store/', 'src/modules/transparency/store/'],
    why: 'only the store uses SQL',
  },
  {
    pattern: /^elysia$/,
    places: [
      'src/server/',
      'src/compose/',
      'src/attestation/endpoint.ts',
      'src/identity/routes.ts',
      'src/portal/',
      'src/admin/admin-api.ts',
      'src/dashboard/listener.ts',
    ],
    why: 'only the server, the composition and route declarations use Elysia',
  },
  {
    pattern: /^sharp$/,
    places: ['src/identity/evidence/reencode.process.ts', 'src/modules/documents/worker/read-picture.process.ts'],
    why: 'untrusted pictures are opened in a process that can be killed',
  },
  {
    pattern: /^bun:ffi$/,
    places: ['src/signing/', 'src/modules/hardware-keys/', 'src/cluster/end-with-supervisor.ts'],
    why: 'native code is for signing, and to end a process with its supervisor',
  },
]

const importsOf = (source: string): string[] =>
  [
    ...source.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*?(?:\{[^}]*\}[^'"\n;]*?)?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s*['"]([^'"]+)['"]/g,
    ),
  ]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .filter((specifier) => specifier !== '')

const folderOf = (path: string): string => {
  const parts = path.split('/')
  const depth = parts[1] !== 'modules' ? 2 : parts[3] === 'worker' || parts[3] === 'pages' ? 4 : 3
  return parts.slice(0, Math.min(parts.length - 1, depth)).join('/')
}

// Without the build output of the client package.
const files = [...new Glob('{src,workers}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
  .filter((path) => !path.startsWith('src/client/dist/'))
  .sort()
const sources = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))

/** Returns the imports of a file that the table forbids. */
const violations = (path: string, source: string): string[] => {
  const folder = folderOf(path)
  const allowed = allowedFor(folder)
  if (allowed === null) return [`${path}: folder ${folder} is not in the import table`]
  const found: string[] = []
  for (const specifier of importsOf(source)) {
    if (!specifier.startsWith('.')) {
      for (const rule of RESERVED) {
        if (rule.pattern.test(specifier) && !rule.places.some((place) => path.startsWith(place))) {
          found.push(`${path} imports ${specifier}: ${rule.why}`)
        }
      }
      continue
    }
    const target = relative(ROOT, normalize(join(ROOT, dirname(path), specifier)))
    const inside = folderOf(target) === folder || dirname(target) === dirname(path)
    const isGeneral = target.startsWith('src/lib/')
    if (!inside && !isGeneral && !allowed.some((entry) => target === entry || target.startsWith(`${entry}/`))) {
      found.push(`${path} imports ${target}`)
    }
  }
  return found
}

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }

/** File → source files that it loads immediately, without imports of types and `import()`. */
const importsAtRunTime = new Map(
  [...sources].map(([path, source]) => {
    const transpiler = path.endsWith('x') ? transpilers.tsx : transpilers.ts
    const specifiers = transpiler
      .scanImports(source.replace(/^#!.*/, ''))
      .filter(({ kind }) => kind !== 'dynamic-import')
    const targets = specifiers.map((specifier) => normalize(join(dirname(path), specifier.path)))
    return [path, targets.filter((target) => sources.has(target))]
  }),
)

/** Returns the entries and all their static imports: source files by path, and packages by name. */
const loadedWith = (entries: readonly string[]): ReadonlySet<string> => {
  const reached = new Set(entries)
  for (const path of reached) {
    const transpiler = path.endsWith('x') ? transpilers.tsx : transpilers.ts
    for (const { kind, path: specifier } of transpiler.scanImports(sources.get(path) ?? '')) {
      if (kind !== 'import-statement') continue
      reached.add(specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier)
    }
  }
  return reached
}

/** Returns the import cycles, each in alphabetical order (Tarjan's strongly connected components). */
const cyclesIn = (edges: ReadonlyMap<string, readonly string[]>): string[][] => {
  const order = new Map<string, number>()
  const open: string[] = []
  const cycles: string[][] = []
  const visit = (path: string): number => {
    const number = order.size
    order.set(path, number)
    let low = number
    open.push(path)
    for (const target of edges.get(path) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target))
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low)
    }
    if (low !== number) return low
    const group = open.splice(open.indexOf(path))
    if (group.length > 1 || edges.get(path)?.includes(path)) cycles.push(group.sort())
    return low
  }
  for (const path of edges.keys()) if (!order.has(path)) visit(path)
  return cycles.sort((one, other) => (one[0] ?? '').localeCompare(other[0] ?? ''))
}

describe('the import table', () => {
  test('is checked: forbidden imports and cycles are recognized', () => {
    expect(files.length).toBeGreaterThan(20)
    const source = `import { a,\n b } from './x.ts'\nimport type { C } from "y"\nexport { d } from 'z'\nimport 'w'`
    expect(importsOf(`${source}\nawait import('v')`)).toEqual(['./x.ts', 'y', 'z', 'w', 'v'])
    const forbidden = violations('src/domain/x.ts', `import { a } from '../server/errors.ts'`)
    expect(forbidden).toEqual(['src/domain/x.ts imports src/server/errors.ts'])
    expect(violations('src/server/x.ts', `import { Database } from 'bun:sqlite'`)).toHaveLength(1)
    expect(violations('src/nowhere/x.ts', '')).toHaveLength(1)
    const edges = { entry: ['a'], a: ['b'], b: ['c', 'd'], c: ['a'], d: [], self: ['self'] }
    expect(cyclesIn(new Map(Object.entries(edges)))).toEqual([['a', 'b', 'c'], ['self']])
  })

  test('lets folders of the core depend only on folders above them in the table', () => {
    const folders = Object.keys(ALLOWED)
    const isBelow = (entry: string, index: number) =>
      folders.indexOf(entry) > index && !entry.startsWith('src/modules/')
    const below = folders.flatMap((folder, index) =>
      (allowedFor(folder) ?? []).flatMap((entry) => (isBelow(entry, index) ? [`${folder} → ${entry}`] : [])),
    )
    expect(below).toEqual(['src/compose → src', 'src/cli → src'])
  })

  test('is followed by every file', () => {
    expect([...sources].flatMap(([path, source]) => violations(path, source))).toEqual([])
  })

  // Page and server agree by their types, and no code of the server is sent to browsers.
  test('the dashboard page imports only types from the admin API', () => {
    const served =
      /^src\/(?!dashboard\/page\/|modules\/[^/]+\/pages\/|module-pages\.ts$|pages\/|lib\/|domain\/|policy\/rule-form\/|(attestation|identity)\/paths\.ts$)/
    const page = [...sources].filter(([path]) => /^src\/(dashboard\/page|modules\/[^/]+\/pages)\//.test(path))
    const outside = (path: string, source: string): string[] =>
      importsOf(source)
        .map((specifier) => normalize(join(dirname(path), specifier)))
        .filter((target) => served.test(target))
    expect(new Set(page.flatMap(([path, source]) => outside(path, source)))).toEqual(
      new Set(['src/admin/client-types.ts', 'src/admin/route-table.ts', 'src/module-routes.ts']),
    )
    const loading = page.flatMap(([path]) => importsAtRunTime.get(path) ?? [])
    expect(loading).toContain('src/lib/counted.ts')
    expect(loading.filter((target) => served.test(target))).toEqual([])
  })

  test('only the signing folder and one command use private keys', () => {
    const places = /^src\/signing\/|^src\/cli\/attester\.ts$/
    const touching = [...sources].filter(([, source]) => /privateKey|private_key/.test(source)).map(([path]) => path)
    expect(touching.filter((path) => !places.test(path))).toEqual([])
  })

  test('has no import cycle', () => {
    expect(cyclesIn(importsAtRunTime)).toEqual([])
  })

  test('a signing thread loads neither YAML nor signing in JavaScript, which take megabytes per thread', () => {
    const reached = loadedWith(['workers/signing/attest.worker.ts'])
    expect(reached).toContain('src/policy/document/compile-document.ts')
    expect([...reached].filter((name) => /^yaml$|^@noble\/curves/.test(name))).toEqual([])
  })

  test('a service loads viem, which takes 10 MB, only for chain reads', () => {
    const reached = loadedWith(['src/service.ts', ...files.filter((path) => path.startsWith('src/facts/sources/'))])
    expect(reached).toContain('src/facts/evm-registry.ts')
    expect([...reached].filter((name) => /^viem/.test(name))).toEqual([])
  })

  test('signing threads, pages and the policy language load no code that queries facts', () => {
    const without = files.filter((path) => /^(src\/policy|workers\/signing|src\/\w+\/page)\//.test(path))
    const reached = loadedWith(without)
    expect(reached).toContain('src/policy/sources/base-fee.ts')
    expect([...reached].filter((path) => path.startsWith('src/facts/'))).toEqual([])
  })

  test('each module is listed once, and has a README.md', () => {
    const declared = files.filter((path) => /^src\/modules\/[^/]+\/module\.ts$/.test(path))
    expect((importsAtRunTime.get('src/modules.ts') ?? []).sort()).toEqual(declared)
    expect(declared.filter((path) => !existsSync(join(ROOT, dirname(path), 'README.md')))).toEqual([])
  })

  test('each module with dashboard pages is listed once', () => {
    const declared = files.filter((path) => /^src\/modules\/[^/]+\/pages\/pages\.ts$/.test(path))
    expect((importsAtRunTime.get('src/module-pages.ts') ?? []).sort()).toEqual(declared)
  })

  /** Imports of modules by the core or by another module. */
  const importsOfModules = [...sources].flatMap(([path, source]) => {
    const moduleOf = (file: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(file)?.[1]
    const importing = moduleOf(path) ?? path
    return importsOf(source)
      .map((specifier) => moduleOf(normalize(join(dirname(path), specifier))))
      .flatMap((imported) => (imported === undefined || imported === importing ? [] : [{ importing, imported }]))
  })

  test('the core imports modules only in the lists of modules', () => {
    const lists = new Set(['src/module-pages.ts', 'src/module-routes.ts', 'src/modules.ts'])
    const ofCore = importsOfModules.filter(({ importing }) => importing.includes('/') && !lists.has(importing))
    expect(ofCore).toEqual([])
  })

  test('a module imports only modules that it declares to need', () => {
    const needs = new Map(MODULES.map((module) => [module.name, module.needs ?? []]))
    const between = importsOfModules.filter(({ importing }) => !importing.includes('/'))
    expect(between.filter(({ importing, imported }) => !needs.get(importing)?.includes(imported))).toEqual([])
  })

  test('each fact source is listed once', () => {
    const listed = [...(sources.get('src/policy/sources/list.ts') ?? '').matchAll(/^export \{.*\} from '\.\/(.*)'$/gm)]
    const declared = files.filter((path) => /import \{ defineSource/.test(sources.get(path) ?? ''))
    expect(listed.map(([, name]) => `src/policy/sources/${name}`).sort()).toEqual(declared)
  })

  test('paths of the attestation and identity APIs are written only in their declarations', () => {
    const begins = [...Object.values(ATTESTATION_PATHS), ...Object.values(IDENTITY_PATHS)].map(
      ({ path }) => /^(\/\w+){2}/.exec(path)?.[0] ?? path,
    )
    const written = new RegExp(`(?:${begins.join('|')})(?!\\w)`)
    expect(written.test('curl -s }/v2/attestation \\')).toBe(true)
    const code = (source: string): string => source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    const writing = [...sources].filter(([, source]) => written.test(code(source))).map(([path]) => path)
    expect(writing).toEqual(['src/attestation/paths.ts', 'src/identity/paths.ts'])
    expect(writing.flatMap((path) => importsOf(sources.get(path) ?? ''))).toEqual([])
  })

  test('no literal is spread into another', () => {
    // Literals can be nested to a depth of five. `[a, b].map()` is a result, not a literal.
    let inside = '[^{}[\\]]*'
    for (let depth = 0; depth < 5; depth++) inside = `[^{}[\\]]*(?:[{[]${inside}[}\\]][^{}[\\]]*)*`
    const literal = new RegExp(`\\.{3}\\(?[{[]${inside}[}\\]](?: as \\w+\\))?\\s*[,}\\])]`)
    expect(literal.test('call({ ...{ clock, log: { write() {} } }, after })')).toBe(true)
    expect(literal.test("[...(['a', b[0]] as const)]")).toBe(true)
    expect(literal.test('<Page {...{ session }} />')).toBe(true)
    const allowed = 'call({ ...options, ...(late ? { after } : {}), list: [...list], ...[a].map(of) })'
    expect(literal.test(allowed)).toBe(false)
    const spreading = [...new Glob('{src,workers,bench,contracts,docs,test}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
      .filter((path) => path !== 'test/architecture.test.ts')
      .filter((path) => literal.test(readFileSync(join(ROOT, path), 'utf8')))
    expect(spreading).toEqual([])
  })

  test('there are no barrel files', () => {
    expect(files.filter((path) => /\/(index|utils?)\.tsx?$/.test(path))).toEqual([])
  })
})
