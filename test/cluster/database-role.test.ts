// deploy/database-role.sql, run by psql on a real server: the service creates its tables with the role, which owns no
// other objects.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'
import { findBinaries } from '../support/postgres-binaries.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'

setDefaultTimeout(120_000)
const SCRIPT = join(import.meta.dir, '..', '..', 'deploy', 'database-role.sql')
const PASSWORD = "of-the-role'; --"
const missing = [Bun.which('psql') === null ? 'psql' : null, findBinaries() === null ? 'PostgreSQL' : null].filter(
  Boolean,
)
const named = (name: string): string => (missing.length === 0 ? name : `${name} (not installed: ${missing.join(', ')})`)

let server: PostgresServer
/** Address with the role of the service. */
let address: string
const asService = async (text: string): Promise<readonly Record<string, unknown>[]> => {
  const sql = new SQL(address, { max: 1 })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.close()
  }
}
const refused = (text: string): Promise<string> =>
  asService(text).then(
    () => 'allowed',
    (error: Error) => error.message,
  )

beforeAll(async () => {
  if (missing.length > 0) return
  server = await startPostgres()
  const administrator = new URL(server.address('postgres'))
  // The test server's administrator has the name of the role, so the script uses another administrator and role.
  await server.administer("CREATE ROLE administrator SUPERUSER LOGIN PASSWORD 'x'")
  administrator.username = 'administrator'
  administrator.password = 'x'
  const script = (await Bun.file(SCRIPT).text()).replaceAll(/\bcountersign\b/g, 'countersign_service')
  const { exitCode, stderr } = Bun.spawnSync(
    ['psql', '-v', 'ON_ERROR_STOP=1', '-v', `password=${PASSWORD}`, '-f', '-', administrator.href],
    { stdin: Buffer.from(script), stdout: 'ignore', stderr: 'pipe' },
  )
  if (exitCode !== 0) throw new Error(stderr.toString())
  const url = new URL(server.address('countersign_service'))
  url.username = 'countersign_service'
  url.password = encodeURIComponent(PASSWORD)
  address = url.href
})
afterAll(() => server?.stop())

test.skipIf(missing.length > 0)(named('the role creates and uses the tables'), async () => {
  const store = await openStore({ target: parseStoreAddress(address), clock: systemClock })
  await store.organizations.create({ slug: 'acme', name: 'Acme' })
  expect(await store.organizations.find('acme')).toMatchObject({ name: 'Acme' })
  await store.close()
})

test.skipIf(missing.length > 0)(named('the role owns only its tables'), async () => {
  const owned = await asService(
    `SELECT DISTINCT relkind::text AS kind FROM pg_class WHERE relowner = current_user::regrole`,
  )
  expect(owned.map(({ kind }) => kind)).toContain('r')
  expect(owned.filter(({ kind }) => !['r', 'i', 'S', 't'].includes(String(kind)))).toEqual([])
  for (const [catalog, owner] of [
    ['pg_database', 'datdba'],
    ['pg_namespace', 'nspowner'],
    ['pg_extension', 'extowner'],
  ]) {
    expect(await asService(`SELECT 1 FROM ${catalog} WHERE ${owner} = current_user::regrole`)).toHaveLength(0)
  }
  for (const text of ['CREATE ROLE other', 'CREATE DATABASE other', 'CREATE SCHEMA other', 'CREATE EXTENSION dblink']) {
    expect([text, await refused(text)]).toEqual([
      text,
      expect.stringMatching(/permission denied|not available|could not open/),
    ])
  }
})
