// `countersign doctor` without its chain checks. Each finding names a remedy.
import { afterAll, expect, test } from 'bun:test'
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
import { openCommandWorld } from './world.ts'

const TWO_DAYS_SECONDS = 2 * 86_400 + 60

const world = await openCommandWorld()
afterAll(() => world.remove())

/** The findings of all checks, except errors of other checks. */
const findingsOf = async ({ run }: Pick<typeof world, 'run'>, ...words: string[]): Promise<readonly Finding[]> => {
  const { code, stdout } = await run('doctor', '--json', ...words)
  const { ok, exposure } = JSON.parse(stdout) as { ok: boolean; exposure: Finding[] }
  expect(code).toBe(ok ? 0 : 1)
  return exposure
}
const doctor = async (check: string, ...words: string[]) =>
  (await findingsOf(world, ...words)).filter((finding) => finding.check === check)

test('a missing folder is a problem, and a folder without a deployment is noted', async () => {
  const subject = join(world.root, 'nowhere')
  const detail = expect.stringContaining('start the service once, or set --data-dir')
  expect(await doctor('folder', '--data-dir', subject)).toEqual([
    { check: 'folder', subject, result: 'problem', detail },
  ])
  const empty = ['--data-dir', join(world.root, 'secrets')]
  expect([await doctor('folder', ...empty), await doctor('store', ...empty)]).toMatchObject([[], [{ result: 'note' }]])
})

test('low disk space is noted first, and becomes a problem as it shrinks', () => {
  const sizes = [SPACE_NOTE_BYTES, SPACE_NOTE_BYTES - 1, SPACE_PROBLEM_BYTES, SPACE_PROBLEM_BYTES - 1]
  const results = sizes.map((bytes) => spaceFinding('/data', bytes).result)
  expect(results).toEqual(['ok', 'note', 'note', 'problem'])
  expect(spaceFinding('/data', 5 * 2 ** 20).detail).toStartWith('5 MiB free: free up space')
})

test('signing in JavaScript is noted', async () => {
  world.environment['COUNTERSIGN_SIGNER'] = 'noble'
  const found = await doctor('signer')
  delete world.environment['COUNTERSIGN_SIGNER']
  const detail = expect.stringContaining('install libsecp256k1')
  expect(found).toMatchObject([{ subject: 'noble', result: 'note', detail }])
})

test('secrets that the next start could not use are problems', async () => {
  const deployment = await openCommandWorld()
  try {
    const { root, run } = deployment
    for (const words of ['org create acme', 'attester create --kind secp256k1', 'evidence rotate-key']) {
      expect(await run(...words.split(' '))).toMatchObject({ code: 0 })
    }
    const problems = async () =>
      (await findingsOf(deployment)).flatMap(({ result, subject, detail }) =>
        result === 'problem' ? [[subject, detail]] : [],
      )
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
    // The service would start without the missing keystore.
    expect((await run('attester', 'create', '--kind', 'secp256k1')).code).toBe(0)
    rmSync(keystore)
    expect(await problems()).toEqual([[keystore, expect.stringContaining('a keystore is missing')]])
  } finally {
    deployment.remove()
  }
}, 30_000)

test('a list is a problem if its source has not been confirmed for two days', async () => {
  expect(await doctor('list')).toEqual([])
  const path = world.file('sanctions.txt', '0x1111111111111111111111111111111111111111\n')
  await world.run('lists', 'create', 'sanctions', '--shared')
  expect((await world.run('list-source', 'update', 'sanctions', '--shared', '--from', path)).code).toBe(0)
  expect((await world.run('list-source', 'refresh', 'sanctions', '--shared')).code).toBe(0)
  expect(await doctor('list')).toMatchObject([{ subject: 'sanctions', result: 'ok' }])
  world.clock.advance(TWO_DAYS_SECONDS)
  const detail = expect.stringMatching(/2 d ago.*: bun run countersign list-source refresh sanctions --shared$/)
  expect(await doctor('list')).toMatchObject([{ result: 'problem', detail }])
})

test('a sanctions list is a problem if it has not been confirmed for two days', async () => {
  const list = async () => (await doctor('list')).filter(({ subject }) => subject === 'screening own')
  const path = world.file('own.csv', 'id,kind,name\np1,person,Ivan Primerov\n')
  expect((await world.run('screening-list', 'import', 'own', path, '--format', 'csv')).code).toBe(0)
  expect(await list()).toMatchObject([{ result: 'ok' }])
  world.clock.advance(TWO_DAYS_SECONDS)
  const detail = expect.stringMatching(/2 d ago: bun run countersign screening-list import own FILE$/)
  expect(await list()).toMatchObject([{ detail, result: 'problem' }])
})

test('an open hit of a verified person is noted, with a command that lists the sessions', async () => {
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

test('a missing or old backup is noted', async () => {
  const backup = async () => (await doctor('backup'))[0]
  expect(await backup()).toMatchObject({ result: 'note', detail: expect.stringContaining('no backup exists') })
  expect((await world.run('backup', '--to', join(world.root, 'backup'))).code).toBe(0)
  expect(await backup()).toMatchObject({ result: 'ok' })
  world.clock.advance(TWO_DAYS_SECONDS)
  expect(await backup()).toMatchObject({ result: 'note', detail: expect.stringContaining('2 d old') })
})

// Only root can create files of another user.
test.skipIf(process.getuid?.() !== 0)('a secret that the owner of the folder cannot read is a problem', async () => {
  const problems = async () => (await doctor('access')).filter(({ result }) => result === 'problem')
  expect(await problems()).toEqual([])
  const subject = join(world.root, 'secrets')
  const file = join(subject, readdirSync(subject)[0] ?? '')
  // A mounted secret is readable by its group.
  chmodSync(file, 0o440)
  chownSync(file, 12_345, 0)
  expect(await problems()).toEqual([])
  chmodSync(file, 0o600)
  const detail = expect.stringContaining('not readable by the owner of the data folder')
  expect(await problems()).toContainEqual({ check: 'access', subject, result: 'problem', detail })
})

const missing = postgres.POSTGRES_MISSING
test.skipIf(missing !== null)(
  `a PostgreSQL database with another clock is noted, or a problem${missing === null ? '' : ` (${missing})`}`,
  async () => {
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
  },
  60_000,
)
