// The import table: which folder may import which. An edge outside it fails here, so the layout stays what it says.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { Glob } from 'bun'
import { ATTESTATION_PATHS } from '../src/attestation/paths.ts'
import { IDENTITY_PATHS } from '../src/identity/paths.ts'

const ROOT = join(import.meta.dir, '..')

/** Folder → what of ours it may import: a folder, or one file of a folder. Its own files are always allowed. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  // How the program finds what ships with it, and starts its own threads and processes.
  'src/program': [],
  'src/telemetry': ['src/domain'],
  // The templates are files of the documentation. A source of facts names the type of what asks it. Replays read decision
  // records.
  'src/policy': ['src/domain', 'src/decisions/types.ts', 'docs/policies', 'src/facts/asker.ts'],
  'src/policy/sources/*/ask.ts': ['src/domain', 'src/policy', 'src/facts'],
  'src/facts': ['src/domain', 'src/policy/types', 'src/policy/sources'],
  // Lists and names: it opens no file, asks no server and knows no session.
  'src/screening': ['src/domain', 'src/identity/evidence/countries.ts'],
  'src/signing': ['src/domain', 'src/program'],
  'src/decisions': ['src/domain', 'src/transparency', 'src/program/durable-file.ts'],
  // A tree knows hashes and no decisions.
  'src/transparency': [],
  'src/pool': ['src/domain', 'src/policy/types', 'src/signing/types.ts', 'src/decisions/types.ts'],
  'src/http': ['src/domain', 'src/telemetry', 'src/program'],
  'src/attestation': [
    'src/domain',
    'src/policy',
    'src/facts',
    'src/pool',
    'src/http',
    'src/signing/types.ts',
    'src/telemetry',
  ],
  // The admin API shows and changes what the others keep: it knows the store's tables, the log's lines and the policy
  // language, and of the pool and of identity only shapes. It is told by its services what it can't do by itself. The
  // index and long tasks are asked through their processes, of which it knows the words.
  'src/admin': [
    'src/domain',
    'src/http',
    'src/policy',
    'src/facts/lists',
    'src/screening',
    'src/store',
    'src/telemetry',
    'src/decisions',
    'src/identity/evidence-types.ts',
    'src/identity/paths.ts',
    'src/attestation/paths.ts',
    'src/pool/statistics.ts',
    'src/pool/histogram.ts',
    'src/processes/kept-process.ts',
    'workers/index/decision-index-protocol.ts',
    'workers/tasks/task-protocol.ts',
  ],
  'src/pages': [],
  // How documents are read and compared: no store, no HTTP, no files.
  'src/documents': ['src/domain/name-text.ts'],
  'src/dashboard': [
    'src/domain',
    'src/http',
    'src/admin',
    'src/pages',
    'src/attestation/paths.ts',
    'src/identity/paths.ts',
  ],
  'src/portal': ['src/domain', 'src/http', 'src/identity', 'src/telemetry', 'src/pages', 'src/documents'],
  'src/identity': [
    'src/domain',
    'src/http',
    'src/telemetry',
    'src/documents',
    'src/policy/sources/identity/rules.ts',
    'src/policy/types/session-facts.ts',
    'src/program',
  ],
  // The decision index finds places in the log.
  'src/store': ['src/domain', 'src/policy/types', 'src/decisions/located.ts', 'src/transparency', 'src/program'],
  // The published package holds what it imports: constants, and nothing that imports more.
  'src/client': ['src/attestation/paths.ts', 'src/identity/paths.ts'],
  // Threads that sign have no use for a database.
  'workers/signing': [
    'src/domain',
    'src/policy',
    'src/signing',
    'src/decisions',
    'src/pool/port.ts',
    'src/pool/protocol.ts',
    'src/pool/wire.ts',
    'src/program',
  ],
  'workers/index': ['src/domain', 'src/decisions', 'src/store/decision-index', 'workers/background-process.ts'],
  'workers/ship': ['src/domain', 'src/decisions', 'workers/background-process.ts'],
  // Signs heads and nothing else: no policy and no request comes near it.
  'workers/tree': [
    'src/domain',
    'src/decisions',
    'src/transparency',
    'src/http/bounded-fetch.ts',
    'src/store',
    'src/signing',
    'workers/background-process.ts',
  ],
  // Opens strangers' pictures: it knows nothing of the service but how a zone is read.
  'workers/documents': ['src/documents'],
  'workers/tasks': [
    'src/domain',
    'src/policy',
    'src/decisions',
    'src/transparency',
    'src/store',
    'workers/background-process.ts',
    'src/program/headed-bytes.ts',
  ],
  // They get lists and names, and answer: no store and no key comes near them.
  'workers/screening': ['src/screening', 'workers/background-process.ts', 'src/program/headed-bytes.ts'],
  workers: [],
  // The settings, and what a setting's text may be: where each kind is used says how it is read.
  'src/config': [
    'src/domain',
    'src/decisions/ship-target.ts',
    'src/facts/screener-settings.ts',
    'src/http/client-address.ts',
    'src/http/listen-address.ts',
    'src/identity/evidence/clamd.ts',
    'src/processes/plan.ts',
    'src/processes/processors.ts',
    'src/transparency/note.ts',
    'package.json',
  ],
  // What a start finds in the data folder or makes there.
  'src/setup': [
    'src/domain',
    'src/policy',
    'src/signing',
    'src/identity',
    'src/store',
    'src/config',
    'src/transparency',
    'src/program',
    'src/attestation/paths.ts',
  ],
  // Several processes of a node, and what they and other nodes must know of each other. What is asked of all of them are
  // the live page's figures.
  'src/processes': [
    'src/domain',
    'src/telemetry',
    'src/store',
    'src/pool',
    'src/attestation/paths.ts',
    'src/http/deadline.ts',
    'src/http/listen-address.ts',
    'src/admin/live',
    'src/setup/data-folder.ts',
    'src/setup/file-access.ts',
    'src/config',
    'src/program',
  ],
  // The composition: one part of the service put together a file. src/service.ts calls them in the order of the house.
  'src/wiring': ['src', 'workers', 'package.json'],
  'src/cli': ['src', 'package.json'],
  src: ['src', 'workers', 'package.json'],
}

