// `countersign migrate` records the new location in the data folder whose store was moved, and in no other folder.
import { beforeEach, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runMigrate } from '../../src/cli/migrate.ts'
import { systemClock } from '../../src/lib/time.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { rememberedStore } from '../../src/setup/store-location.ts'
import { openStore } from '../../src/store/store.ts'
import { placeMigrated } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'
import { recordOutput } from './recorded-output.ts'

let root: string
beforeEach(() => {
  root = newFolder()
})

const folderOf = (name: string) => dataFolderAt(join(root, name))
const createFolder = async (name: string): Promise<string> => {
  const { root: path, database } = folderOf(name)
  mkdirSync(path)
  await placeMigrated(database)
  return database
}
/** Migrates with the data folder `own`. */
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
const locations = (...names: string[]) => names.map((name) => rememberedStore(folderOf(name)))

test('a folder whose store is moved twice records the last location', async () => {
  const own = await createFolder('own')
  const [first, second] = [join(root, 'first.db'), join(root, 'second.db')]
  await migrate(own, first)
  expect(locations('own')).toEqual([`the store ${first}`])
  await migrate(first, second)
  expect(locations('own')).toEqual([`the store ${second}`])
})

test('the location is recorded in the folder of the database, even if the command uses another folder', async () => {
  const [, other] = [await createFolder('own'), await createFolder('other')]
  const target = join(root, 'target.db')
  await migrate(other, target)
  expect(locations('own', 'other')).toEqual([null, `the store ${target}`])
  // A file with another name is not the database of the folder.
  const loose = join(folderOf('other').root, 'loose.db')
  await placeMigrated(loose)
  await migrate(loose, join(root, 'elsewhere.db'))
  expect(locations('own', 'other')).toEqual([null, `the store ${target}`])
})

test('names processes without a heartbeat or a clean shutdown, because they may be suspended', async () => {
  const from = join(root, 'from.db')
  await placeMigrated(from)
  const store = await openStore({ path: from, clock: systemClock })
  await store.liveProcesses.beat({ id: 'p1', name: 'machine 7', beat: 3, clockMs: 0, modules: [] })
  await store.close()
  const named = 'Without a heartbeat: machine 7. If still running, they stop when they reach the source again.\n'
  await migrate(from, join(root, 'to.db'), named)
})
