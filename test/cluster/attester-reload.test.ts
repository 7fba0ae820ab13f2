// A keystore that another node made is on its way: the keys in use sign on, that is said once, and the new one is loaded
// when it has arrived, without a restart and without another change.
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/domain/time.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { openStore } from '../../src/store/store.ts'
import { createAttesterReloader } from '../../src/wiring/change-followers.ts'
import { until } from '../support/until.ts'

const folder = dataFolderAt(mkdtempSync(join(tmpdir(), 'countersign-reload-')))
makeDataFolder(folder)
const store = await openStore({ target: { kind: 'sqlite', path: folder.database }, clock: systemClock })
afterAll(async () => {
  await store.close()
  rmSync(folder.root, { recursive: true, force: true })
})

test('a keystore that arrives later is loaded then', async () => {
  const file = 'secp256k1-0x1111111111111111111111111111111111111111.json'
  await store.attesters.add({
    kind: 'secp256k1',
    address: '0x1111111111111111111111111111111111111111',
    keystoreFile: file,
  })
  const said: string[] = []
  let tries = 0
  const pool = {
    updateAttesters: async (attesters: readonly { readonly keystorePath: string }[]): Promise<void> => {
      tries += 1
      for (const { keystorePath } of attesters) if (!existsSync(keystorePath)) throw new Error('not there')
    },
  }
  const log = { info: (message: string) => said.push(message), error: (message: string) => said.push(message) }
  const reload = createAttesterReloader(store, pool, folder, log, 1)
  reload()
  await until(() => tries >= 3)
  expect(said).toEqual(['the changed attesters can not be used; the keys in use stay until they can'])
  writeFileSync(join(folder.keystores, file), '{}')
  await until(() => said.length === 2)
  expect(said[1]).toBe('attesters changed')
  const triesThen = tries
  reload()
  await until(() => said.length === 3)
  expect(tries).toBe(triesThen + 1)
})
