// Backups of a running service: they contain all data acknowledged before, start elsewhere with the same keys, and are
// refused if they were changed.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runBackup } from '../../../src/modules/backups/commands/backup.ts'
import { dataFolderAt } from '../../../src/setup/data-folder.ts'
import { type Acknowledged, attestUnder } from '../../cli/acknowledged.ts'
import { runCountersign, runToEnd } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { createTemporaryDatabase, POSTGRES_MISSING } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { words } from '../../support/words.ts'

/** Sends requests one after another until it is stopped, and records the responses. */
const load = (service: RunningService, name: string) => {
  const answers = new Map<string, Acknowledged>()
  let stopped = false
  const work = async (): Promise<void> => {
    for (let number = 0; !stopped; number++) {
      const key = `${name}-${number}`
      answers.set(key, await attestUnder(service, key))
    }
  }
  const done = work()
  return {
    answers,
    stop: async (): Promise<void> => {
      stopped = true
      await done
    },
  }
}

/** Verifies the decision log against its tree, and the audit log. */
const verifyLogs = async (folder: string, environment: Readonly<Record<string, string>> = {}): Promise<void> => {
  const given = { COUNTERSIGN_DATA_DIR: folder, ...environment }
  const verified = await runCountersign(given, 'decisions', 'verify', '--json')
  const { tree } = JSON.parse(verified.stdout) as { tree: { size: number; problems: string[] } }
  expect([verified.code, tree.problems]).toEqual([0, []])
  expect(tree.size).toBeGreaterThan(0)
  expect(await runCountersign(given, 'audit', 'verify')).toMatchObject({ code: 0 })
}

let service: RunningService
let backup = ''
let backupFolder = ''
let before: ReadonlyMap<string, Acknowledged> = new Map()

beforeAll(async () => {
  backupFolder = newFolder()
  service = await startService()
  const running = load(service, 'load')
  await until(() => running.answers.size >= 20)
  before = new Map(running.answers)
  // Waits until the tree of the backup is not empty.
  const [first] = before.values()
  const proves = ['decisions', 'prove', first?.attestation.uuid ?? ''] as const
  await until(async () => (await runCommand(service.dataDirectory, ...proves)).code === 0)
  backup = join(backupFolder, 'one')
  const result = await runCommand(service.dataDirectory, 'backup', '--to', backup, '--with-secrets', '--with-decisions')
  await running.stop()
  expect(result).toMatchObject({ code: 0 })
  expect(running.answers.size).toBeGreaterThan(before.size)
}, 60_000)

afterAll(async () => {
  await service.stop()
})

