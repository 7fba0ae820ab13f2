// `countersign migrate`: moves a stopped deployment to PostgreSQL and back with all acknowledged data.
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/lib/time.ts'
import { databaseScope } from '../../../src/store/copy/table-scope.ts'
import { createLiveProcessTable } from '../../../src/store/live-processes.ts'
import { openMigratedDatabase } from '../../../src/store/open-database.ts'
import { type Acknowledged, attestUnder } from '../../cli/acknowledged.ts'
import { runCountersign, runToEnd } from '../../service/run-to-end.ts'
import { runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { createTemporaryDatabase, POSTGRES_MISSING } from '../../support/postgres.ts'
import { POSTGRES_PASSWORD } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'

let folder = ''
const removers: (() => Promise<void>)[] = []

const database = (): string => join(folder, 'data', 'countersign.db')
const migrate = (...options: string[]) => runCommand(join(folder, 'data'), 'migrate', ...options)

beforeAll(() => {
  folder = newFolder()
})
afterEach(async () => {
  for (const remove of removers.splice(0)) await remove()
})

describe('migrate', () => {
  test('refuses a database that a service uses', async () => {
    const service = await startService({ dataDirectory: join(folder, 'data') })
    try {
      const refused = await migrate('--from', `sqlite:${database()}`, '--to', `sqlite:${join(folder, 'new.db')}`)
      expect(refused).toMatchObject({ code: 1 })
      expect(refused.stderr).toContain('another service uses')
    } finally {
      expect(await service.stop()).toBe(0)
    }
  }, 60_000)

  test('copies SQLite to SQLite, reports each table, and refuses a second copy', async () => {
    const to = `sqlite:${join(folder, 'copy.db')}`
    const done = await migrate('--from', `sqlite:${database()}`, '--to', to, '--json')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    const { tables } = JSON.parse(done.stdout) as { tables: { name: string; rows: number; sha256: string }[] }
    expect(tables.find(({ name }) => name === 'organizations')?.rows).toBe(1)
    expect(tables.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))).toBe(true)
    const again = await migrate('--from', `sqlite:${database()}`, '--to', to)
    expect(again).toMatchObject({ code: 1 })
    expect(again.stderr).toContain(`was moved to the store ${join(folder, 'copy.db')}`)
    // The data folder records the move.
    expect(readFileSync(join(folder, 'data', 'store-place'), 'utf8')).toContain(join(folder, 'copy.db'))
    const taken = await migrate('--take-back', `sqlite:${database()}`)
    expect(taken).toMatchObject({ code: 0 })
    expect(await migrate('--take-back', `sqlite:${database()}`)).toMatchObject({ code: 1 })
    const third = await migrate('--from', `sqlite:${database()}`, '--to', to)
    expect(third).toMatchObject({ code: 1 })
    expect(third.stderr).toContain('the target is not empty')
    // A refused copy moves nothing.
    expect(await runCommand(join(folder, 'data'), 'keys', 'list')).toMatchObject({ code: 0 })
  }, 60_000)

  test('exits with 2 for an invalid address, the same address, or a missing variable', async () => {
    const from = `sqlite:${database()}`
    for (const [source, target] of [
      ['mysql://x', from],
      [from, from],
      ['env:NOT_SET', from],
      [from, 'postgres://u:very-secret@h'],
    ] as const) {
      const refused = await migrate('--from', source, '--to', target)
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.stderr).not.toContain('very-secret')
    }
    expect(await migrate('--from', `sqlite:${folder}/none.db`, '--to', from)).toMatchObject({ code: 1 })
  }, 30_000)
})

