// What one process at a time does, asked for by two machines at once, as happens for a moment when a leader changes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Transaction } from '../../src/store/database.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { describeStores } from './dialects.ts'
import type { TemporaryStore } from './temporary-store.ts'

describeStores((open) => {
  let temporary: TemporaryStore
  let stores: readonly [Store, Store]

  beforeEach(async () => {
    temporary = await open()
    stores = [temporary.store, await openStore({ target: temporary.target, clock: temporary.clock })]
  })
  afterEach(async () => {
    await stores[1].close()
    await temporary.remove()
  })

  const queueMessages = async (count: number): Promise<void> => {
    const { store } = temporary
    const organizationId = (await store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    await store.database.transaction(async (transaction) => {
      await transaction.execute(
        `INSERT INTO webhook_endpoints (id, organization_id, environment, purpose, url, sealed_secret, created_at_seconds)
         VALUES ('endpoint', ?, 'live', 'events', 'https://receiver.example', ?, 0)`,
        [organizationId, new Uint8Array(1)],
      )
      await transaction.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count,
           sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, 'session', 'live', 'kyc', 'pending', 1, 'manual', 0, 1, 0, 0)`,
        [organizationId],
      )
      for (let index = 0; index < count; index++) {
        await transaction.execute(
          `INSERT INTO webhook_messages (id, organization_id, endpoint_id, session_id, sequence, type, snapshot, state,
             attempts, next_attempt_at_seconds, claimed_until_seconds, created_at_seconds)
           VALUES (?, ?, 'endpoint', 'session', ?, 'session.created', '{}', 'waiting', 0, 0, 0, 0)`,
          [`msg_${index}`, organizationId, index],
        )
      }
    })
  }

  test('a webhook message is claimed by one of them', async () => {
    await queueMessages(24)
    const claimed: string[] = []
    for (let round = 0; round < 10; round++) {
      const batches = await Promise.all(stores.map((store) => store.webhookMessages.claim(8, 60)))
      claimed.push(...batches.flat().map(({ id }) => id))
    }
    expect(claimed).toHaveLength(24)
    expect(new Set(claimed).size).toBe(24)
  })

  test('a message is not claimed by one that leads no more', async () => {
    await queueMessages(1)
    const first = await stores[0].leaderLeases.attestation.take('first', null)
    const allowed = (transaction: Transaction): Promise<boolean> =>
      stores[0].leaderLeases.attestation.holds(transaction, 'first', first?.term ?? 0)
    await stores[1].leaderLeases.attestation.take('second', await stores[1].leaderLeases.attestation.read())
    expect(await stores[0].webhookMessages.claim(8, 60, () => 0, allowed)).toEqual([])
    expect(await stores[1].webhookMessages.claim(8, 60)).toHaveLength(1)
  })

  test('nobody takes the lease while a transaction of its holder that has checked it is open', async () => {
    const [one, two] = stores
    const held = await one.leaderLeases.attestation.take('first', null)
    const order: string[] = []
    let taking: Promise<unknown> = Promise.resolve()
    await one.database.transaction(async (transaction) => {
      expect(await one.leaderLeases.attestation.holds(transaction, 'first', held?.term ?? 0)).toBe(true)
      taking = two.leaderLeases.attestation
        .take('second', held)
        .then((taken) => order.push(taken === null ? 'refused' : 'taken'))
      // Each look goes to the store and back, as the taking did that was sent before: it would be done by now.
      for (let looks = 0; looks < 10; looks++) expect((await two.leaderLeases.attestation.read())?.holder).toBe('first')
      order.push('written')
    })
    await taking
    expect(order).toEqual(['written', 'taken'])
  })

  test('the lease goes to one of two that take it', async () => {
    for (let round = 0; round < 10; round++) {
      const seen = await stores[0].leaderLeases.attestation.read()
      const taken = await Promise.all(
        stores.map((store, index) => store.leaderLeases.attestation.take(`node ${index}`, seen)),
      )
      expect(taken.filter((lease) => lease !== null)).toHaveLength(1)
    }
  })

  test('a task is taken by one of them', async () => {
    for (let index = 0; index < 10; index++) {
      await temporary.store.tasks.create({ organizationId: null, kind: 'test', input: {}, actor: 'test' })
    }
    const taken: string[] = []
    for (let round = 0; round < 10; round++) {
      const tasks = await Promise.all(stores.map((store) => store.tasks.takeNext()))
      taken.push(...tasks.flatMap((task) => (task === null ? [] : [task.id])))
    }
    expect(new Set(taken).size).toBe(taken.length)
  })

  test('a task that runs on another machine is not taken for interrupted, until its process is gone', async () => {
    const [one, two] = stores
    for (const runner of ['a', 'b']) {
      await one.tasks.create({ organizationId: null, kind: 'test', input: { runner }, actor: 'test' })
      await one.tasks.takeNext(runner)
    }
    expect(await two.tasks.failInterrupted(['a', 'b'])).toBe(0)
    expect(await two.tasks.failInterrupted(['b', 'c'])).toBe(1)
    expect(await two.tasks.countOpen(null)).toBe(1)
    expect(await two.tasks.failInterrupted()).toBe(1)
  })

  test('what is past its time is deleted by whoever may, and by nobody else', async () => {
    const [one, two] = stores
    const organizationId = (await one.organizations.create({ slug: 'demo', name: 'Demo' })).id
    const body = new Uint8Array(32)
    await one.idempotency.claim(organizationId, 'key', 'retry', body, 'uuid', temporary.clock.unixSeconds() + 30)
    temporary.clock.advance(2 * 86_400)
    const kept = async (): Promise<number> => (await one.database.query('SELECT 1 FROM idempotency')).length
    const settings = { takeUses: () => new Map<string, number>(), onError: () => undefined }
    one.upkeep.start({ ...settings, sweeps: () => false })
    two.upkeep.start({ ...settings, sweeps: () => true })
    await one.upkeep.sweep()
    expect(await kept()).toBe(1)
    await two.upkeep.sweep()
    expect(await kept()).toBe(0)
  })

  test('keys settled by both at once, in opposite orders, are settled by both', async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`)
    const settle = (store: Store, id: string, order: readonly string[]) =>
      store.rateLeases.exchange(
        id,
        0,
        order.map((keyId) => ({ keyId, requestsPerSecond: 1, burst: 100, owed: 1, wanted: 2 })),
      )
    for (let round = 0; round < 5; round++) {
      await Promise.all([settle(stores[0], 'a', keys), settle(stores[1], 'b', keys.toReversed())])
    }
    const { answers } = await settle(stores[0], 'a', keys)
    expect(answers.map(({ balance }) => balance)).toEqual(keys.map(() => 100 - 11 * 3))
    expect(answers.every(({ holders }) => holders === 2)).toBe(true)
  })
})