describe('a backup under load', () => {
  test('is a folder for its owner only, without temporary files', () => {
    expect(readdirSync(backupFolder)).toEqual(['one'])
    expect(statSync(backup).mode & 0o077).toBe(0)
    expect(readdirSync(backup).sort()).toEqual(
      words`
        countersign.db decision-tree.db decisions keystores manifest.json quickstart.env secrets settings.json
      `.sort(),
    )
    const modes = (readdirSync(backup, { recursive: true }) as string[]).map(
      (name) => statSync(join(backup, name)).mode,
    )
    expect(modes.filter((mode) => (mode & 0o077) !== 0)).toEqual([])
    const { files, store } = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8'))
    expect(store).toBe('sqlite')
    expect(files.length).toBeGreaterThan(5)
  })

  test('is recorded in the audit log of its deployment', async () => {
    const { code, stdout } = await runCommand(service.dataDirectory, 'audit', 'list', '--json')
    expect(code).toBe(0)
    expect(stdout).toContain('"command.backup"')
    expect(stdout).not.toContain(backupFolder)
  })

  test('fails if a secret is rotated while it runs', async () => {
    const to = join(newFolder(), 'mixed')
    const folder = dataFolderAt(service.dataDirectory)
    const next = `${folder.evidenceKey}.next`
    let stderr = ''
    const code = await runBackup(['--to', to], {
      folder,
      output: { stdout: () => undefined, stderr: (text) => (stderr += text) },
      locateStore: async () => ({ kind: 'sqlite', path: folder.database }),
      describeSettings: () => {
        // Settings are copied last, after the rotation has started.
        writeFileSync(next, 'ab'.repeat(32), { mode: 0o600 })
        return {}
      },
      configFile: null,
      treeTables: null,
      openBucket: () => {
        throw new Error('no bucket is named')
      },
      evidenceKeys: async () => [],
      note: async () => undefined,
      now: () => new Date(),
      stopped: () => new AbortController().signal,
    })
    rmSync(next)
    const message = 'a secret was rotated during the backup: run the backup again after the rotation\n'
    expect([code, stderr]).toEqual([1, message])
    expect(existsSync(to)).toBe(false)
  })

  test('of a database with another schema version is not recorded in the audit log', async () => {
    const folder = join(newFolder(), 'data')
    expect(await runCommand('', 'restore', '--from', backup, '--data-dir', folder)).toMatchObject({ code: 0 })
    const path = join(folder, 'countersign.db')
    const file = new Database(path)
    file.run('DELETE FROM schema_migrations WHERE number = (SELECT MAX(number) FROM schema_migrations)')
    file.close()
    const made = await runCommand(folder, 'backup', '--to', join(newFolder(), 'older'))
    expect(made.code).toBe(0)
    const reason = 'the database version differs from this command’s version'
    expect(made.stderr).toContain(`Not recorded in the audit log: ${reason}`)
  }, 20_000)

  test('can be started elsewhere with the same keys and all acknowledged responses', async () => {
    const folder = join(newFolder(), 'data')
    expect(await runCommand('', 'restore', '--from', backup, '--data-dir', folder)).toMatchObject({ code: 0 })
    const verified = await runCommand(folder, 'decisions', 'verify', '--json')
    expect(verified.code).toBe(0)
    const restored = await startService({ dataDirectory: folder })
    try {
      // Responses stored under their idempotency keys before the backup.
      for (const [key, answer] of before) expect(await attestUnder(restored, key)).toEqual(answer)
      const [mine, theirs] = [await attestUnder(service, 'new'), await attestUnder(restored, 'new')]
      expect(theirs.attestation.uuid).not.toBe(mine.attestation.uuid)
      const attesters = await runCommand(folder, 'attester', 'list')
      expect(attesters.stdout).toBe((await runCommand(service.dataDirectory, 'attester', 'list')).stdout)
    } finally {
      expect(await restored.stop()).toBe(0)
    }
    expect((await runCommand(folder, 'decisions', 'verify')).code).toBe(0)
  }, 60_000)

  test('omits secrets and decisions by default, with a message', async () => {
    const to = join(newFolder(), 'plain')
    const made = await runCommand(service.dataDirectory, 'backup', '--to', to)
    expect(made.code).toBe(0)
    expect(made.stderr).toContain('store them elsewhere')
    expect(readdirSync(to).sort()).toEqual(['countersign.db', 'keystores', 'manifest.json', 'settings.json'])
    const folder = join(newFolder(), 'data')
    const restored = await runCommand('', 'restore', '--from', to, '--data-dir', folder)
    expect(restored.code).toBe(0)
    expect(restored.stderr).toContain('Before starting the service')
    cpSync(join(service.dataDirectory, 'secrets'), join(folder, 'secrets'), { recursive: true })
    const started = await startService({ dataDirectory: folder }).catch((error: unknown) => error)
    // The service starts, although quickstart.env, a secret that only the test needs, is missing.
    expect(String(started)).toContain('quickstart.env')
  }, 60_000)
})

describe('a backup of a log with an incomplete line', () => {
  test('contains only complete lines, and no secrets by default', async () => {
    const folder = join(newFolder(), 'data')
    expect(await runCommand('', 'restore', '--from', backup, '--data-dir', folder)).toMatchObject({ code: 0 })
    const slot = join(folder, 'decisions', 'w00')
    const newest = readdirSync(slot).sort().at(-1) ?? ''
    const whole = readFileSync(join(slot, newest))
    writeFileSync(join(slot, newest), Buffer.concat([whole, Buffer.from('{"prev":"0123')]))
    const to = join(newFolder(), 'torn')
    expect(await runCommand(folder, 'backup', '--to', to, '--with-decisions')).toMatchObject({ code: 0 })
    expect(readFileSync(join(to, 'decisions', 'w00', newest))).toEqual(whole)
    const names = words`countersign.db decision-tree.db decisions keystores manifest.json settings.json`
    expect(readdirSync(to).sort()).toEqual(names)
  }, 60_000)
})

