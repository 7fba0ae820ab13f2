// Updates of the URLs in quickstart.env at startup.
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/lib/time.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { prepareQuickstart } from '../../src/setup/quickstart.ts'
import { openStore } from '../../src/store/store.ts'
import { newFolder } from '../support/folder.ts'

test('a start with other ports updates only the URLs, and does not restore a deleted file', async () => {
  const folder = dataFolderAt(join(newFolder(), 'data'))
  makeDataFolder(folder)
  const store = await openStore({ target: { kind: 'sqlite', path: folder.database }, clock: systemClock })
  const { chains } = loadConfig({ arguments: [], environment: {} })
  const start = (port: number) => {
    const urls = { api: `http://a:${port}`, portal: `http://p:${port}`, dashboard: `http://d:${port}` }
    const keystores = { passphrase: 'a passphrase of a test', workFactor: 'light' } as const
    return prepareQuickstart({ store, folder, chains, urls, keystores, demo: true })
  }
  try {
    const { values } = await start(1)
    writeFileSync(folder.quickstart, `${readFileSync(folder.quickstart, 'utf8')}# mine\nOWN_URL=http://own\n`)
    const { first, values: updated } = await start(2)
    expect(first).toBe(false)
    expect(updated).toEqual({
      ...values,
      ATTESTATION_URL: 'http://a:2',
      IDENTITY_URL: 'http://a:2',
      ADMIN_URL: 'http://d:2/admin/v1',
      PORTAL_URL: 'http://p:2',
      DASHBOARD_URL: 'http://d:2',
      OWN_URL: 'http://own',
    })
    expect(readFileSync(folder.quickstart, 'utf8')).toEndWith('# mine\nOWN_URL=http://own\n')
    expect(statSync(folder.quickstart).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.root).filter((name) => name.startsWith('quickstart'))).toEqual(['quickstart.env'])

    rmSync(folder.quickstart)
    await start(3)
    expect(existsSync(folder.quickstart)).toBe(false)
  } finally {
    await store.close()
  }
})
