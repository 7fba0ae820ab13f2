// A service with a PostgreSQL store: first start, second start, commands, and two nodes with one database and separate data
// folders.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attestOnce } from '../../service/calls.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../../support/postgres.ts'
import { POSTGRES_PASSWORD } from '../../support/postgres-server.ts'

const define = POSTGRES_MISSING === null ? describe : describe.skip

define(`the service with PostgreSQL${POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`}`, () => {
  let database: TemporaryDatabase
  let folder: string
  let first: RunningService
  let second: RunningService

  const command = (...commandArguments: string[]) =>
    runCountersign(
      { COUNTERSIGN_DATA_DIR: join(folder, 'first'), COUNTERSIGN_STORE_FILE: join(folder, 'store') },
      ...commandArguments,
    )
  const start = (name: string): Promise<RunningService> =>
    startService({ dataDirectory: join(folder, name), environment: { COUNTERSIGN_STORE: database.address } })

  beforeAll(async () => {
    database = await createTemporaryDatabase('nothing')
    folder = newFolder()
    writeFileSync(join(folder, 'store'), `${database.address}\n`, { mode: 0o600 })
    first = await start('first')
    // Another node needs only the keystores and secrets of the first.
    for (const name of ['keystores', 'secrets', 'quickstart.env']) {
      cpSync(join(folder, 'first', name), join(folder, 'second', name), { recursive: true })
    }
    second = await start('second')
  })
  afterAll(async () => {
    await first?.stop()
    await second?.stop()
    await database?.remove()
  })

  test('creates all data at the first startup, and reports its store', async () => {
    expect(first.quickstart['ATTESTATION_API_KEY']).toMatch(/^csa_live_/)
    for (const service of [first, second]) {
      expect(await attestOnce(service)).toMatchObject({ is_compliant: true })
      expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({ ready: true, store: 'postgres' })
      expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/countersign_build_info\{.*store="postgres"/)
    }
  })

  test('a command does not create a deployment in an empty database', async () => {
    const empty = await createTemporaryDatabase('nothing')
    writeFileSync(join(folder, 'store'), empty.address)
    const { code, stderr } = await command('org', 'list')
    writeFileSync(join(folder, 'store'), database.address)
    expect(code).toBe(1)
    const place = `${empty.name} at 127.0.0.1:${empty.target.port}`
    expect(stderr).toBe(`there is no deployment in the store ${place}: start the service once\n`)
    await empty.remove()
  })

  test('a second startup changes nothing', async () => {
    const before = await command('org', 'list')
    const keystores = readdirSync(join(folder, 'first', 'keystores'))
    await first.stop()
    first = await start('first')
    expect(await command('org', 'list')).toEqual(before)
    expect(before.stdout).toContain('demo')
    expect(readdirSync(join(folder, 'first', 'keystores'))).toEqual(keystores)
    await attestOnce(first)
  })

  test('never outputs or stores the password of the database', async () => {
    const wrong = await command('org', 'list', '--store', 'x')
    expect(wrong.code).toBe(2)
    for (const { stdout, stderr } of [first.output(), second.output(), wrong]) {
      expect(`${stdout}${stderr}`).not.toContain(POSTGRES_PASSWORD)
    }
    const entries = readdirSync(join(folder, 'first'), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((each) => each.isFile())) {
      expect(readFileSync(join(entry.parentPath, entry.name)).includes(POSTGRES_PASSWORD)).toBe(false)
    }
  })
})
