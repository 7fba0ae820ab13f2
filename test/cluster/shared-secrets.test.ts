// Secrets that all nodes share are checked at the start: a node without them reports an error and creates no key.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { prepareAccountKey } from '../../src/setup/account-key.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { prepareOrganizationKeys, rotateEvidenceKey } from '../../src/setup/evidence-key.ts'
import { makeKeyFile, nextKeyPath } from '../../src/setup/key-file.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { newFolder } from '../support/folder.ts'

const root = newFolder()
let stores = 0
let store: Store
const nodeFolder = (name: string) => {
  const folder = dataFolderAt(join(root, `${stores}-${name}`))
  makeDataFolder(folder)
  return folder
}
const CREATED = { evidenceKey: null, accountKey: null }

beforeEach(async () => {
  await store?.close()
  store = await openStore({ target: { kind: 'sqlite', path: join(root, `${++stores}.db`) }, clock: systemClock })
})
afterAll(async () => {
  await store.close()
})

test('a key file is created once, complete and private to its owner', () => {
  const path = join(root, 'a-key')
  makeKeyFile(path)
  const text = readFileSync(path, 'utf8')
  expect(text).toMatch(/^[0-9a-f]{64}\n$/)
  makeKeyFile(path)
  expect(readFileSync(path, 'utf8')).toBe(text)
  expect(readdirSync(root).filter((name) => name.startsWith('a-key'))).toEqual(['a-key'])
})

test('a second node creates no account key', async () => {
  const first = nodeFolder('first')
  const second = nodeFolder('second')
  const key = await prepareAccountKey(CREATED, first, store.deployment)
  await expect(prepareAccountKey(CREATED, second, store.deployment)).rejects.toThrow(/copy .* from another node/)
  expect(readdirSync(join(second.root, 'secrets'))).toEqual([])
  writeFileSync(second.accountKey, readFileSync(first.accountKey))
  expect(await prepareAccountKey(CREATED, second, store.deployment)).toEqual(key)
  expect(await prepareAccountKey(CREATED, first, store.deployment)).toEqual(key)
})

test('the account key of the settings is used, and none is created', async () => {
  const folder = nodeFolder('first')
  const path = join(root, 'named-account-key')
  const named = { accountKey: { source: 'file', path } } as const
  await expect(prepareAccountKey(named, folder, store.deployment)).rejects.toThrow(
    `the account key cannot be read (ENOENT): ${path}`,
  )
  writeFileSync(path, 'too short')
  await expect(prepareAccountKey(named, folder, store.deployment)).rejects.toThrow('must contain 64 hex digits')
  writeFileSync(path, `${'a1'.repeat(32)}\n`)
  expect(Buffer.from(await prepareAccountKey(named, folder, store.deployment)).toString('hex')).toBe('a1'.repeat(32))
  expect(readdirSync(join(folder.root, 'secrets'))).toEqual([])
})

test('a second node creates no evidence key, even before anything is encrypted', async () => {
  const first = nodeFolder('first')
  const second = nodeFolder('second')
  await prepareOrganizationKeys(CREATED, first, store)
  await expect(prepareOrganizationKeys(CREATED, second, store)).rejects.toThrow(/the evidence key is missing/)
  makeKeyFile(second.evidenceKey)
  await expect(prepareOrganizationKeys(CREATED, second, store)).rejects.toThrow(/all nodes need the same/)
  writeFileSync(second.evidenceKey, readFileSync(first.evidenceKey))
  await prepareOrganizationKeys(CREATED, second, store)
})

test('of two nodes that start at once with different keys, one fails', async () => {
  const outcomes = await Promise.allSettled(
    ['first', 'second'].map((name) => prepareOrganizationKeys(CREATED, nodeFolder(name), store)),
  )
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('all nodes need a rotated evidence key, even if nothing was encrypted', async () => {
  const folder = nodeFolder('first')
  await prepareOrganizationKeys(CREATED, folder, store)
  const before = readFileSync(folder.evidenceKey, 'utf8')
  await rotateEvidenceKey({ config: CREATED, folder, store, wait: async () => undefined })
  expect(readFileSync(folder.evidenceKey, 'utf8')).not.toBe(before)
  await prepareOrganizationKeys(CREATED, folder, store)
  writeFileSync(folder.evidenceKey, before)
  await expect(prepareOrganizationKeys(CREATED, folder, store)).rejects.toThrow(/all nodes need the same/)
})

const sealSomething = async (folder: ReturnType<typeof nodeFolder>): Promise<void> => {
  const { id } = await store.organizations.create({ slug: 'sealed', name: 'Sealed' })
  const keys = await prepareOrganizationKeys(CREATED, folder, store)
  await keys.seal(id, 'webhook secret', 'one', Buffer.from('secret'))
}

test('the last of two simultaneous rotations keeps the key in use and the next key of a third rotation', async () => {
  const folder = nodeFolder('first')
  await sealSomething(folder)
  const next = nextKeyPath(folder.evidenceKey)
  let ended = ''
  const rotated = await rotateEvidenceKey({
    config: CREATED,
    folder,
    store,
    wait: async () => {
      await rotateEvidenceKey({ config: CREATED, folder, store, wait: async () => undefined })
      ended = readFileSync(folder.evidenceKey, 'utf8')
      // A third rotation starts.
      makeKeyFile(next)
    },
  })
  expect([rotated.inPlace, rotated.file]).toEqual([true, folder.evidenceKey])
  expect(readFileSync(folder.evidenceKey, 'utf8')).toBe(ended)
  expect(readFileSync(next, 'utf8')).not.toBe(ended)
  await prepareOrganizationKeys(CREATED, folder, store)
})

test('a rotation whose next key was replaced leaves the key unchanged', async () => {
  const folder = nodeFolder('first')
  await sealSomething(folder)
  const before = readFileSync(folder.evidenceKey, 'utf8')
  const next = nextKeyPath(folder.evidenceKey)
  const rotation = rotateEvidenceKey({
    config: CREATED,
    folder,
    store,
    wait: async () => {
      rmSync(next)
      makeKeyFile(next)
    },
  })
  await expect(rotation).rejects.toThrow('no longer contains the new wrapping key')
  expect(readFileSync(folder.evidenceKey, 'utf8')).toBe(before)
})