describe('a restore', () => {
  const restore = (from: string, folder: string) => runCommand('', 'restore', '--from', from, '--data-dir', folder)

  test('that fails leaves no files, and neither does a failed backup', async () => {
    const parent = newFolder()
    const used = join(parent, 'used.db')
    cpSync(join(backup, 'countersign.db'), used)
    const options = ['--from', backup, '--data-dir', join(parent, 'data')]
    const restored = await runCountersign({ COUNTERSIGN_STORE: `sqlite:${used}` }, 'restore', ...options)
    expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })
    expect(readdirSync(parent).filter((name) => !name.startsWith('used.db'))).toEqual([])

    const broken = join(parent, 'used.db-broken')
    writeFileSync(broken, 'no database')
    const settings = { COUNTERSIGN_STORE: `sqlite:${broken}`, COUNTERSIGN_DATA_DIR: service.dataDirectory }
    const backedUp = await runCountersign(settings, 'backup', '--to', join(parent, 'backup'))
    expect(backedUp.code).toBe(1)
    expect(readdirSync(parent).filter((name) => !name.startsWith('used.db'))).toEqual([])
  }, 60_000)

  test('refuses a folder that is not empty, and does not change it', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'mine'), 'x')
    const refused = await restore(backup, folder)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('is not empty')
    expect(readdirSync(folder)).toEqual(['mine'])
  }, 20_000)

  test('refuses changed, missing and added files, and a manifest with other paths', async () => {
    const cases: readonly [(copy: string) => void, string][] = [
      [
        (copy) => {
          const path = join(copy, 'countersign.db')
          const bytes = readFileSync(path)
          bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1
          writeFileSync(path, bytes)
        },
        'countersign.db in the backup does not match',
      ],
      [(copy) => rmSync(join(copy, 'settings.json')), 'settings.json is missing'],
      [
        (copy) => writeFileSync(join(copy, 'keystores', 'more.json'), '{}'),
        'keystores/more.json in the backup is not in',
      ],
      [
        (copy) => {
          const path = join(copy, 'manifest.json')
          writeFileSync(path, readFileSync(path, 'utf8').replace('"settings.json"', '"keystores/../../x"'))
        },
        'has an unsupported version',
      ],
      [(copy) => rmSync(join(copy, 'manifest.json')), 'no backup found in'],
    ]
    for (const [change, reason] of cases) {
      const copy = join(newFolder(), 'copy')
      cpSync(backup, copy, { recursive: true })
      change(copy)
      const parent = newFolder()
      const refused = await restore(copy, join(parent, 'data'))
      expect(refused.stderr).toContain(reason)
      expect(refused.code).toBe(1)
      expect(readdirSync(parent)).toEqual([])
    }
  }, 60_000)

  test('fills an existing empty folder, such as a volume, without temporary files', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'lost+found'))
    expect(await restore(backup, folder)).toMatchObject({ code: 0 })
    expect(readdirSync(folder).sort()).toEqual(
      'countersign.db decision-tree.db decisions keystores lost+found quickstart.env secrets'.split(' ').sort(),
    )
    const listed = await runCommand(folder, 'org', 'list')
    expect(listed.stdout).toBe((await runCommand(service.dataDirectory, 'org', 'list')).stdout)
  }, 30_000)

  test('--check compares and creates no files', async () => {
    const folder = join(newFolder(), 'data')
    const checked = await runCommand('', 'restore', '--check', '--from', backup, '--data-dir', folder)
    expect(checked).toMatchObject({ code: 0 })
    expect(checked.stdout).toContain('all valid')
    expect(existsSync(folder)).toBe(false)
  }, 20_000)
})

