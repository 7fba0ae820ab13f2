// `countersign doctor` beside the chains: the folder, its owners and its room, the signing code, lists, backups, and the
// database's clock. Each finding says what to do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SPACE_NOTE_BYTES, SPACE_PROBLEM_BYTES, spaceFinding } from '../../src/cli/doctor/doctor-machine.ts'
import { inspectStore } from '../../src/cli/doctor/doctor-store.ts'
import { systemClock } from '../../src/lib/time.ts'
import { inspectScreening } from '../../src/modules/screening/commands/doctor-screening.ts'
import { prepareAccountKey } from '../../src/setup/account-key.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import type { Finding } from '../../src/setup/finding.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { openIdentity } from '../identity/support.ts'
import { openOverPostgres } from '../store/temporary-store.ts'
import * as postgres from '../support/postgres.ts'
import { type CommandWorld, openCommandWorld } from './world.ts'

const DAY_SECONDS = 86_400

let world: CommandWorld
beforeAll(async () => {
  world = await openCommandWorld()
})
afterAll(() => world.remove())

const doctor = async (...words: string[]) => {
  const { code, stdout } = await world.run('doctor', '--json', ...words)
  const { ok, exposure } = JSON.parse(stdout) as { ok: boolean; exposure: Finding[] }
  expect(code).toBe(ok ? 0 : 1)
  return (check: string) => exposure.filter((finding) => finding.check === check)
}

test('a folder that is not there is a problem, and one without a deployment is named', async () => {
  const missing = join(world.root, 'nowhere')
  const of = await doctor('--data-dir', missing)
  expect(of('folder')).toEqual([
    {
      check: 'folder',
      subject: missing,
      result: 'problem',
      detail: expect.stringContaining('start the service once, or set --data-dir'),
    },
  ])
  const empty = await doctor('--data-dir', join(world.root, 'secrets'))
  expect([empty('folder'), empty('store')]).toMatchObject([[], [{ result: 'note' }]])
})

test('room on the disk', () => {
  const of = (bytes: number) => spaceFinding('/data', bytes).result
  expect([SPACE_NOTE_BYTES, SPACE_NOTE_BYTES - 1, SPACE_PROBLEM_BYTES, SPACE_PROBLEM_BYTES - 1].map(of)).toEqual([
    'ok',
    'note',
    'note',
    'problem',
  ])
  expect(spaceFinding('/data', 5 * 2 ** 20).detail).toStartWith('5 MiB free: free up space')
})

test('signatures that are made in JavaScript', async () => {
  world.environment['COUNTERSIGN_SIGNER'] = 'noble'
  const found = (await doctor())('signer')
  delete world.environment['COUNTERSIGN_SIGNER']
  expect(found).toMatchObject([
    { subject: 'noble', result: 'note', detail: expect.stringContaining('install libsecp256k1') },
  ])
})

test('secrets that the next start could not use', async () => {
  const deployment = await openCommandWorld()
  try {
    const { root, run } = deployment
    for (const words of ['org create acme', 'attester create --kind secp256k1', 'evidence rotate-key']) {
      expect(await run(...words.split(' '))).toMatchObject({ code: 0 })
    }
    const problems = async () => {
      const { code, stdout } = await run('doctor', '--json')
      const { exposure } = JSON.parse(stdout) as { exposure: Finding[] }
      const found = exposure.filter(({ result }) => result === 'problem')
      expect(code).toBe(found.length > 0 ? 1 : 0)
      return found.map(({ subject, detail }) => [subject, detail])
    }
    await deployment.withStore((store) => prepareAccountKey({ accountKey: null }, dataFolderAt(root), store.deployment))
    expect(await problems()).toEqual([])
    const keystore = join(root, 'keystores', readdirSync(join(root, 'keystores'))[0] ?? '')
    const faults: [path: string, content: string | null, subject: string, detail: string][] = [
      [keystore, null, keystore, 'the file cannot be read (ENOENT)'],
      [keystore, '{', keystore, 'the file is not valid JSON'],
      [join(root, 'secrets', 'passphrase'), null, 'passphrase', 'the passphrase file is missing'],
      [join(root, 'secrets', 'passphrase'), 'another', keystore, 'the passphrase is wrong, or the file was altered'],
      [join(root, 'secrets', 'evidence-key'), null, 'evidence key', 'the evidence key is missing'],
      [join(root, 'secrets', 'evidence-key'), 'ab'.repeat(32), 'evidence key', 'the evidence key does not match'],
      [join(root, 'secrets', 'account-key'), null, 'account key', 'the account key is missing'],
    ]
    for (const [path, content, subject, detail] of faults) {
      renameSync(path, `${path}.kept`)
      if (content !== null) writeFileSync(path, content, { mode: 0o600 })
      expect(await problems()).toEqual([[subject, expect.stringContaining(detail)]])
      rmSync(path, { force: true })
      renameSync(`${path}.kept`, path)
    }
    expect(await problems()).toEqual([])
    // A start leaves out one keystore of several.
    expect((await run('attester', 'create', '--kind', 'secp256k1')).code).toBe(0)
    rmSync(keystore)
    expect(await problems()).toEqual([[keystore, expect.stringContaining('a keystore is missing')]])
  } finally {
    deployment.remove()
  }
}, 30_000)

