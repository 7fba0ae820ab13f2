// `countersign migrate`: each data folder whose store was moved remembers where it went, and no other does.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runMigrate } from '../../src/cli/migrate.ts'
import { systemClock } from '../../src/lib/time.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { rememberedStore } from '../../src/setup/store-location.ts'
import { openStore } from '../../src/store/store.ts'
import { placeMigrated, temporaryFolder } from '../store/temporary-store.ts'
import { recordOutput } from './recorded-output.ts'

let root: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  root = temporaryFolder()
})
afterEach(() => root.remove())

const folderOf = (name: string) => dataFolderAt(join(root.path, name))
/** As a person does, who works with the data folder `own`. */
const migrate = async (from: string, to: string, stderr = ''): Promise<void> => {
  const { output, printed } = recordOutput()
  const code = await runMigrate(['--from', `sqlite:${from}`, '--to', `sqlite:${to}`], {
    output,
    treeTables: null,
    dataDirectory: folderOf('own').root,
    environment: {},
    monotonicMs: () => 0,
    wait: async () => undefined,
  })
  expect([code, printed.stderr]).toEqual([0, stderr])
}
const remembered = (name: string): string | null => rememberedStore(folderOf(name))

test('a folder whose store moves on remembers the last place', async () => {
  const own = folderOf('own')
  mkdirSync(own.root)
  await placeMigrated(own.database)
  const [first, second] = [join(root.path, 'first.db'), join(root.path, 'second.db')]
  await migrate(own.database, first)
  expect(remembered('own')).toBe(`the store ${first}`)
  await migrate(first, second)
  expect(remembered('own')).toBe(`the store ${second}`)
})

test('a folder whose own database is moved remembers it, whichever folder the command works with', async () => {
  for (const name of ['own', 'other']) {
    mkdirSync(folderOf(name).root)
    await placeMigrated(folderOf(name).database)
  }
  const target = join(root.path, 'target.db')
  await migrate(folderOf('other').database, target)
  expect([remembered('own'), remembered('other')]).toEqual([null, `the store ${target}`])
  // A file of another name is no folder's own.
  const loose = join(folderOf('other').root, 'loose.db')
  await placeMigrated(loose)
  await migrate(loose, join(root.path, 'elsewhere.db'))
  expect([remembered('own'), remembered('other')]).toEqual([null, `the store ${target}`])
})

test('names processes that neither run nor ended cleanly, because one may be suspended', async () => {
  const from = join(root.path, 'from.db')
  await placeMigrated(from)
  const store = await openStore({ path: from, clock: systemClock })
  await store.liveProcesses.beat({ id: 'p1', name: 'machine 7', beat: 3, clockMs: 0, modules: [] })
  await store.close()
  const named = 'Without a heartbeat: machine 7. If still running, they stop when they reach the source again.\n'
  await migrate(from, join(root.path, 'to.db'), named)
})
