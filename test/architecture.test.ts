// The import table: which folder may import which. An edge outside it fails here, so the layout stays what it says.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { Glob } from 'bun'
import { ATTESTATION_PATHS } from '../src/attestation/paths.ts'
import { IDENTITY_PATHS } from '../src/identity/paths.ts'
import { MODULES } from '../src/modules.ts'

const ROOT = join(import.meta.dir, '..')

/**
 * Folder → the folders that it may import, from the bottom up: each names only folders above its own line, so that no two
 * depend on each other. `src/lib` is open to all. A module is a folder of `src/modules`, and its threads and processes
 * are another, like its pages. Single files of `workers` are the
 * messages and entries of a process, whose code the folder does not run.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/lib': '',
  'src/domain': '',
  'src/program': '',
  'src/telemetry': 'src/domain',
  // Reads the zone of a document in a picture: on the verification page, and in the module that compares documents.
  'src/zone-reader': 'src/domain',
  // Folders and buckets that files are copied to.
  'src/object-store': '',
  'src/decision-log': 'src/domain src/object-store',
  // Rules as the policy form edits them, in the browser as well.
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
  // The published package holds what it imports: constants, and nothing that imports more.
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
  // How commands are declared, parsed and answered.
  'src/command-line': `
    src/domain src/object-store src/decision-log src/policy src/store src/admin src/config src/setup
    src/module-routes.ts`,
  // What the core knows of modules, and what modules know of the core's start.
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
  // Threads that sign have no use for a database.
  'workers/signing': 'src/domain src/program src/decision-log src/policy src/signing src/pool',
  'workers/index': `
    src/domain src/object-store src/decision-log src/store/decision-index workers/background-process.ts`,
  'src/modules/log-shipping/worker': `
    src/object-store src/decision-log src/modules/log-shipping workers/background-process.ts`,
  // Signs heads and compares logs with them: it reads no policy and no request.
  'src/modules/transparency/worker': `
    src/object-store src/decision-log src/signing src/store src/modules/transparency workers/background-process.ts
    workers/tasks/run-task.ts workers/tasks/verify-log.ts`,
  // Opens strangers' pictures: it knows nothing of the service but how a zone is read.
  'src/modules/documents/worker': 'src/zone-reader src/modules/documents/portrait-hash.ts',
  'workers/tasks': 'src/domain src/decision-log src/policy workers/background-process.ts',
  // Gets lists and names, and answers: it reads no store and no key.
  'src/modules/screening/worker': `
    src/modules/screening/formats src/modules/screening/matching workers/background-process.ts`,
  workers: '',
  // One part of the service per file. src/service.ts calls them in order.
  'src/compose': 'src workers package.json',
  'src/cli': 'src package.json',
  src: 'src workers package.json',
}

/** Null: the folder is not in the table. */
const allowedFor = (folder: string): readonly string[] | null => ALLOWED[folder]?.split(/\s+/).filter(Boolean) ?? null

/** Packages and built-ins that only some places may use. */
const RESERVED: ReadonlyArray<{ pattern: RegExp; places: readonly string[]; why: string }> = [
  { pattern: /^bun:sqlite$/, places: ['src/store/', 'src/modules/transparency/store/'], why: 'SQL lives in the store' },
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
    why: 'Elysia stays in the server, the composition and the files that declare routes',
  },
  {
    pattern: /^sharp$/,
    places: ['src/identity/evidence/reencode.process.ts', 'src/modules/documents/worker/read-picture.process.ts'],
    why: 'strangers’ pictures are opened in a process that may be killed',
  },
  {
    pattern: /^bun:ffi$/,
    places: ['src/signing/', 'src/modules/hardware-keys/', 'src/cluster/end-with-supervisor.ts'],
    why: 'native code is called by the signing backends, and to end a process with its supervisor',
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

// What a build of the client's package left is no source.
const files = [...new Glob('{src,workers}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
  .filter((path) => !path.startsWith('src/client/dist/'))
  .sort()
const sources = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))

/** Edges outside the table, as readable lines. */
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

/**
 * File → the files of ours that it loads with it. Imports of types alone are left out: nothing of them is left when the
 * code runs, so they can't load a file before what it needs. Neither does `import()`, which loads later.
 */
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

/** The given files and all that they load at once: files of ours by path, packages by name. */
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

/** Files that import each other in a circle, each group in alphabetical order (Tarjan's strongly connected components). */
const circlesIn = (edges: ReadonlyMap<string, readonly string[]>): string[][] => {
  const order = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
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
    if (group.length > 1 || edges.get(path)?.includes(path)) circles.push(group.sort())
    return low
  }
  for (const path of edges.keys()) if (!order.has(path)) visit(path)
  return circles.sort((one, other) => (one[0] ?? '').localeCompare(other[0] ?? ''))
}

