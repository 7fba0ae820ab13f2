// Proves that the core stands alone: copies the tree without any module, checks the types of the core there, and tests the
// service that runs from the copy by the specification.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { MODULE_LISTS } from './support/parts.ts'
import { copyTree } from './support/tree-copy.ts'

const USAGE = `Usage: bun run test:core

Copies the tree without src/modules, with empty lists of modules. Checks the types of the core, then runs the tests of the
specification and of the dashboard against its service.

  --help   Print this

Exit codes: 0 the core stands alone, 1 it does not, 2 the call is wrong.
`

/** Files that check types, by the sources that they include. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  'tsconfig.core.json': ['src', 'workers'],
  'src/dashboard/page/tsconfig.core.json': [
    '.',
    '../../module-pages.ts',
    '../../lib/qrcode-core.d.ts',
    '../../program/files.d.ts',
  ],
  'src/portal/page/tsconfig.core.json': ['.', '../../lib/qrcode-core.d.ts', '../../program/files.d.ts'],
}

/** Tests of the specification from the outside, and of the dashboard. */
const TESTS = [
  './test/conformance',
  './test/service/without-modules.test.ts',
  './test/long/dashboard/without-modules.test.ts',
]

const { values } = parseArgs({ options: { help: { type: 'boolean' } } })
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}

const copy = copyTree((name) => !name.startsWith('src/modules/'))
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(copy.path, name)), { recursive: true })
  writeFileSync(join(copy.path, name), text)
}
const run = (...words: readonly string[]): boolean => {
  process.stdout.write(`$ ${words.join(' ')}\n`)
  const { success } = Bun.spawnSync([...words], {
    cwd: copy.path,
    env: { ...process.env, TMPDIR: copy.temporary },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return success
}

try {
  for (const [name, text] of Object.entries(MODULE_LISTS)) write(name, text)
  for (const [name, include] of Object.entries(PROJECTS)) {
    write(name, JSON.stringify({ extends: './tsconfig.json', include }))
  }
  const isTyped = Object.keys(PROJECTS)
    .map((name) => run('node_modules/.bin/tsc', '--noEmit', '-p', name))
    .every(Boolean)
  const isTested = run('bun', 'test/run.ts', ...TESTS)
  process.exitCode = isTyped && isTested ? 0 : 1
} finally {
  copy.remove()
}