test('the config file is backed up only with the secrets, because its RPC URLs may contain keys', async () => {
  const folder = newFolder()
  const config = join(folder, 'config.yaml')
  writeFileSync(config, 'chains: { base: { rpc: ["https://rpc.example/v2/a-secret"] } }\n')
  for (const [name, more] of [
    ['plain', []],
    ['whole', ['--with-secrets']],
  ] as const) {
    const to = join(folder, name)
    const made = await runCommand(service.dataDirectory, 'backup', '--to', to, '--config', config, ...more)
    expect(made).toMatchObject({ code: 0 })
    expect(existsSync(join(to, 'config-file'))).toBe(name === 'whole')
    expect(readFileSync(join(to, 'settings.json'), 'utf8')).not.toContain('a-secret')
    const checked = await runCommand('', 'restore', '--check', '--from', to, '--data-dir', join(folder, 'data'))
    expect(checked).toMatchObject({ code: 0 })
  }
}, 30_000)

test('a backup never overwrites a folder, and a failed backup leaves no files', async () => {
  const to = newFolder()
  const refused = await runCommand(service.dataDirectory, 'backup', '--to', to)
  expect(refused).toMatchObject({ code: 1 })
  expect(readdirSync(to)).toEqual([])
  const nowhere = await runCommand(join(to, 'missing'), 'backup', '--to', join(to, 'x'))
  expect(nowhere.code).toBe(1)
  expect(readdirSync(to)).toEqual([])
}, 20_000)

describe.skipIf(POSTGRES_MISSING !== null)(
  `with PostgreSQL${POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`}`,
  () => {
    test('a SQLite backup is restored to PostgreSQL, and a PostgreSQL backup to SQLite', async () => {
      const database = await createTemporaryDatabase()
      try {
        const parent = newFolder()
        const address = join(parent, 'address')
        writeFileSync(address, database.address)
        const environment = { COUNTERSIGN_STORE_FILE: address }
        const folder = join(parent, 'data')
        const there = await runCountersign(environment, 'restore', '--from', backup, '--data-dir', folder)
        expect(there).toMatchObject({ code: 0 })
        expect(existsSync(join(folder, 'countersign.db'))).toBe(false)
        // Without the store setting, the service refuses to start.
        const lost = await runToEnd(['bun', 'src/main.ts'], {
          COUNTERSIGN_DATA_DIR: folder,
          COUNTERSIGN_API_LISTEN: '127.0.0.1:0',
          COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
          COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
        })
        expect(lost.code).toBe(2)
        expect(lost.stderr).toContain(`is the store ${database.name} at`)
        expect(existsSync(join(folder, 'countersign.db'))).toBe(false)
        expect(existsSync(join(folder, 'decision-tree.db'))).toBe(false)
        await verifyLogs(folder, environment)
        const onPostgres = await startService({ dataDirectory: folder, environment })
        const running = load(onPostgres, 'postgres')
        await until(() => running.answers.size >= 10)
        const known = new Map([...before, ...running.answers])
        const second = join(parent, 'second')
        const all = ['--with-secrets', '--with-decisions']
        const made = await runCountersign(environment, 'backup', '--to', second, '--data-dir', folder, ...all)
        await running.stop()
        expect(await onPostgres.stop()).toBe(0)
        expect(made).toMatchObject({ code: 0 })
        expect(made.stderr + made.stdout).not.toContain('canary-password')

        const back = join(parent, 'back')
        expect(await runCommand('', 'restore', '--from', second, '--data-dir', back)).toMatchObject({ code: 0 })
        await verifyLogs(back)
        const restored = await startService({ dataDirectory: back })
        try {
          for (const [key, answer] of known) expect(await attestUnder(restored, key)).toEqual(answer)
        } finally {
          expect(await restored.stop()).toBe(0)
        }
        expect(restored.output().stderr).not.toContain('no head of the decision log is signed')
        await verifyLogs(back)
        const options = ['--from', second, '--data-dir', join(parent, 'other')]
        const again = await runCountersign(environment, 'restore', ...options)
        expect(again.code).toBe(1)
        expect(again.stderr).toContain('not empty')
        expect(existsSync(join(parent, 'other'))).toBe(false)
      } finally {
        await database.remove()
      }
    }, 90_000)
  },
)
