// Several machines write at once: what one of them decides by a row that it read must still be so when it commits. Two
// stores over one database stand for two machines; on SQLite they take turns by its lock, on PostgreSQL by row locks.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { parseEvmAddress, type WalletAddress } from '../../src/domain/address.ts'
import { addressKey } from '../../src/domain/address-key.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import { systemClock } from '../../src/lib/time.ts'
import { readNewest } from '../../src/store/changes.ts'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { connectUnproved } from '../support/connect-unproved.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { seedOrganization, type TemporaryStore } from './temporary-store.ts'

const WALLET = parseEvmAddress('0x00000000000000000000000000000000000000aa') as WalletAddress

const outcomesOf = (results: readonly PromiseSettledResult<unknown>[]): readonly string[] =>
  results.map(({ status }) => status)

describeStores((openTemporaryStore, dialect) => {
  let temporary: TemporaryStore
  let nodes: readonly [Store, Store]
  let seed: Awaited<ReturnType<typeof seedOrganization>>

  beforeEach(async () => {
    temporary = await openTemporaryStore()
    nodes = [temporary.store, await openStore({ target: temporary.target, clock: systemClock })]
    seed = await seedOrganization(temporary.store, 'demo')
  })
  afterEach(async () => {
    await nodes[1].close()
    await temporary.remove()
  })

  /** `times` calls at once, taking turns between the two. */
  const atOnce = <Result>(times: number, act: (store: Store, index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: times }, (_, index) => act(nodes[index % 2] ?? nodes[0], index)))

  const register = (store: Store, wallet: WalletAddress | null = WALLET) =>
    store.sessions.register({
      organizationId: seed.organizationId,
      environment: 'live',
      checkType: 'kyc',
      sessionId: newSessionId(),
      tokenHash: crypto.getRandomValues(new Uint8Array(32)),
      walletAddress: wallet,
      originUrl: null,
      provider: 'manual',
      actor: 'key:test',
    })

  test('a session that is rejected while it is about to be used again is not', async () => {
    const { session } = await register(nodes[0])
    let again: ReturnType<typeof register> | undefined
    await nodes[0].transaction(async (tables) => {
      await tables.sessions.changeStatus({
        organizationId: seed.organizationId,
        sessionId: session.id,
        to: 'rejected',
        actor: 'test',
      })
      // On PostgreSQL it finds the session pending, and then waits for its row.
      again = register(nodes[1])
      for (let looks = 0; looks < 20; looks++) await nodes[1].organizations.find('demo')
    })
    expect(await again).toMatchObject({ created: true })
    expect((await again)?.session.id).not.toBe(session.id)
  })

  test('changes are numbered without gaps, whoever makes them', async () => {
    const before = await readNewest(temporary.store.database)
    await atOnce(20, (store, index) => store.organizations.create({ slug: `o${index}`, name: 'x' }))
    const changes = await changesSince(temporary.store.database, before)
    expect(changes.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 20 }, (_, index) => before.sequence + index + 1),
    )
  })

  test('audit entries stay one chain', async () => {
    await atOnce(12, (store, index) =>
      store.transaction(async (tables) => {
        const change = () => tables.organizations.create({ slug: `o${index}`, name: 'x' })
        const note = () =>
          tables.audit.append({
            organizationId: seed.organizationId,
            actor: 'test',
            actorName: 'test',
            action: 'a.b',
            subject: String(index),
            detail: {},
            requestId: 'r',
          })
        // Either may come first in a transaction.
        await (index % 3 === 0 ? note().then(change) : change().then(note))
      }),
    )
    expect(await temporary.store.audit.verify()).toMatchObject({ ok: true, entries: 12 })
  })

  test('one registration of a wallet makes the session, the others find it', async () => {
    const registered = await atOnce(10, (store) => register(store))
    expect(new Set(registered.map(({ session }) => session.id)).size).toBe(1)
    expect(registered.filter(({ created }) => created)).toHaveLength(1)
  })

  test('a key is regenerated once', async () => {
    const { keyId } = seed.key.record
    const results = await atOnce(6, (store) => store.apiKeys.regenerate(seed.organizationId, keyId, 60))
    expect(results.filter(({ status }) => status === 'regenerated')).toHaveLength(1)
    expect(results.filter(({ status }) => status === 'already-regenerated')).toHaveLength(5)
  })

  test('single entries of a list are counted as they are', async () => {
    const owner = seed.organizationId
    await temporary.store.lists.create({ owner, name: 'mine' })
    const edit = (index: number, present: boolean) => ({
      key: addressKey(`0x${index.toString(16).padStart(40, '0')}`),
      memo: '',
      author: 'test',
      addedAtSeconds: 1,
      present,
    })
    // Each address is added by both at once.
    await atOnce(12, (store, index) => store.lists.edit(owner, 'mine', [edit(Math.floor(index / 2), true)]))
    await atOnce(4, (store, index) => store.lists.edit(owner, 'mine', [edit(Math.floor(index / 2), false)]))
    const list = await temporary.store.lists.find(owner, 'mine')
    expect(list).toMatchObject({ entryCount: 4, version: 17 })
    expect(await temporary.store.lists.readEdits(list?.id ?? '')).toHaveLength(4)
  })

  test('a task is taken by one runner', async () => {
    for (let index = 0; index < 3; index++) {
      await temporary.store.tasks.create({ organizationId: null, kind: 'test', input: {}, actor: 'test' })
    }
    const taken: string[] = []
    for (let round = 0; round < 6; round++) {
      for (const task of await atOnce(4, (store) => store.tasks.takeNext())) if (task !== null) taken.push(task.id)
    }
    expect(taken).toHaveLength(3)
    expect(new Set(taken).size).toBe(3)
  })

  test('of two decisions on one session the second sees the first', async () => {
    const { session } = await register(temporary.store)
    const results = await Promise.allSettled(
      (['rejected', 'completed'] as const).map((to, index) =>
        (nodes[index] ?? nodes[0]).sessions.changeStatus({
          organizationId: seed.organizationId,
          sessionId: session.id,
          actor: 'test',
          override: 'person',
          to,
        }),
      ),
    )
    expect([...outcomesOf(results)].sort()).toEqual(['fulfilled', 'rejected'])
    expect((await temporary.store.sessions.find(seed.organizationId, session.id))?.session.sequence).toBe(2)
  })

  test('two sessions of one wallet that are completed at once are of one person', async () => {
    for (let round = 0; round < 4; round++) {
      const wallet = parseEvmAddress(`0x${String(round).padStart(40, '1')}`) as WalletAddress
      const sessions = await Promise.all(
        nodes.map(async (store) => {
          const { session } = await register(store, null)
          await connectUnproved(store, {
            organizationId: seed.organizationId,
            sessionId: session.id,
            address: wallet,
          })
          await markChecksMade(store, seed.organizationId, session.id)
          return session
        }),
      )
      const completed = await Promise.all(
        sessions.map(({ id }, index) =>
          (nodes[index] ?? nodes[0]).sessions.changeStatus({
            organizationId: seed.organizationId,
            sessionId: id,
            actor: 'test',
            to: 'completed',
            override: 'person',
          }),
        ),
      )
      expect(new Set(completed.map((state) => state?.session.personId)).size).toBe(1)
    }
  })

  describe('the last admin', () => {
    test('stays, when two disable each other', async () => {
      const create = (email: string) =>
        temporary.store.users.create({ email, name: email, deploymentAdmin: true, passwordHash: null })
      const users = [await create('a@example.com'), await create('b@example.com')]
      const results = await Promise.allSettled(
        users.map(({ id }, index) =>
          (nodes[index] ?? nodes[0]).transaction(async (tables) => {
            await tables.users.setDisabled(id, true)
            if ((await tables.users.countDeploymentAdmins()) === 0) throw new Error('the last one')
          }),
        ),
      )
      expect([...outcomesOf(results)].sort()).toEqual(['fulfilled', 'rejected'])
    })
  })

  // On SQLite, writes take turns.
  if (dialect === 'SQLite') return
  test.each([
    ['the first account', 'the use locks the deployment before the link', false],
    ['an account', 'the renewal waits without locking the deployment', true],
  ])('a link of %s can be used while it is renewed: %s', async (_name, _order, isOfAccount) => {
    const [store, other] = nodes
    const user = await store.users.create({
      email: 'a@example.com',
      name: 'A',
      deploymentAdmin: false,
      passwordHash: null,
    })
    const userId = isOfAccount ? user.id : null
    const link = { purpose: isOfAccount ? 'invitation' : 'first-admin', userId, expiresAtSeconds: 2e9 } as const
    const [hash, renewedHash] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    await store.userLinks.replace(link, hash)
    /** Whether the row of the deployment and the row of the account are free. */
    const findFree = (): Promise<readonly boolean[]> =>
      other.database.transaction(async (transaction) => {
        const rows = ["counters WHERE name = 'changes'", 'users']
        const free: boolean[] = []
        for (const row of rows) {
          free.push((await transaction.query(`SELECT 1 FROM ${row} FOR UPDATE SKIP LOCKED`)).length === 1)
        }
        return free
      })
    let renewed: Promise<void> | undefined
    await store.transaction(async (tables) => {
      expect(await tables.userLinks.spend(link, hash)).not.toBeNull()
      expect(await findFree()).toEqual([isOfAccount, !isOfAccount])
      renewed = other.userLinks.replace(link, renewedHash)
      for (let looks = 0; looks < 20; looks++) {
        expect(await findFree()).toEqual([isOfAccount, !isOfAccount])
      }
      // It locks the deployment.
      await tables.audit.append({
        organizationId: null,
        actor: 'test',
        actorName: 'test',
        action: 'account.password',
        subject: user.id,
        detail: {},
        requestId: 'r',
      })
    })
    await renewed
    expect(await store.userLinks.find(renewedHash)).toMatchObject({ userId })
  })

  test('creating a list that is being edited fails at once, and holds up no other change', async () => {
    const [store, other] = nodes
    const owner = seed.organizationId
    await store.lists.create({ owner, name: 'mine', description: '' })
    const [edited, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const entry = { key: new Uint8Array(20), present: true, memo: '', author: 'x', addedAtSeconds: 1 }
    const edit = store.transaction(async ({ lists }) => {
      await lists.edit(owner, 'mine', [entry])
      edited.resolve()
      await commit.promise
    })
    await edited.promise
    const again = other.lists.create({ owner, name: 'mine', description: '' })
    await expect(again).rejects.toBeInstanceOf(ConstraintViolatedError)
    commit.resolve()
    await edit
  })
})
