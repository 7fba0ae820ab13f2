// The next version of the program for tests of upgrades: the same program with an additional migration that this
// version is compatible with.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../../src/store/migrations.ts'

const ROOT = join(import.meta.dir, '..', '..')
/** Files and folders that the service needs. */
const COPIED = ['src', 'workers', 'package.json', 'bunfig.toml', 'tsconfig.json', 'docs', 'contracts', 'deploy']

const NUMBER = MIGRATIONS.length + 1
/** Changes tables that the trials use, because prepared statements must continue to work. */
const MIGRATION = `import type { Migration } from '../migrations.ts'

const next: Migration = {
  number: ${NUMBER},
  name: 'next',
  worksWith: ${NUMBER - 1},
  statements: ({ integer }) => [
    ...['organizations', 'api_keys', 'sessions', 'policies'].map((table) => \`ALTER TABLE \${table} ADD COLUMN next \${integer}\`),
    'CREATE INDEX api_keys_next ON api_keys (next)',
  ],
}
`

const replaced = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`there is no ${JSON.stringify(from)} to replace`)
  return text.replace(from, to)
}

export interface NextVersion {
  /** Root folder of the version. */
  readonly root: string
  /** Number of its schema. */
  readonly schema: number
  remove(): void
}

export const makeNextVersion = (): NextVersion => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-next-'))
  for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'src/store/migrations/next.ts'), MIGRATION)
  const registry = join(root, 'src/store/migrations.ts')
  const imported = `import { next } from './migrations/next.ts'\n\nexport interface Migration {`
  const listed = replaced(readFileSync(registry, 'utf8'), '\nexport interface Migration {', imported)
  writeFileSync(registry, replaced(listed, '\n]\n', '\n  next,\n]\n'))
  return { root, schema: NUMBER, remove: () => rmSync(root, { recursive: true, force: true }) }
}