describe.skipIf(POSTGRES_MISSING !== null)(
  `with PostgreSQL${POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`}`,
  () => {
    test('a deployment is moved there and back with all acknowledged data', async () => {
      const postgres = await createTemporaryDatabase('nothing')
      removers.push(postgres.remove)
      const address = join(folder, 'address')
      writeFileSync(address, `${postgres.address}\n`, { mode: 0o600 })
      const environment = { COUNTERSIGN_STORE_FILE: address }
      const dataDirectory = join(folder, 'data')
      const answers = new Map<string, Acknowledged>()

      /** Verifies the decision log, and returns the size of its tree. */
      const sizeOfTree = async (given: Readonly<Record<string, string>>): Promise<number> => {
        const words = ['decisions', 'verify', '--json'] as const
        const { code, stdout } = await runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory, ...given }, ...words)
        const { tree } = JSON.parse(stdout) as { tree: { size: number; compared: number; problems: string[] } }
        expect([code, tree.problems, tree.compared]).toEqual([0, [], tree.size])
        return tree.size
      }

      const first = await startService({ dataDirectory })
      for (const key of ['a', 'b', 'c']) answers.set(key, await attestUnder(first, key))
      expect(await first.stop()).toBe(0)
      const sizeBefore = await sizeOfTree({})
      const logKey = (await runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory }, 'proof', 'key')).stdout

      const there = await migrate('--from', `sqlite:${database()}`, '--to', `file:${address}`)
      expect(there).toMatchObject({ code: 0 })
      expect(there.stdout).toContain('Both stores have identical content')
      expect(there.stdout + there.stderr).not.toContain(POSTGRES_PASSWORD)

      // Without the store setting, or with the old store, every command is refused.
      const oneLine = (text: string): boolean => text.trim().split('\n').length === 1
      const forgotten: readonly Readonly<Record<string, string>>[] = [{}, { COUNTERSIGN_STORE: `sqlite:${database()}` }]
      for (const given of forgotten) {
        const lost = { COUNTERSIGN_DATA_DIR: dataDirectory, ...given }
        const commands = ['keys list', 'keys revoke anything', 'audit verify', 'session list']
        for (const line of [...commands, `backup --to ${join(folder, 'backup')}`]) {
          const refused = await runCountersign(lost, ...line.split(' '))
          expect(refused).toMatchObject({ code: 1, stdout: '' })
          expect(oneLine(refused.stderr)).toBe(true)
          expect(refused.stderr).toContain(`${postgres.name} at 127.0.0.1`)
          expect(refused.stderr).toContain('COUNTERSIGN_STORE')
          expect(refused.stderr).not.toContain(POSTGRES_PASSWORD)
        }
        const doctor = await runCountersign(lost, 'doctor')
        expect(doctor.code).toBe(1)
        expect(doctor.stdout + doctor.stderr).toContain(`${postgres.name} at 127.0.0.1`)
        const started = await runToEnd(['bun', 'src/main.ts'], lost)
        expect(started.code).toBe(2)
        expect(started.stderr).toContain(`${postgres.name} at 127.0.0.1`)
      }
      expect(existsSync(join(folder, 'backup'))).toBe(false)

      expect(await sizeOfTree(environment)).toBe(sizeBefore)
      const second = await startService({ dataDirectory, environment })
      for (const [key, answer] of answers) expect(await attestUnder(second, key)).toEqual(answer)
      const added = await attestUnder(second, 'd')
      answers.set('d', added)
      // With PostgreSQL, the tree grows after this process becomes the leader.
      const proves = ['decisions', 'prove', added.attestation.uuid] as const
      const given = { COUNTERSIGN_DATA_DIR: dataDirectory, ...environment }
      await until(async () => (await runCountersign(given, ...proves)).code === 0)
      expect(await second.stop()).toBe(0)
      const sizeThere = await sizeOfTree(environment)
      expect(sizeThere).toBeGreaterThan(sizeBefore)

      const back = join(folder, 'back.db')
      expect(await migrate('--from', `file:${address}`, '--to', `sqlite:${back}`)).toMatchObject({ code: 0 })
      const abandoned = await runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory, ...environment }, 'keys', 'list')
      expect(abandoned.stderr).toContain(`moved to the store ${back}`)
      const backAgain = { COUNTERSIGN_STORE: `sqlite:${back}` }
      expect(await sizeOfTree(backAgain)).toBe(sizeThere)
      const third = await startService({ dataDirectory, environment: backAgain })
      for (const [key, answer] of answers) expect(await attestUnder(third, key)).toEqual(answer)
      expect(await third.stop()).toBe(0)
      expect(third.output().stderr).not.toContain('no head of the decision log is signed')
      expect(await sizeOfTree(backAgain)).toBeGreaterThan(sizeThere)
      const sameKey = await runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory, ...backAgain }, 'proof', 'key')
      expect(sameKey.stdout).toBe(logKey)
    }, 120_000)

    test('refuses a database with a recent heartbeat from any machine', async () => {
      const postgres = await createTemporaryDatabase()
      removers.push(postgres.remove)
      const address = join(folder, 'address')
      writeFileSync(address, postgres.address)
      const live = await openMigratedDatabase({ target: postgres.target, clock: systemClock })
      removers.unshift(() => live.close())
      const table = createLiveProcessTable(databaseScope(live, systemClock))
      let beat = 1
      const beatOnce = () => table.beat({ id: 'p1', name: 'machine 7', beat: beat++, clockMs: 0, modules: [] })
      await beatOnce()
      const running = migrate('--from', `file:${address}`, '--to', `sqlite:${join(folder, 'other.db')}`)
      let ended = false
      void running.then(() => {
        ended = true
      })
      await until(() => beatOnce().then(() => ended), { limitMs: 50_000 })
      const refused = await running
      expect(refused).toMatchObject({ code: 1 })
      expect(refused.stderr).toContain('machine 7')
    }, 60_000)
  },
)