/** Packages and built-ins that only some places may use. */
const RESERVED: ReadonlyArray<{ pattern: RegExp; places: readonly string[]; why: string }> = [
  { pattern: /^bun:sqlite$/, places: ['src/store/'], why: 'SQL lives in the store' },
  {
    pattern: /^elysia$/,
    places: ['src/http/', 'src/app.ts', 'src/attestation/routes.ts', 'src/identity/routes.ts'],
    why: 'Elysia stays in http, app and the routes files',
  },
  {
    pattern: /^sharp$/,
    places: ['src/identity/evidence/reencode.process.ts', 'workers/documents/read-picture.process.ts'],
    why: 'strangers’ pictures are opened in a process that may be killed',
  },
  {
    pattern: /^bun:ffi$/,
    places: ['src/signing/', 'src/processes/end-with-supervisor.ts'],
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

const ASK_FILE = /^src\/policy\/sources\/[^/]+\/ask\.ts$/

const folderOf = (path: string): string => {
  if (ASK_FILE.test(path)) return 'src/policy/sources/*/ask.ts'
  const parts = path.split('/')
  return parts.length === 2 ? `${parts[0]}` : `${parts[0]}/${parts[1]}`
}

// What a build of the client's package left is no source.
const files = [...new Glob('{src,workers}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
  .filter((path) => !path.startsWith('src/client/dist/'))
  .sort()
const sources = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))

/** Edges outside the table, as readable lines. */
const violations = (path: string, source: string): string[] => {
  const folder = folderOf(path)
  const allowed = ALLOWED[folder]
  if (allowed === undefined) return [`${path}: folder ${folder} is not in the import table`]
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
    if (!inside && !allowed.some((entry) => target === entry || target.startsWith(`${entry}/`))) {
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
    expect(violations('src/domain/x.ts', `import { a } from '../http/errors.ts'`)).toEqual([
      'src/domain/x.ts imports src/http/errors.ts',
    ])
    expect(violations('src/http/x.ts', `import { Database } from 'bun:sqlite'`)).toHaveLength(1)
    expect(violations('src/nowhere/x.ts', '')).toHaveLength(1)
  })

  test('holds for every file', () => {
    expect([...sources].flatMap(([path, source]) => violations(path, source))).toEqual([])
  })

  // The page's types are derived from the routes: page and server agree, and nothing of the server is sent to browsers.
  test('the dashboard’s page takes types alone from the admin API, and those from its routes', () => {
    const served = /^src\/(?!dashboard\/page\/|pages\/|domain\/|(attestation|identity)\/paths\.ts$)/
    const page = [...sources].filter(([path]) => path.startsWith('src/dashboard/page/'))
    const outside = (path: string, source: string): string[] =>
      importsOf(source)
        .map((specifier) => normalize(join(dirname(path), specifier)))
        .filter((target) => served.test(target))
    expect(new Set(page.flatMap(([path, source]) => outside(path, source)))).toEqual(
      new Set(['src/admin/client-types.ts', 'src/admin/route-table.ts']),
    )
    const loading = page.flatMap(([path]) => importsAtRunTime.get(path) ?? [])
    expect(loading).toContain('src/domain/counted.ts')
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
    expect(reached).toContain('src/policy/compile-document.ts')
    expect([...reached].filter((name) => /^yaml$|^@noble\/curves/.test(name))).toEqual([])
  })

  test('a service loads viem, 10 MB, only where it asks a chain', () => {
    const reached = loadedWith(['src/service.ts', ...files.filter((path) => ASK_FILE.test(path))])
    expect(reached).toContain('src/facts/evm-registry.ts')
    expect([...reached].filter((name) => /^viem/.test(name))).toEqual([])
  })

  test('what asks for facts is loaded neither with policies nor by signing threads or pages', () => {
    const asking = files.filter((path) => ASK_FILE.test(path))
    expect(asking).toContain('src/policy/sources/base-fee/ask.ts')
    const without = files.filter((path) => /^(src\/policy|workers\/signing|src\/\w+\/page)\//.test(path))
    const reached = loadedWith(without.filter((path) => !asking.includes(path)))
    expect(reached).toContain('src/policy/sources/base-fee/rules.ts')
    expect([...reached].filter((path) => path.startsWith('src/facts/') || asking.includes(path))).toEqual([])
  })

  test('each folder of a source of facts has one line in the list of sources', () => {
    const places = [...(sources.get('src/policy/sources/list.ts') ?? '').matchAll(/^export \{.*\} from '\.\/(.*)'$/gm)]
    const folders = files.flatMap((path) => /^src\/policy\/sources\/(.+)\//.exec(path)?.[1] ?? [])
    expect(places.map(([, place]) => place).sort()).toEqual([...new Set(folders)].map((name) => `${name}/rules.ts`))
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
