// The key that signs heads: one per deployment, even if several nodes create it at the same time.
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { prepareLogKey } from '../../src/modules/transparency/service/log-key.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'

test('nodes that start at the same time use one key, and its file is the only one', async () => {
  const { store, remove } = await openTemporaryStore()
  try {
    const folder = dataFolderAt(newFolder())
    mkdirSync(folder.keystores, { recursive: true })
    const prepare = () => prepareLogKey({ store, folder, passphrase: 'a passphrase of tests', workFactor: 'light' })
    const [one, other] = await Promise.all([prepare(), prepare()])
    expect(other).toEqual(one)
    expect(readdirSync(folder.keystores)).toEqual([basename(one.keystorePath)])
  } finally {
    await remove()
  }
})