test('a list that its source has not confirmed for long', async () => {
  const list = async () => (await doctor())('list')
  expect(await list()).toEqual([])
  const path = world.file('sanctions.txt', '0x1111111111111111111111111111111111111111\n')
  await world.run('lists', 'create', 'sanctions', '--shared')
  expect((await world.run('list-source', 'update', 'sanctions', '--shared', '--from', path)).code).toBe(0)
  expect((await world.run('list-source', 'refresh', 'sanctions', '--shared')).code).toBe(0)
  expect(await list()).toMatchObject([{ subject: 'sanctions', result: 'ok' }])
  world.clock.advance(2 * DAY_SECONDS + 60)
  expect(await list()).toMatchObject([
    {
      result: 'problem',
      detail: expect.stringMatching(/2 d ago.*: bun run countersign list-source refresh sanctions --shared$/),
    },
  ])
})

test('a list of sanctioned people that was not confirmed for long', async () => {
  const list = async () => (await doctor())('list').filter(({ subject }) => subject === 'screening own')
  const path = world.file('own.csv', 'id,kind,name\np1,person,Ivan Primerov\n')
  expect((await world.run('screening-list', 'import', 'own', path, '--format', 'csv')).code).toBe(0)
  expect(await list()).toMatchObject([{ result: 'ok' }])
  world.clock.advance(2 * DAY_SECONDS + 60)
  const detail = expect.stringMatching(/2 d ago: bun run countersign screening-list import own FILE$/)
  expect(await list()).toMatchObject([{ detail, result: 'problem' }])
})

test('verified people with a hit that nobody has decided, and where they are', async () => {
  const { store, clock, complete, createOrganization, remove } = await openIdentity()
  try {
    const hits = async () => (await inspectScreening({ store, clock })).filter(({ check }) => check === 'hits')
    const organizationId = await createOrganization('alpha')
    const { session } = await complete(organizationId, [])
    expect(await hits()).toEqual([])
    await openHit(store, organizationId, session.id)
    const detail = expect.stringContaining('countersign session list --status completed --hits open --org alpha')
    expect(await hits()).toEqual([{ check: 'hits', subject: 'alpha', result: 'note', detail }])
  } finally {
    await remove()
  }
})

test('backups, by their entries in the audit log', async () => {
  const backup = async () => (await doctor())('backup')[0]
  expect(await backup()).toMatchObject({ result: 'note', detail: expect.stringContaining('no backup exists') })
  expect((await world.run('backup', '--to', join(world.root, 'backup'))).code).toBe(0)
  expect(await backup()).toMatchObject({ result: 'ok' })
  world.clock.advance(2 * DAY_SECONDS + 60)
  expect(await backup()).toMatchObject({ result: 'note', detail: expect.stringContaining('2 d old') })
})

test.skipIf(process.getuid?.() !== 0)('files of another user, which only root can make', async () => {
  expect((await doctor())('access').filter(({ result }) => result === 'problem')).toEqual([])
  const secrets = join(world.root, 'secrets')
  const file = join(secrets, readdirSync(secrets)[0] ?? '')
  chmodSync(file, 0o440)
  chownSync(file, 12_345, 0)
  // Readable by its group: a mounted secret.
  expect((await doctor())('access').filter(({ result }) => result === 'problem')).toEqual([])
  chmodSync(file, 0o600)
  expect((await doctor())('access')).toContainEqual({
    check: 'access',
    subject: secrets,
    result: 'problem',
    detail: expect.stringContaining('not readable by the owner of the data folder'),
  })
})

const missing = postgres.POSTGRES_MISSING
describe.skipIf(missing !== null)(`over PostgreSQL${missing === null ? '' : ` (${missing})`}`, () => {
  test('a database with another clock', async () => {
    const { store, clock, remove } = await openOverPostgres(postgres)
    try {
      const clockOf = async (own: typeof systemClock) =>
        (await inspectStore(store, own, '')).filter(({ check }) => check === 'clock')
      expect(await clockOf(systemClock)).toMatchObject([{ subject: 'store', result: 'ok' }])
      expect(await clockOf(clock)).toMatchObject([{ result: 'problem', detail: expect.stringContaining('NTP') }])
      const late = { ...systemClock, unixSeconds: () => systemClock.unixSeconds() - 8 }
      expect(await clockOf(late)).toMatchObject([{ result: 'note' }])
    } finally {
      await remove()
    }
  }, 60_000)
})
