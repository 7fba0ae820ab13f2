// Rotation of the key that encrypts TOTP secrets: they can be decrypted at every point, and at the end the old key decrypts none
// of them.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createChallenges } from '../../src/admin/accounts/challenges.ts'
import { keepLastKeys } from '../../src/admin/accounts/derived-key.ts'
import { createRotatingBox, createSecretBox, SealBrokenError } from '../../src/admin/accounts/secret-box.ts'
import { totpContext } from '../../src/admin/accounts/sign-in.ts'
import { systemClock } from '../../src/lib/time.ts'
import { ACCOUNT_KEY, prepareAccountKey, readAccountKeys } from '../../src/setup/account-key.ts'
import { rotateAccountKey } from '../../src/setup/account-key-rotation.ts'
import { readKeyFile } from '../../src/setup/key-file.ts'
import { runCommand, startService } from '../service/start-service.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'

const CONFIG = { accountKey: null } as const
let root: string
let temporary: TemporaryStore
beforeEach(async () => {
  root = newFolder()
  temporary = await openTemporaryStore()
})
afterEach(() => temporary.remove())

const secretOf = (index: number): Uint8Array => new Uint8Array(20).fill(index)

const withUsers = async () => {
  const { store } = temporary
  const folder = { accountKey: join(root, 'account-key') }
  const oldKey = await prepareAccountKey(CONFIG, folder, store.deployment)
  const box = createRotatingBox(() => readAccountKeys(CONFIG, folder))
  const ids: string[] = []
  for (const name of ['ada', 'bea', 'cem']) {
    const account = { email: `${name}@example.com`, name, deploymentAdmin: false, passwordHash: null }
    const { id } = await store.users.create(account)
    await store.users.proposeTotp(id, box.seal(secretOf(ids.length), totpContext(id)))
    ids.push(id)
  }
  /** Opens the secret as a sign-in does. */
  const open = async (index: number): Promise<Uint8Array> => {
    const userId = ids[index] ?? ''
    const sealed = (await store.users.findCredential({ userId }))?.totpSecret ?? new Uint8Array()
    return box.open(sealed, totpContext(userId))
  }
  const openAll = async (): Promise<void> => {
    for (const [index] of ids.entries()) expect(await open(index)).toEqual(Buffer.from(secretOf(index)))
  }
  return { store, folder, oldKey, box, ids, openAll }
}

test('only the new key opens the secrets after a rotation', async () => {
  const { store, folder, oldKey, ids, openAll } = await withUsers()
  const rotated = await rotateAccountKey({ config: CONFIG, folder, store })
  const previous = `${folder.accountKey}.previous-1`
  expect(rotated).toEqual({ secrets: 3, unreadable: 0, file: folder.accountKey, inPlace: true, previous })
  await openAll()
  expect(existsSync(`${folder.accountKey}.next`)).toBe(false)
  for (const { userId, sealed } of await store.users.listTotpSecrets()) {
    expect(ids).toContain(userId)
    expect(() => createSecretBox(oldKey).open(sealed, totpContext(userId))).toThrow(SealBrokenError)
  }
  expect(await rotateAccountKey({ config: CONFIG, folder, store })).toMatchObject({ secrets: 3 })
  // Backups from before either rotation stay readable.
  expect(readKeyFile(previous, ACCOUNT_KEY)).toEqual(oldKey)
  expect(existsSync(`${folder.accountKey}.previous-2`)).toBe(true)
})

test('an interrupted rotation resumes; until then, a service opens all secrets and seals with the next key', async () => {
  const { store, folder, box, ids, openAll } = await withUsers()
  writeFileSync(`${folder.accountKey}.next`, `${'a7'.repeat(32)}\n`)
  const next = createSecretBox(new Uint8Array(32).fill(0xa7))
  const [first = '', second = ''] = ids
  const sealedOf = async (id: string): Promise<Uint8Array> =>
    (await store.users.listTotpSecrets()).find(({ userId }) => userId === id)?.sealed ?? new Uint8Array()
  const resealed = next.seal(secretOf(0), totpContext(first))
  await store.users.exchangeTotpSecret(first, await sealedOf(first), resealed)
  await openAll()
  await store.users.proposeTotp(second, box.seal(secretOf(1), totpContext(second)))
  expect(next.open(await sealedOf(second), totpContext(second))).toEqual(Buffer.from(secretOf(1)))
  expect(await rotateAccountKey({ config: CONFIG, folder, store })).toMatchObject({ secrets: 1, inPlace: true })
  expect(readFileSync(folder.accountKey, 'utf8').trim()).toBe('a7'.repeat(32))
  await openAll()
})

