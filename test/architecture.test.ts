// The import table: which folder may import which. An edge outside it fails here, so the layout stays what it says.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

/** Folder → what of ours it may import: a folder, or one file of a folder. Its own files are always allowed. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  'src/telemetry': ['src/domain'],
  'src/policy': ['src/domain'],
  'src/facts': ['src/domain', 'src/policy/types'],
  'src/signing': ['src/domain'],
  'src/decisions': ['src/domain'],
  'src/pool': ['src/domain', 'src/policy/types', 'src/signing/types.ts', 'src/decisions/types.ts'],
  'src/http': ['src/domain', 'src/telemetry'],
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
  // index is asked through its process, of which it knows the words.
  'src/admin': [
    'src/domain',
    'src/http',
    'src/policy',
    'src/facts/lists',
    'src/store',
    'src/telemetry',
    'src/decisions',
    'src/identity/evidence-types.ts',
    'src/pool/statistics.ts',
    'src/pool/histogram.ts',
    'workers/decision-index-protocol.ts',
  ],
  'src/dashboard': ['src/domain', 'src/http', 'src/admin'],
  'src/portal': ['src/domain', 'src/http', 'src/identity', 'src/telemetry'],
  'src/identity': ['src/domain', 'src/http', 'src/telemetry'],
  // The decision index finds places in the log.
  'src/store': ['src/domain', 'src/policy/types', 'src/decisions/located.ts'],
  'src/client': ['src/domain'],
  workers: [
    'src/domain',
    'src/policy',
    'src/signing',
    'src/decisions',
    'src/pool/protocol.ts',
    'src/pool/wire.ts',
    // The decision index's process; signing threads have no use for a database.
    'src/store/decision-index',
  ],
  // What a start finds in the data folder or makes there.
  'src/setup': [
    'src/domain',
    'src/policy',
    'src/signing',
    'src/identity',
    'src/store',
    'src/config.ts',
    'src/settings.ts',
  ],
  // Several processes of a node, and what they and other nodes must know of each other. What is asked of all of them are
  // the live page's figures.
  'src/processes': [
    'src/domain',
    'src/telemetry',
    'src/store',
    'src/pool',
    'src/http/deadline.ts',
    'src/http/listen-address.ts',
    'src/admin/live',
    'src/setup/data-folder.ts',
    'src/config.ts',
    'src/settings.ts',
    'src/claim-listen-addresses.ts',
  ],
  // The composition: one part of the service put together a file. src/service.ts calls them in the order of the house.
  'src/wiring': ['src', 'workers', 'package.json'],
  'src/cli': ['src'],
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
    places: ['src/identity/evidence/reencode.process.ts'],
    why: 'strangers’ pictures are opened in a process that may be killed',
  },
  { pattern: /^bun:ffi$/, places: ['src/signing/'], why: 'native code is called by the signing backends only' },
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
  if (path.startsWith('workers/')) return 'workers'
  const parts = path.split('/')
  return parts.length === 2 ? 'src' : `${parts[0]}/${parts[1]}`
}

const files = [...new Glob('{src,workers}/**/*.{ts,tsx}').scanSync({ cwd: ROOT })].sort()
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
    const inside = folderOf(target) === folder
    if (!inside && !allowed.some((entry) => target === entry || target.startsWith(`${entry}/`))) {
      found.push(`${path} imports ${target}`)
    }
  }
  return found
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

  test('private keys are touched by the keyring and the keystore files beside it only', () => {
    const places = /^src\/signing\/|^src\/cli\/attester\.ts$/
    const touching = [...sources].filter(([, source]) => /privateKey|private_key/.test(source)).map(([path]) => path)
    expect(touching.filter((path) => !places.test(path))).toEqual([])
  })

  test('nothing exports through a barrel', () => {
    expect(files.filter((path) => /\/(index|utils?)\.tsx?$/.test(path))).toEqual([])
  })
})
