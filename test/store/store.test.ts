// The store as a whole: opening, transactions over tables, organizations, deployment values, write checks and upkeep.
import { Database as BunDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import type { TableScope } from '../../src/store/copy/table-scope.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { openStore, storeWithin } from '../../src/store/store.ts'
import { describeDatabases, describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { createManualClock, openTemporaryStore, seedOrganization } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)

  test('the deployment’s id and rows are unchanged after a restart, and the store can be closed twice', async () => {
    const { organizationId } = await seedOrganization(temporary.store, 'demo')
    await temporary.store.close()
    const again = await openStore({ target: temporary.target, clock: systemClock })
    expect(again.deploymentId).toBe(temporary.store.deploymentId)
    expect((await again.organizations.find('demo'))?.id).toBe(organizationId)
    expect(again.deploymentId).toMatch(/^[0-9a-f-]{36}$/)
    for (let closes = 0; closes < 2; closes++) await again.close()
  })

  test('a database of a newer version cannot be opened', async () => {
    await temporary.store.database.execute(
      "INSERT INTO schema_migrations (number, name, content_hash, applied_at_seconds) VALUES (999, 'future', '', 0)",
    )
    const detail = expect.stringMatching(/^the database is newer than this program \(schema 999/)
    const opening = openStore({ target: temporary.target, clock: systemClock })
    await expect(opening).rejects.toMatchObject({ name: 'StoreUnusableError', detail })
  })

  describe('a transaction over tables', () => {
    test('stores all changes or none', async () => {
      const { store } = temporary
      const failing = store.transaction(async (tables) => {
        const organization = await tables.organizations.create({ slug: 'demo', name: 'Demo' })
        await tables.policies.create({ organizationId: organization.id, name: 'policy' })
        await tables.deployment.setOnce('quickstart', 'done')
        // The transaction reads its own rows.
        expect(await tables.organizations.find('demo')).toEqual(organization)
        throw new Error('half done')
      })
      await expect(failing).rejects.toThrow('half done')
      expect(await store.organizations.list()).toEqual([])
      expect(await store.deployment.read('quickstart')).toBeNull()
      await seedOrganization(store, 'demo')
      expect(await store.organizations.list()).toHaveLength(1)
    })

    test('includes the tables of a module, which are created once', async () => {
      const { store } = temporary
      let created = 0
      const moduleTables = (scope: TableScope) => {
        created++
        return {
          put: (name: string) =>
            scope.write((own) => own.execute('INSERT INTO deployment (name, value) VALUES (?, ?)', [name, 'module'])),
        }
      }
      const failing = store.transaction(async (tables) => {
        await tables.of(moduleTables).put('one')
        await tables.of(moduleTables).put('two')
        expect(await tables.deployment.read('two')).toBe('module')
        throw new Error('half done')
      })
      await expect(failing).rejects.toThrow('half done')
      expect(created).toBe(1)
      expect(await store.deployment.read('one')).toBeNull()
      await store.of(moduleTables).put('one')
      await storeWithin(store, store).of(moduleTables).put('two')
      expect([await store.deployment.read('one'), await store.deployment.read('two')]).toEqual(['module', 'module'])
      expect(created).toBe(2)
    })
  })

  describe('organizations', () => {
    test('are found by slug or id, and a slug is unique', async () => {
      const { organizations } = temporary.store
      const demo = await organizations.create({ slug: 'demo', name: 'Demo' })
      expect(await organizations.find('demo')).toEqual(demo)
      expect(await organizations.find(demo.id)).toEqual(demo)
      expect(await organizations.find('unknown')).toBeNull()
      await expect(organizations.create({ slug: 'demo', name: 'Again' })).rejects.toMatchObject({
        constraint: 'unique',
      })
    })

    test('need a slug that is usable on a command line and does not resemble an id', async () => {
      for (const slug of ['', 'Demo', '-demo', 'a b', 'org_1', 'é', 'x'.repeat(64)]) {
        await expect(temporary.store.organizations.create({ slug, name: 'x' })).rejects.toMatchObject({
          code: 'INVALID_FIELD',
        })
      }
    })
  })

  describe('deployment values', () => {
    test('keep the first value of setOnce', async () => {
      const { deployment } = temporary.store
      expect(await deployment.setOnce('quickstart', 'first')).toBe(true)
      expect(await deployment.setOnce('quickstart', 'second')).toBe(false)
      expect(await deployment.read('quickstart')).toBe('first')
    })

    test('are exchanged only if they have the expected value', async () => {
      const { deployment } = temporary.store
      for (const [expected, next, exchanged] of [
        ['one', 'two', false],
        [null, 'one', true],
        [null, 'two', false],
        ['one', 'two', true],
        ['one', 'three', false],
      ] as const) {
        expect(await deployment.exchange('head', expected, next)).toBe(exchanged)
      }
      expect(await deployment.read('head')).toBe('two')
    })
  })

  test('checkWritable writes at most once per second', async () => {
    const { store, clock } = temporary
    const lastCheck = () => store.deployment.read('last_write_check_seconds')
    await Promise.all([store.checkWritable(), store.checkWritable()])
    const first = await lastCheck()
    expect(first).not.toBeNull()
    clock.advance(0.9)
    await store.checkWritable()
    expect(await lastCheck()).toBe(first)
    clock.advance(0.2)
    await store.checkWritable()
    expect(await lastCheck()).not.toBe(first)
  })

  describe('upkeep', () => {
    test('runs periodically, and reports errors without stopping', async () => {
      const errors: unknown[] = []
      const again = Promise.withResolvers<void>()
      temporary.store.upkeep.start({
        flushIntervalMs: 1,
        sweepIntervalMs: 1,
        takeUses: () => {
          if (errors.length > 1) again.resolve()
          throw new Error('no uses')
        },
        onError: (error) => errors.push(error),
      })
      await again.promise
      expect(errors[0]).toMatchObject({ message: 'no uses' })
    })

    test('stores the last uses when it is closed', async () => {
      const { store, target } = temporary
      const { key } = await seedOrganization(store, 'demo')
      store.upkeep.start({ takeUses: () => new Map([[key.record.keyId, 123]]), onError: () => undefined })
      await store.close()
      const again = await openStore({ target, clock: systemClock })
      expect((await again.apiKeys.findForAuthentication(key.record.keyId))?.lastUsedAtSeconds).toBe(123)
      await again.close()
    })
  })
})

describeDatabases((dialect) => {
  test('processes that start at once on a new database use one deployment id', async () => {
    const place = await dialect.createPlace()
    const { target } = place
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ target, clock: systemClock })))
    expect(new Set(stores.map((store) => store.deploymentId)).size).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
    await place.remove()
  })
})

test('checkWritable fails while the file is locked, and works afterwards', async () => {
  const temporary = await openTemporaryStore()
  const clock = createManualClock()
  const store = await openStore({
    path: temporary.path,
    clock,
    wait: async (milliseconds) => clock.advance(milliseconds / 1000),
  })
  const other = new BunDatabase(temporary.path)
  other.run('BEGIN IMMEDIATE')
  await expect(store.checkWritable()).rejects.toBeInstanceOf(StoreUnavailableError)
  other.run('ROLLBACK')
  other.close()
  await store.checkWritable()
  await store.close()
  await temporary.remove()
})
