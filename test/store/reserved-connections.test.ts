// Reads and writes that attestations need succeed while requests occupy the other connections to PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runFor } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createChangeFeed } from '../../src/store/change-feed.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { Database } from '../../src/store/database.ts'
import { createIdempotencyTable } from '../../src/store/idempotency.ts'
import { createLeaderLeases } from '../../src/store/leader-lease.ts'
import { createLiveProcessTable } from '../../src/store/live-processes.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const LONGER_THAN_THE_TEST_MS = 120_000

describe.skipIf(POSTGRES_MISSING !== null)('while every read connection is in use', () => {
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
      target: { ...temporary.target, poolSize: 3 },
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

describe.skipIf(POSTGRES_MISSING !== null)('while writes of requests run and wait', () => {
  let temporary: TemporaryDatabase
  let database: Database
  const held = Promise.withResolvers<void>()
  const writes: Promise<unknown>[] = []

  beforeAll(async () => {
    temporary = await createTemporaryDatabase()
    database = await openPostgresDatabase({ target: { ...temporary.target, poolSize: 3 }, clock: systemClock })
    const begun = Promise.withResolvers<void>()
    for (const owner of ['A', 'A', 'B']) {
      const write = () =>
        database.transaction(async () => {
          begun.resolve()
          await held.promise
        })
      writes.push(runFor({ owner, signal: null }, write))
    }
    await begun.promise
  })
  afterAll(async () => {
    held.resolve()
    await Promise.all(writes)
    await database.close()
    await temporary.remove()
  })

  test('an idempotency key is claimed, dispatched, answered and released', async () => {
    const table = createIdempotencyTable(databaseScope(database, systemClock), 'admin_idempotency')
    const expiresAtSeconds = systemClock.unixSeconds() + 30
    const claimOf = async (key: string) => {
      const found = await table.claim('org_b', 'key_b', key, new Uint8Array(32), crypto.randomUUID(), expiresAtSeconds)
      if (found.outcome !== 'claimed') throw new Error(found.outcome)
      return found.claim
    }
    const claim = await claimOf('one')
    expect(await table.markDispatched(claim, expiresAtSeconds)).toBe(true)
    expect(await table.complete(claim, { status: 200, body: '' }, expiresAtSeconds)).not.toBeNull()
    expect(await table.release(await claimOf('two'))).toBe(true)
  })

  test('a lease and a live process are renewed, even while claims occupy other connections', async () => {
    const claims = [1, 2].map(() => database.transaction(() => held.promise, { queue: 'claim', owner: 'org_a' }))
    writes.push(...claims)
    const scope = databaseScope(database, systemClock)
    const lease = createLeaderLeases(scope).attestation
    expect(await lease.take('one', null)).not.toBeNull()
    expect(await lease.renew('one', 1)).toBe(true)
    const processes = createLiveProcessTable(scope)
    await processes.beat({ id: 'one', name: 'one', beat: 1, clockMs: 0, modules: [] })
    expect(await processes.list()).toHaveLength(1)
  })
})
