// Reads on which a process's decisions depend, while requests occupy every other read connection to PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { createChangeFeed } from '../../src/store/change-feed.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { Database } from '../../src/store/database.ts'
import { createLeaderLeases } from '../../src/store/leader-lease.ts'
import { createLiveProcessTable } from '../../src/store/live-processes.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const LONGER_THAN_THE_TEST_MS = 120_000

describe.skipIf(POSTGRES_MISSING !== null)('while every read connection is in use and others wait', () => {
  let temporary: TemporaryDatabase
  let database: Database
  let observer: Database
  let reads: Promise<PromiseSettledResult<readonly unknown[]>[]>

  const sleepers = async (): Promise<readonly { readonly pid: number }[]> =>
    observer.query("SELECT pid FROM pg_stat_activity WHERE datname = ? AND query LIKE 'SELECT pg_sleep%'", [
      temporary.name,
    ])

  beforeAll(async () => {
    temporary = await createTemporaryDatabase()
    observer = await openPostgresDatabase({ target: temporary.target, clock: systemClock })
    database = await openPostgresDatabase({
      target: { ...temporary.target, poolSize: 2 },
      clock: systemClock,
      lockLimitMs: LONGER_THAN_THE_TEST_MS,
      statementLimitMs: LONGER_THAN_THE_TEST_MS,
    })
    reads = Promise.allSettled(Array.from({ length: 3 }, () => database.query('SELECT pg_sleep(100)')))
    await until(async () => (await sleepers()).length === 1)
  })
  afterAll(async () => {
    const closed = database.close()
    let open = true
    void reads.then(() => {
      open = false
    })
    await until(async () => {
      for (const { pid } of await sleepers()) await observer.query('SELECT pg_cancel_backend(?::int)', [pid])
      return !open
    })
    await closed
    await observer.close()
    await temporary.remove()
  })

  test('the change feed is read', async () => {
    const feed = createChangeFeed(database, {
      clock: systemClock,
      onChange: () => undefined,
      onResync: () => undefined,
    })
    await feed.start()
    await feed.poll()
    expect(feed.healthy()).toBe(true)
    await feed.stop()
  })

  test('leases and live processes are read', async () => {
    const scope = databaseScope(database, systemClock)
    expect(await createLeaderLeases(scope).attestation.read()).toBeNull()
    expect(await createLiveProcessTable(scope).list()).toEqual([])
  })
})
