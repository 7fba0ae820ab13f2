// Changes while a backup runs: it has all evidence that its database names, and fails if the evidence key is rotated.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runBackup } from '../../src/modules/backups/commands/backup.ts'
import { type DataFolder, dataFolderAt } from '../../src/setup/data-folder.ts'
import { evidenceFilesOf } from '../../src/store/sqlite/sqlite-snapshot.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import { type CommandWorld, openCommandWorld } from '../cli/world.ts'
import { newFolder } from '../support/folder.ts'

let world: CommandWorld
let folder: DataFolder
beforeAll(async () => {
  world = await openCommandWorld()
  folder = dataFolderAt(world.root)
  mkdirSync(folder.evidence, { recursive: true })
})
afterAll(() => world.remove())

const change = (sql: string): void => {
  const file = new Database(folder.database)
  file.run(sql)
  file.close()
}

const save = (name: string, hasFile = true): void => {
  if (hasFile) writeFileSync(join(folder.evidence, name), name)
  change(`INSERT INTO session_evidence
      (id, organization_id, session_id, kind, media_type, byte_length, storage_name, wrapped_key, created_at_seconds)
    VALUES ('${name}', 'org', 'session', 'fields', 'application/json', 1, '${name}', x'01', 1)`)
}

const replace = (name: string, by: string): void => {
  change(`UPDATE session_evidence SET wrapped_key = NULL, erased_at_seconds = 2 WHERE id = '${name}'`)
  save(by)
  rmSync(join(folder.evidence, name), { force: true })
}

beforeEach(() => {
  change('DELETE FROM session_evidence')
  for (const name of readdirSync(folder.evidence)) rmSync(join(folder.evidence, name))
})

/** @param uses called before each use of the database */
const runWith = async (
  to: string,
  uses: readonly (() => void)[],
  evidenceKeys: () => Promise<readonly Uint8Array[]>,
) => {
  let count = 0
  const store: StoreTarget = {
    kind: 'sqlite',
    get path() {
      uses[count++]?.()
      return folder.database
    },
  }
  const errors: string[] = []
  const code = await runBackup(['--to', to], {
    folder,
    output: { stdout: () => undefined, stderr: (text) => void errors.push(text) },
    locateStore: async () => store,
    describeSettings: () => ({}),
    configFile: null,
    treeTables: null,
    openBucket: () => {
      throw new Error('no bucket is named')
    },
    evidenceKeys,
    note: async () => undefined,
    now: () => new Date(),
    stopped: () => new AbortController().signal,
  })
  return { code, errors }
}

const backUp = async (...uses: readonly (() => void)[]) => {
  const to = join(newFolder(), 'backup')
  expect(await runWith(to, uses, async () => [])).toMatchObject({ code: 0 })
  const files = readdirSync(join(to, 'evidence'))
  return { files, needed: evidenceFilesOf(join(to, 'countersign.db')) }
}

test('evidence that exists when a backup starts is in the backup, even if its file is removed meanwhile', async () => {
  save('first')
  const { files, needed } = await backUp(() => rmSync(join(folder.evidence, 'first')))
  expect([files, needed]).toEqual([['first'], ['first']])
})

test('if new evidence was replaced after the database was copied, the database is copied again', async () => {
  save('first', false)
  const { files, needed } = await backUp(
    () => undefined,
    () => replace('first', 'second'),
  )
  expect([files, needed]).toEqual([['second'], ['second']])
})

test('a backup fails if an evidence key outside the data folder is rotated meanwhile', async () => {
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const to = join(newFolder(), 'backup')
  const { code, errors } = await runWith(to, [], async () => [keys.shift() ?? Buffer.alloc(32, 2)])
  expect([code, errors.join('')]).toEqual([1, expect.stringContaining('a secret was rotated during the backup')])
})
