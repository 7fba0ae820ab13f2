import { Database as BunDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import type { TableScope } from '../../src/store/copy/table-scope.ts'
import { StoreUnavailableError, StoreUnusableError, TransactionMisuseError } from '../../src/store/errors.ts'
import { openStore, storeWithin } from '../../src/store/store.ts'
import { describeDatabases, describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { createManualClock, openTemporaryStore, seedOrganization, type TemporaryStore } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)

  describe('opening', () => {
    test('keeps the deployment’s id and rows over starts', async () => {
      const { organizationId } = await seedOrganization(temporary.store, 'demo')
      await temporary.store.close()
      const again = await openStore({ target: temporary.target, clock: systemClock })
      expect(again.deploymentId).toBe(temporary.store.deploymentId)
      expect((await again.organizations.find('demo'))?.id).toBe(organizationId)
      expect(again.deploymentId).toMatch(/^[0-9a-f-]{36}$/)
      await again.close()
      await again.close()
    })

    test('a database of a newer version is refused with one line', async () => {
      await temporary.store.database.execute(
        "INSERT INTO schema_migrations (number, name, content_hash, applied_at_seconds) VALUES (999, 'future', '', 0)",
      )
      const error = await openStore({ target: temporary.target, clock: systemClock }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(StoreUnusableError)
      expect((error as StoreUnusableError).detail).toMatch(/^the database is newer than this program \(schema 999/)
    })
  })

  describe('a transaction over tables', () => {
    test('stores all of a seed or nothing', async () => {
      const { store } = temporary
      const failing = store.transaction(async (tables) => {
        const organization = await tables.organizations.create({ slug: 'demo', name: 'Demo' })
        await tables.policies.create({ organizationId: organization.id, name: 'policy' })
        await tables.deployment.setOnce('quickstart', 'done')
        // Its own rows are visible to it.
        expect(await tables.organizations.find('demo')).toEqual(organization)
        throw new Error('half done')
      })
      await expect(failing).rejects.toThrow('half done')
      expect(await store.organizations.list()).toEqual([])
      expect(await store.deployment.read('quickstart')).toBeNull()
      await seedOrganization(store, 'demo')
      expect(await store.organizations.list()).toHaveLength(1)
    })

    test('takes in the tables of a module, which are created once', async () => {
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

    test('refuses the store itself inside', async () => {
      const { store } = temporary
      const mistaken = store.transaction(async () => {
        await store.organizations.create({ slug: 'demo', name: 'Demo' })
      })
      await expect(mistaken).rejects.toBeInstanceOf(TransactionMisuseError)
    })
  })

  describe('organizations', () => {
    test('are found by slug or id, and a slug is taken once', async () => {
      const { organizations } = temporary.store
      const demo = await organizations.create({ slug: 'demo', name: 'Demo' })
      expect(await organizations.find('demo')).toEqual(demo)
      expect(await organizations.find(demo.id)).toEqual(demo)
      expect(await organizations.find('nobody')).toBeNull()
      await expect(organizations.create({ slug: 'demo', name: 'Again' })).rejects.toMatchObject({
        constraint: 'unique',
      })
    })

    test('need a slug that is fit for a command line and never looks like an id', async () => {
      for (const slug of ['', 'Demo', '-demo', 'a b', 'org_1', 'é', 'x'.repeat(64)]) {
        await expect(temporary.store.organizations.create({ slug, name: 'x' })).rejects.toMatchObject({
          code: 'INVALID_FIELD',
        })
      }
    })
  })

  describe('deployment values', () => {
    test('keep what was set first', async () => {
      const { deployment } = temporary.store
      expect(await deployment.setOnce('quickstart', 'first')).toBe(true)
      expect(await deployment.setOnce('quickstart', 'second')).toBe(false)
      expect(await deployment.read('quickstart')).toBe('first')
    })

    test('are exchanged only for what they were', async () => {
      const { deployment } = temporary.store
      expect(await deployment.exchange('head', 'one', 'two')).toBe(false)
      expect(await deployment.exchange('head', null, 'one')).toBe(true)
      expect(await deployment.exchange('head', null, 'two')).toBe(false)
      expect(await deployment.exchange('head', 'one', 'two')).toBe(true)
      expect(await deployment.exchange('head', 'one', 'three')).toBe(false)
      expect(await deployment.read('head')).toBe('two')
    })
  })

  describe('checkWritable', () => {
    const lastCheck = (store: TemporaryStore['store']) => store.deployment.read('last_write_check_seconds')

    test('writes at most once a second', async () => {
      const { store, clock } = temporary
      await Promise.all([store.checkWritable(), store.checkWritable()])
      const first = await lastCheck(store)
      expect(first).not.toBeNull()
      clock.advance(0.9)
      await store.checkWritable()
      expect(await lastCheck(store)).toBe(first)
      clock.advance(0.2)
      await store.checkWritable()
      expect(await lastCheck(store)).not.toBe(first)
    })
  })

  describe('upkeep', () => {
    test('runs by itself, and reports what fails without stopping', async () => {
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

    test('closing writes what was used last', async () => {
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
  test('several that start at once on a new database agree on one deployment', async () => {
    const place = await dialect.createPlace()
    const { target } = place
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ target, clock: systemClock })))
    expect(new Set(stores.map((store) => store.deploymentId)).size).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
    await place.remove()
  })
})

test('checkWritable says when nothing can be written, and heals', async () => {
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
