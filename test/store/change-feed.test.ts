// The change feed: order, missed changes, health, and notifications from PostgreSQL.
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

describeStores((openTemporaryStore, dialect) => {
  let temporary: TemporaryStore
  let feed: ChangeFeed
  let seen: Change[]
  let resyncs: number
  /** Statements that the feed ran. */
  let statements: string[]
  let failing: boolean
  /** Whether the database can notify the feed. */
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
  /** By default, the feed does not poll during a test. */
  const createFeed = (options: Partial<ChangeFeedOptions> = {}, database = observed(temporary.store.database)) =>
    createChangeFeed(database, {
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
    /** Replaces the feed with one whose reads of changes wait until `release` is called, if `holds` is set. */
    const holdReads = async (extra: (database: Database) => Partial<Database> = () => ({})) => {
      await feed.stop()
      const [reading, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const state = {
        holds: false,
        reading: reading.promise,
        release: (): void => {
          state.holds = false
          released.resolve()
        },
      }
      const database = observed(temporary.store.database)
      const query: Database['query'] = async (sql, parameters) => {
        const rows = await database.query(sql, parameters)
        if (state.holds && sql.includes('FROM changes')) {
          reading.resolve()
          await released.promise
        }
        return rows as never
      }
      feed = createFeed({ watchedIntervalMs: 60_000 }, { ...database, ...extra(database), query })
      await feed.start()
      return state
    }

    test('catches up with changes that are committed during a poll', async () => {
      const reads = await holdReads()
      await create('first')
      reads.holds = true
      const polling = feed.poll()
      await reads.reading
      const late = await create('late')
      const caughtUp = feed.catchUp()
      reads.release()
      await polling
      await caughtUp
      expect(seen.map(({ subjectId }) => subjectId)).toContain(late.id)
    })

    test('reads again if it was notified during a read', async () => {
      let notify = (): void => undefined
      const reads = await holdReads(() => ({
        watchChanges: (notified) => {
          notify = notified
          return { listening: () => true, stop: async () => undefined }
        },
      }))
      reads.holds = true
      await create('first')
      notify()
      await reads.reading
      const late = await create('late')
      notify()
      reads.release()
      await until(() => seen.some(({ subjectId }) => subjectId === late.id))
    })

    test('reports changes that are committed after its start, in order, including changes by its own process', async () => {
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

    const readsNothing = async () => {
      await feed.start()
      await feed.poll()
      statements = []
      for (let poll = 0; poll < 5; poll++) await feed.poll()
      expect(statements).toEqual([])
    }
    if (dialect === 'SQLite') test('reads no rows while there are no commits', readsNothing)

    test('reports neither changes that were rolled back nor gaps', async () => {
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

    test('resynchronizes if changes were deleted before it read them', async () => {
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

    test('resynchronizes if the database was replaced with an older copy', async () => {
      await create('a')
      await create('b')
      await feed.start()
      await temporary.store.database.execute("UPDATE counters SET value = 1 WHERE name = 'changes'")
      await feed.poll()
      expect(resyncs).toBe(1)
    })

    // This happens after a failover to a standby that lacks the last commits.
    test.each([0, 1, 3])(
      'resynchronizes if numbers that it had read are reused, and %i more are added',
      async (more) => {
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
      },
    )

    test('continues without a resynchronization after an hour without changes', async () => {
      await create('before')
      await feed.start()
      temporary.clock.advance(3_601)
      expect(await trimChanges(databaseScope(temporary.store.database, temporary.clock))).toBe(0)
      await create('after')
      await feed.poll()
      expect([resyncs, seen.length]).toEqual([0, 1])
    })

    test('reports a change again if its handler failed', async () => {
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
    test('is healthy after the start, unhealthy two seconds after the last read, and healthy after the next read', async () => {
      expect(feed.healthy()).toBe(false)
      await feed.start()
      expect(feed.healthy()).toBe(true)
      failing = true
      await create('unseen')
      await expect(feed.poll()).rejects.toThrow('unreadable')
      expect(feed.healthy()).toBe(true)
      temporary.clock.advance(2)
      expect([feed.healthy(), feed.ageSeconds()]).toEqual([true, 2])
      temporary.clock.advance(0.001)
      expect(feed.healthy()).toBe(false)
      failing = false
      await feed.poll()
      expect([feed.healthy(), feed.ageSeconds(), seen.length]).toEqual([true, 0, 1])
      await feed.stop()
      expect(feed.healthy()).toBe(false)
    })

    test('polling continues after errors', async () => {
      await feed.stop()
      const failed = Promise.withResolvers<unknown>()
      const reported = Promise.withResolvers<Change>()
      feed = createFeed({ intervalMs: 1, onError: failed.resolve, onChange: reported.resolve })
      await feed.start()
      failing = true
      await create('a')
      expect(await failed.promise).toBeInstanceOf(Error)
      failing = false
      expect((await reported.promise).topic).toBe('organization')
    })

    test('a start that cannot read fails, and can be retried', async () => {
      failing = true
      await expect(feed.start()).rejects.toThrow('unreadable')
      expect(feed.healthy()).toBe(false)
      failing = false
      await feed.start()
      expect(feed.healthy()).toBe(true)
    })
  })

  const defineNotifications = () => {
    const listeners = () =>
      temporary.store.database.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
      )

    test('report a commit of another store before the next poll', async () => {
      await feed.stop()
      const reported = Promise.withResolvers<Change>()
      watched = true
      feed = createFeed({ watchedIntervalMs: 60_000, onChange: reported.resolve })
      await feed.start()
      await until(async () => (await listeners()).length > 0)
      const other = await openStore({ target: temporary.target, clock: temporary.clock })
      await other.organizations.create({ slug: 'there', name: 'There' })
      expect((await reported.promise).topic).toBe('organization')
      await other.close()
    })

    test('are received again after a lost connection, and no change is missed', async () => {
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
  }
  if (dialect === 'PostgreSQL') describe('notifications', defineNotifications)

  describe('a change by another process', () => {
    test('is reported within a second: a revoked key', async () => {
      await feed.stop()
      const { store, address } = temporary
      const { key } = await seedOrganization(store, 'demo')
      const reported = Promise.withResolvers<{ change: Change; atMs: number }>()
      feed = createFeed({ intervalMs: 200, onChange: (change) => reported.resolve({ change, atMs: Date.now() }) })
      await feed.start()
      const child = Bun.spawn(['bun', join(import.meta.dir, 'revoke-key.ts'), address, key.record.keyId], {
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const [code, output] = await Promise.all([child.exited, new Response(child.stdout).text()])
      expect(code).toBe(0)
      const { change, atMs } = await reported.promise
      expect(change).toMatchObject({ topic: 'api-key', subjectId: key.record.keyId })
      expect(atMs - Number(output)).toBeLessThan(1_000)
      expect((await store.apiKeys.findForAuthentication(key.record.keyId))?.revokedAtSeconds).not.toBeNull()
    })
  })
})