describe('the import table', () => {
  test('sees the files and their imports', () => {
    expect(files.length).toBeGreaterThan(20)
    expect(
      importsOf(
        `import { a,\n b } from './x.ts'\nimport type { C } from "y"\nexport { d } from 'z'\nimport 'w'\nawait import('v')`,
      ),
    ).toEqual(['./x.ts', 'y', 'z', 'w', 'v'])
  })

  test('reports an edge that is not in it', () => {
    expect(violations('src/domain/x.ts', `import { a } from '../server/errors.ts'`)).toEqual([
      'src/domain/x.ts imports src/server/errors.ts',
    ])
    expect(violations('src/server/x.ts', `import { Database } from 'bun:sqlite'`)).toHaveLength(1)
    expect(violations('src/nowhere/x.ts', '')).toHaveLength(1)
  })

  test('lets no folder of the core depend on one below its line', () => {
    const folders = Object.keys(ALLOWED)
    const upward = folders.flatMap((folder, index) =>
      (allowedFor(folder) ?? [])
        .filter((entry) => folders.indexOf(entry) > index && !entry.startsWith('src/modules/'))
        .map((entry) => `${folder} → ${entry}`),
    )
    expect(upward).toEqual(['src/compose → src', 'src/cli → src'])
  })

  test('holds for every file', () => {
    expect([...sources].flatMap(([path, source]) => violations(path, source))).toEqual([])
  })

  // The page's types are derived from the routes: page and server agree, and nothing of the server is sent to browsers.
  test('the dashboard’s page takes types alone from the admin API, and those from its routes', () => {
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

  test('private keys are touched by the keyring and the keystore files beside it only', () => {
    const places = /^src\/signing\/|^src\/cli\/attester\.ts$/
    const touching = [...sources].filter(([, source]) => /privateKey|private_key/.test(source)).map(([path]) => path)
    expect(touching.filter((path) => !places.test(path))).toEqual([])
  })

  test('has no circle of imports', () => {
    expect(circlesIn(importsAtRunTime)).toEqual([])
  })

  test('a signing thread loads neither the reader of YAML nor signing in JavaScript: megabytes in each thread', () => {
    const reached = loadedWith(['workers/signing/attest.worker.ts'])
    expect(reached).toContain('src/policy/document/compile-document.ts')
    expect([...reached].filter((name) => /^yaml$|^@noble\/curves/.test(name))).toEqual([])
  })

  test('a service loads viem, 10 MB, only where it asks a chain', () => {
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

  test('each module has one line in the list of modules, and a README.md', () => {
    const declared = files.filter((path) => /^src\/modules\/[^/]+\/module\.ts$/.test(path))
    expect((importsAtRunTime.get('src/modules.ts') ?? []).sort()).toEqual(declared)
    expect(declared.filter((path) => !existsSync(join(ROOT, dirname(path), 'README.md')))).toEqual([])
  })

  test('each module with pages of the dashboard has one line in the list of them', () => {
    const declared = files.filter((path) => /^src\/modules\/[^/]+\/pages\/pages\.ts$/.test(path))
    expect((importsAtRunTime.get('src/module-pages.ts') ?? []).sort()).toEqual(declared)
  })

  /** Imports of files in `src/modules` by files outside of them, or by those of another module: importing → imported. */
  const importsOfModules = [...sources].flatMap(([path, source]) => {
    const moduleOf = (file: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(file)?.[1]
    const importing = moduleOf(path) ?? path
    return importsOf(source)
      .map((specifier) => moduleOf(normalize(join(dirname(path), specifier))))
      .flatMap((imported) => (imported === undefined || imported === importing ? [] : [{ importing, imported }]))
  })

  test('the core imports no module: the lists of modules alone do', () => {
    const lists = new Set(['src/module-pages.ts', 'src/module-routes.ts', 'src/modules.ts'])
    const ofCore = importsOfModules.filter(({ importing }) => importing.includes('/') && !lists.has(importing))
    expect(ofCore).toEqual([])
  })

  test('a module imports only modules that it needs', () => {
    const needs = new Map(MODULES.map((module) => [module.name, module.needs ?? []]))
    const between = importsOfModules.filter(({ importing }) => !importing.includes('/'))
    expect(between.filter(({ importing, imported }) => !needs.get(importing)?.includes(imported))).toEqual([])
  })

  test('each fact source has one line in the list of sources', () => {
    const listed = [...(sources.get('src/policy/sources/list.ts') ?? '').matchAll(/^export \{.*\} from '\.\/(.*)'$/gm)]
    const declared = files.filter((path) => /import \{ defineSource/.test(sources.get(path) ?? ''))
    expect(listed.map(([, name]) => `src/policy/sources/${name}`).sort()).toEqual(declared)
  })

  test('a circle is found, whatever leads into it', () => {
    const edges = new Map([
      ['entry', ['a']],
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', []],
      ['self', ['self']],
    ])
    expect(circlesIn(edges)).toEqual([['a', 'b', 'c'], ['self']])
  })

  test('a path of interface A or B is written where it is declared, and nowhere else', () => {
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

  test('no literal is spread into another: its members stand in place', () => {
    // A literal may hold others, to a depth of five. `[a, b].map()` is spread as a result, not as a literal.
    let inside = '[^{}[\\]]*'
    for (let depth = 0; depth < 5; depth++) inside = `[^{}[\\]]*(?:[{[]${inside}[}\\]][^{}[\\]]*)*`
    const literal = new RegExp(`\\.{3}\\(?[{[]${inside}[}\\]](?: as \\w+\\))?\\s*[,}\\])]`)
    expect(literal.test('call({ ...{ clock, log: { write() {} } }, after })')).toBe(true)
    expect(literal.test("[...(['a', b[0]] as const)]")).toBe(true)
    expect(literal.test('<Page {...{ session }} />')).toBe(true)
    expect(literal.test('call({ ...options, ...(late ? { after } : {}), list: [...list], ...[a].map(of) })')).toBe(
      false,
    )
    const spreading = [...new Glob('{src,workers,bench,contracts,docs,test}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
      .filter((path) => path !== 'test/architecture.test.ts')
      .filter((path) => literal.test(readFileSync(join(ROOT, path), 'utf8')))
    expect(spreading).toEqual([])
  })

  test('nothing exports through a barrel', () => {
    expect(files.filter((path) => /\/(index|utils?)\.tsx?$/.test(path))).toEqual([])
  })
})