test('a secret that changes during the rotation is not overwritten', async () => {
  const { store, ids } = await withUsers()
  const userId = ids[0] ?? ''
  const row = (await store.users.listTotpSecrets()).find((one) => one.userId === userId)
  await store.users.proposeTotp(userId, new Uint8Array([1, 2, 3]))
  await store.users.exchangeTotpSecret(userId, row?.sealed ?? new Uint8Array(), new Uint8Array([9]))
  expect((await store.users.findCredential({ userId }))?.totpSecret).toEqual(new Uint8Array([1, 2, 3]))
})

test('a secret that no key opens is counted and skipped; a key in a variable is refused', async () => {
  const { store, folder, ids } = await withUsers()
  await store.users.proposeTotp(ids[0] ?? '', new Uint8Array(40))
  expect(await rotateAccountKey({ config: CONFIG, folder, store })).toMatchObject({ secrets: 2, unreadable: 1 })
  const accountKey = { source: 'environment', name: 'COUNTERSIGN_ACCOUNT_KEY' } as const
  await expect(rotateAccountKey({ config: { accountKey }, folder, store })).rejects.toThrow(
    'COUNTERSIGN_ACCOUNT_KEY_FILE',
  )
})

test('derived keys stay the same while the file cannot be read', async () => {
  const { folder, oldKey } = await withUsers()
  const failures: unknown[] = []
  const keys = keepLastKeys(
    () => readAccountKeys(CONFIG, folder),
    (error) => failures.push(error),
  )
  rmSync(folder.accountKey)
  expect([keys(), failures.length]).toEqual([[oldKey], 1])
  writeFileSync(folder.accountKey, `${'a7'.repeat(32)}\n`)
  expect(keys()).toEqual([new Uint8Array(32).fill(0xa7)])
})

test('a command beside a running service is audited, and the service switches to the new key', async () => {
  const dataDirectory = join(root, 'data')
  const service = await startService({ dataDirectory, environment: { COUNTERSIGN_WORKERS: '1' } })
  try {
    const before = readFileSync(join(dataDirectory, 'secrets', 'account-key'), 'utf8')
    const rotated = await runCommand(dataDirectory, 'account-key', 'rotate')
    expect(rotated).toMatchObject({ code: 0, stderr: '' })
    expect(rotated.stdout).toMatch(/^earlier backups need the previous key: keep .*account-key\.previous-1 /m)
    const after = readFileSync(join(dataDirectory, 'secrets', 'account-key'), 'utf8')
    expect(after).not.toBe(before)
    const dashboard = (service.quickstart['DASHBOARD_URL'] ?? '').replace('127.0.0.1', 'localhost')
    const offered = await fetch(`${dashboard}/admin/v1/sign-in/passkey/options`, {
      method: 'POST',
      headers: { origin: dashboard, 'content-type': 'application/json' },
      body: '{}',
    })
    const { challenge_id } = (await offered.json()) as { challenge_id: string }
    const checkedWith = (hex: string) =>
      createChallenges(() => [Uint8Array.fromHex(hex.trim())], systemClock).check(challenge_id, {
        purpose: 'sign-in',
        userId: null,
      })
    expect([checkedWith(before) === null, checkedWith(after) === null]).toEqual([true, false])
    const listed = await runCommand(dataDirectory, 'audit', 'list', '--json')
    const { data } = JSON.parse(listed.stdout) as { data: { action: string; organization_id: string | null }[] }
    expect(data[0]).toMatchObject({ action: 'command.account-key.rotate', organization_id: null })
  } finally {
    expect(await service.stop()).toBe(0)
  }
}, 60_000)
