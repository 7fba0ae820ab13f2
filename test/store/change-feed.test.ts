import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type ChangeFeed, type ChangeFeedOptions, createChangeFeed } from '../../src/store/change-feed.ts'
import { type Change, trimChanges } from '../../src/store/changes.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { Database } from '../../src/store/database.ts'
import { openStore } from '../../src/store/store.ts'
import { until } from '../support/until.ts'
import { describeStores } from './dialects.ts'
import { seedOrganization, type TemporaryStore } from './temporary-store.ts'

/** What one database can't have is no test of the other, and none that is skipped. */
const none = (_name: string, _body: () => void | Promise<void>): void => undefined

describeStores((openTemporaryStore, dialect) => {
  const testOnSqlite = dialect === 'SQLite' ? test : none
  const describeOnPostgres = dialect === 'PostgreSQL' ? describe : none
  let temporary: TemporaryStore
  let feed: ChangeFeed
  let seen: Change[]
  let resyncs: number
  /** Statements that the feed ran. */
  let statements: string[]
  let failing: boolean
  /** Whether the database may wake the feed. */
  let watched: boolean

  const observed = ({ watchChanges, queryReserved: _, ...database }: Database): Database => ({
    ...database,
    ...(watched && watchChanges !== undefined ? { watchChanges } : {}),
    query: (sql, parameters) => {
      if (failing) return Promise.reject(new Error('unreadable'))
      statements.push(sql)
      return database.query(sql, parameters)
    },
    commitMark: () => (failing ? Promise.reject(new Error('unreadable')) : database.commitMark()),
  })
  /** Never polls by itself within a test unless told. */
  const createFeed = (options: Partial<ChangeFeedOptions> = {}) =>
    createChangeFeed(observed(temporary.store.database), {
      clock: temporary.clock,
      onChange: (change) => seen.push(change),
      onResync: () => resyncs++,
      intervalMs: 60_000,
      ...options,
    })
  const create = (slug: string) => temporary.store.organizations.create({ slug, name: slug })

  beforeEach(async () => {
    temporary = await openTemporaryStore()
    seen = []
    resyncs = 0
    statements = []
    failing = false
    watched = false
    feed = createFeed()
  })
  afterEach(async () => {
    await feed.stop()
    await temporary.remove()
  })

  describe('the change feed', () => {
    test('catches up with what was committed while a poll was reading', async () => {
      await feed.stop()
      let hold: Promise<void> | null = null
      const reading = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      const database = observed(temporary.store.database)
      feed = createChangeFeed(
        {
          ...database,
          query: async (sql, parameters) => {
            const rows = await database.query(sql, parameters)
            if (hold !== null && sql.includes('FROM changes')) {
              reading.resolve()
              await hold
            }
            return rows as never
          },
        },
        {
          clock: temporary.clock,
          onChange: (change) => seen.push(change),
          onResync: () => resyncs++,
          intervalMs: 60_000,
        },
      )
      await feed.start()
      await create('first')
      hold = release.promise
      const polling = feed.poll()
      await reading.promise
      const late = await create('late')
      const caughtUp = feed.catchUp()
      hold = null
      release.resolve()
      await polling
      await caughtUp
      expect(seen.map(({ subjectId }) => subjectId)).toContain(late.id)
    })

    test('reads again when it was woken while it read', async () => {
      await feed.stop()
      const reading = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      let holds = true
      let wake = (): void => undefined
      const database = observed(temporary.store.database)
      feed = createChangeFeed(
        {
          ...database,
          watchChanges: (woken) => {
            wake = woken
            return { listening: () => true, stop: async () => undefined }
          },
          query: async (sql, parameters) => {
            const rows = await database.query(sql, parameters)
            if (holds && sql.includes('FROM changes')) {
              reading.resolve()
              await release.promise
            }
            return rows as never
          },
        },
        {
          clock: temporary.clock,
          intervalMs: 60_000,
          watchedIntervalMs: 60_000,
          onChange: (change) => seen.push(change),
          onResync: () => resyncs++,
        },
      )
      holds = false
      await feed.start()
      holds = true
      await create('first')
      wake()
      await reading.promise
      const late = await create('late')
      wake()
      holds = false
      release.resolve()
      await until(() => seen.some(({ subjectId }) => subjectId === late.id))
    })

    test('tells what was committed after its start, in order, in this process too', async () => {
      await create('before')
      await feed.start()
      const { organization, policy, project, key } = await seedOrganization(temporary.store, 'demo')
      await feed.poll()
      expect(seen.map((change) => [change.topic, change.subjectId])).toEqual([
        ['organization', organization.id],
        ['policy', policy.id],
        ['policy', policy.id],
        ['project', project.id],
        ['binding', 'ethereum/0x00000000000000000000000000000000000000aa'],
        ['api-key', key.record.keyId],
      ])
      const sequences = seen.map((change) => change.sequence)
      expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index))
      expect(new Set(seen.map((change) => change.organizationId))).toEqual(new Set([organization.id]))
      await feed.poll()
      expect(seen).toHaveLength(6)
      expect(resyncs).toBe(0)
    })

    testOnSqlite('reads no rows while nobody commits', async () => {
      await feed.start()
      await feed.poll()
      statements = []
      for (let poll = 0; poll < 5; poll++) await feed.poll()
      expect(statements).toEqual([])
    })

    test('says nothing of what was rolled back, and leaves no gap', async () => {
      await feed.start()
      const undone = temporary.store.transaction(async (tables) => {
        await tables.organizations.create({ slug: 'undone', name: 'Undone' })
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await create('kept')
      await feed.poll()
      expect(seen).toHaveLength(1)
      expect(resyncs).toBe(0)
    })

    test('reads more than one batch', async () => {
      await feed.start()
      await temporary.store.transaction(async (tables) => {
        for (let index = 0; index < 1_203; index++) await tables.organizations.create({ slug: `o${index}`, name: 'x' })
      })
      await feed.poll()
      expect(seen).toHaveLength(1_203)
      expect(resyncs).toBe(0)
    })

    test('starts afresh when rows were deleted before it read them', async () => {
      await feed.start()
      await create('missed')
      temporary.clock.advance(3_601)
      await create('late')
      expect(await trimChanges(databaseScope(temporary.store.database, temporary.clock))).toBe(1)
      await feed.poll()
      expect(resyncs).toBe(1)
      expect(seen).toEqual([])
      await create('next')
      await feed.poll()
      expect(seen).toHaveLength(1)
      expect(resyncs).toBe(1)
    })

    test('starts afresh when the database was replaced by an older copy', async () => {
      await create('a')
      await create('b')
      await feed.start()
      await temporary.store.database.execute("UPDATE counters SET value = 1 WHERE name = 'changes'")
      await feed.poll()
      expect(resyncs).toBe(1)
    })

    // As after a failover to a standby that lacks the last commits.
    test.each([0, 1, 3])('starts afresh when numbers that it read were given again, and %i more', async (more) => {
      await create('kept')
      await feed.start()
      await create('lost')
      await feed.poll()
      const { database } = temporary.store
      await database.execute('DELETE FROM changes WHERE sequence = 2')
      await database.execute("UPDATE counters SET value = 1 WHERE name = 'changes'")
      for (let n = 0; n <= more; n++) await create(`again-${n}`)
      await feed.poll()
      expect([resyncs, seen.length]).toEqual([1, 1])
      await create('next')
      await feed.poll()
      expect([resyncs, seen.length]).toEqual([1, 2])
    })

    test('misses nothing, and starts nothing afresh, after an hour without changes', async () => {
      await create('before')
      await feed.start()
      temporary.clock.advance(3_601)
      expect(await trimChanges(databaseScope(temporary.store.database, temporary.clock))).toBe(0)
      await create('after')
      await feed.poll()
      expect([resyncs, seen.length]).toEqual([0, 1])
    })

    test('hands a change over again when it could not be handled', async () => {
      await feed.stop()
      let refusing = true
      feed = createFeed({
        onChange: (change) => {
          if (refusing) throw new Error('not now')
          seen.push(change)
        },
      })
      await feed.start()
      await create('a')
      await expect(feed.poll()).rejects.toThrow('not now')
      refusing = false
      await feed.poll()
      expect(seen).toHaveLength(1)
    })
  })

  describe('its health', () => {
    test('is good once started, bad after it could not read for a while, and good again', async () => {
      expect(feed.healthy()).toBe(false)
      await feed.start()
      expect(feed.healthy()).toBe(true)
      failing = true
      await create('unseen')
      await expect(feed.poll()).rejects.toThrow('unreadable')
      expect(feed.healthy()).toBe(true)
      temporary.clock.advance(2)
      expect(feed.healthy()).toBe(true)
      expect(feed.ageSeconds()).toBe(2)
      temporary.clock.advance(0.001)
      expect(feed.healthy()).toBe(false)
      failing = false
      await feed.poll()
      expect(feed.healthy()).toBe(true)
      expect(feed.ageSeconds()).toBe(0)
      expect(seen).toHaveLength(1)
      await feed.stop()
      expect(feed.healthy()).toBe(false)
    })

    test('goes on polling after errors', async () => {
      await feed.stop()
      const failed = Promise.withResolvers<unknown>()
      const told = Promise.withResolvers<Change>()
      feed = createFeed({ intervalMs: 1, onError: failed.resolve, onChange: told.resolve })
      await feed.start()
      failing = true
      await create('a')
      expect(await failed.promise).toBeInstanceOf(Error)
      failing = false
      expect((await told.promise).topic).toBe('organization')
    })

    test('a start that can’t read is refused, and can be tried again', async () => {
      failing = true
      await expect(feed.start()).rejects.toThrow('unreadable')
      expect(feed.healthy()).toBe(false)
      failing = false
      await feed.start()
      expect(feed.healthy()).toBe(true)
    })
  })

  describeOnPostgres('told by the database', () => {
    const listeners = () =>
      temporary.store.database.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
      )

    test('hears of what another store commits, long before it would poll', async () => {
      await feed.stop()
      const told = Promise.withResolvers<Change>()
      watched = true
      feed = createFeed({ watchedIntervalMs: 60_000, onChange: told.resolve })
      await feed.start()
      await until(async () => (await listeners()).length > 0)
      const other = await openStore({ target: temporary.target, clock: temporary.clock })
      await other.organizations.create({ slug: 'there', name: 'There' })
      expect((await told.promise).topic).toBe('organization')
      await other.close()
    })

    test('misses nothing while nobody tells it, and listens again', async () => {
      await feed.stop()
      watched = true
      feed = createFeed({ intervalMs: 20, watchedIntervalMs: 20 })
      await feed.start()
      await until(async () => (await listeners()).length > 0)
      const [first] = await listeners()
      await temporary.store.database.query('SELECT pg_terminate_backend(?::int)', [first?.pid ?? 0])
      await create('a')
      await until(() => seen.length === 1)
      await until(async () => (await listeners()).some(({ pid }) => pid !== first?.pid))
      await create('b')
      await until(() => seen.length === 2)
      expect(resyncs).toBe(0)
    })
  })

  describe('another process', () => {
    test('revokes a key, and this one knows within a second', async () => {
      await feed.stop()
      const { store, address } = temporary
      const { key } = await seedOrganization(store, 'demo')
      const told = Promise.withResolvers<{ change: Change; atMs: number }>()
      feed = createFeed({ intervalMs: 200, onChange: (change) => told.resolve({ change, atMs: Date.now() }) })
      await feed.start()
      const child = Bun.spawn(['bun', join(import.meta.dir, 'revoke-key.ts'), address, key.record.keyId], {
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const [code, output] = await Promise.all([child.exited, new Response(child.stdout).text()])
      expect(code).toBe(0)
      const { change, atMs } = await told.promise
      expect(change).toMatchObject({ topic: 'api-key', subjectId: key.record.keyId })
      expect(atMs - Number(output)).toBeLessThan(1_000)
      expect((await store.apiKeys.findForAuthentication(key.record.keyId))?.revokedAtSeconds).not.toBeNull()
    })
  })
})
