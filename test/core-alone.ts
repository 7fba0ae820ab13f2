// A check that the core works without modules: it checks types and runs the conformance tests in a copy of the tree.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { MODULE_LISTS } from './support/parts.ts'
import { copyTree } from './support/tree-copy.ts'
import { words } from './support/words.ts'

const USAGE = `Usage: bun run test:core

Copies the tree without src/modules, with empty lists of modules. Checks the types of the core, then runs the tests of the
specification and of the dashboard against its service.

  --help   Print this

Exit codes: 0 the core works alone, 1 it does not, 2 invalid arguments.
`

const PAGE_TYPES = ['../../lib/qrcode-core.d.ts', '../../program/files.d.ts']
/** TypeScript projects and their sources. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  'tsconfig.core.json': ['src', 'workers'],
  'src/dashboard/page/tsconfig.core.json': ['.', '../../module-pages.ts', ...PAGE_TYPES],
  'src/portal/page/tsconfig.core.json': ['.', ...PAGE_TYPES],
}

/** Tests of the specification and of the dashboard. */
const TESTS = words`
  ./test/conformance ./test/service/without-modules.test.ts ./test/long/dashboard/without-modules.test.ts
`

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
const run = (...command: readonly string[]): boolean => {
  process.stdout.write(`$ ${command.join(' ')}\n`)
  const { success } = Bun.spawnSync([...command], {
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
