// Simultaneous writes of two machines: a decision based on a row that was read must still be valid when it commits. Two
// stores over one database stand for two machines. SQLite locks the file, PostgreSQL locks rows.
import { beforeEach, describe, expect, test } from 'bun:test'
import { addressKey } from '../../src/domain/address-key.ts'
import { readNewest } from '../../src/store/changes.ts'
import type { Transaction } from '../../src/store/database.ts'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import type { ClaimResult, IdempotencyClaim } from '../../src/store/idempotency.ts'
import type { Store } from '../../src/store/store.ts'
import { connectUnproved } from '../support/connect-unproved.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { createSession, register, walletAt } from './session-fixtures.ts'
import { nodesOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

const WALLET = walletAt(170)
const CLAIM_SECONDS = 30
const BODY = new Bun.CryptoHasher('sha256').update('body').digest()
const IN_FLIGHT = Array<string>(7).fill('in-flight')

const statusesOf = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status).sort()

describeStores((open, dialect) => {
  const temporary = nodesOfTest(open)
  let seed: Awaited<ReturnType<typeof seedOrganization>>
  let organizationId: string

  beforeEach(async () => {
    seed = await seedOrganization(temporary.store, 'demo')
    organizationId = seed.organizationId
  })

  /** `times` calls at once, alternating between the nodes. */
  const atOnce = <Result>(times: number, act: (store: Store, index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: times }, (_, index) => act(temporary.nodes[index % 2]!, index)))
  const onBoth = <Result>(act: (store: Store, index: number) => Promise<Result>) => atOnce(2, act)

  test('a session that is rejected during a registration is not reused', async () => {
    const [here, there] = temporary.nodes
    const target = await createSession(here, organizationId, { walletAddress: WALLET })
    let again: ReturnType<typeof register> | undefined
    await here.transaction(async (tables) => {
      await tables.sessions.changeStatus({ ...target, to: 'rejected', actor: 'test' })
      // On PostgreSQL, the registration finds the session pending, and then waits for its row.
      again = register(there, organizationId, { walletAddress: WALLET })
      for (let looks = 0; looks < 20; looks++) await there.organizations.find('demo')
    })
    expect(await again).toMatchObject({ created: true })
    expect((await again)?.session.id).not.toBe(target.sessionId)
  })

  test('changes are numbered without gaps', async () => {
    const before = await readNewest(temporary.store.database)
    await atOnce(20, (store, index) => store.organizations.create({ slug: `o${index}`, name: 'x' }))
    const changes = await changesSince(temporary.store.database, before)
    expect(changes.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 20 }, (_, index) => before.sequence + index + 1),
    )
  })

  const entry = (index: number) => {
    const by = { actor: 'test', actorName: 'test', requestId: 'r' }
    return { ...by, organizationId, action: 'a.b', subject: String(index), detail: {} }
  }

  test('audit entries remain one chain', async () => {
    await atOnce(12, (store, index) =>
      store.transaction(async (tables) => {
        const change = () => tables.organizations.create({ slug: `o${index}`, name: 'x' })
        const append = () => tables.audit.append(entry(index))
        // Either can come first in a transaction.
        await (index % 3 === 0 ? append().then(change) : change().then(append))
      }),
    )
    expect(await temporary.store.audit.verify()).toMatchObject({ ok: true, entries: 12 })
  })

  test('one of several registrations of a wallet creates the session, and the others reuse it', async () => {
    const registered = await atOnce(10, (store) => register(store, organizationId, { walletAddress: WALLET }))
    expect(new Set(registered.map(({ session }) => session.id)).size).toBe(1)
    expect(registered.filter(({ created }) => created)).toHaveLength(1)
  })

  test('a key is regenerated once', async () => {
    const { keyId } = seed.key.record
    const results = await atOnce(6, (store) => store.apiKeys.regenerate(organizationId, keyId, 60))
    const [first, ...others] = results
      .map(({ status }) => status)
      .sort()
      .toReversed()
    expect([first, ...new Set(others)]).toEqual(['regenerated', 'already-regenerated'])
  })

  test('the entry count of a list is the number of its entries', async () => {
    const owner = organizationId
    await temporary.store.lists.create({ owner, name: 'mine' })
    const edit = (index: number, present: boolean) => {
      const key = addressKey(
        `0x${Math.floor(index / 2)
          .toString(16)
          .padStart(40, '0')}`,
      )
      return { key, memo: '', author: 'test', addedAtSeconds: 1, present }
    }
    // Both nodes add each address at once.
    await atOnce(12, (store, index) => store.lists.edit(owner, 'mine', [edit(index, true)]))
    await atOnce(4, (store, index) => store.lists.edit(owner, 'mine', [edit(index, false)]))
    const list = await temporary.store.lists.find(owner, 'mine')
    expect(list).toMatchObject({ entryCount: 4, version: 17 })
    expect(await temporary.store.lists.readEdits(list?.id ?? '')).toHaveLength(4)
  })

  test('each task is taken once', async () => {
    for (let index = 0; index < 10; index++) {
      await temporary.store.tasks.create({ organizationId: null, kind: 'test', input: {}, actor: 'test' })
    }
    const taken: string[] = []
    for (let round = 0; round < 8; round++) {
      for (const task of await atOnce(4, (store) => store.tasks.takeNext())) if (task !== null) taken.push(task.id)
    }
    expect([taken.length, new Set(taken).size]).toEqual([10, 10])
  })

  test('a running task of a live process on another machine is not interrupted', async () => {
    const [one, two] = temporary.nodes
    for (const runner of ['a', 'b']) {
      await one.tasks.create({ organizationId: null, kind: 'test', input: { runner }, actor: 'test' })
      await one.tasks.takeNext(runner)
    }
    expect([await two.tasks.failInterrupted(['a', 'b']), await two.tasks.failInterrupted(['b', 'c'])]).toEqual([0, 1])
    expect([await two.tasks.countOpen(null), await two.tasks.failInterrupted()]).toEqual([1, 1])
  })

  test('of two decisions about one session, the second fails', async () => {
    const { store } = temporary
    const target = await createSession(store, organizationId, { walletAddress: WALLET })
    const statuses = ['rejected', 'completed'] as const
    const decide = (node: Store, index: number) =>
      node.sessions.changeStatus({ ...target, actor: 'test', override: 'person', to: statuses[index]! })
    const results = await Promise.allSettled(temporary.nodes.map(decide))
    expect(statusesOf(results)).toEqual(['fulfilled', 'rejected'])
    expect((await store.sessions.find(organizationId, target.sessionId))?.session.sequence).toBe(2)
  })

  test('two sessions of one wallet that are completed at once get one person', async () => {
    for (let round = 0; round < 4; round++) {
      const targets = await onBoth(async (store) => {
        const target = await createSession(store, organizationId)
        await connectUnproved(store, { ...target, address: walletAt(1_000 + round) })
        await markChecksMade(store, organizationId, target.sessionId)
        return target
      })
      const completed = await onBoth((store, index) =>
        store.sessions.changeStatus({ ...targets[index]!, actor: 'test', to: 'completed', override: 'person' }),
      )
      expect(new Set(completed.map((state) => state?.session.personId)).size).toBe(1)
    }
  })

  test('of two administrators who disable each other, one stays enabled', async () => {
    const users = await Promise.all(
      ['a@example.com', 'b@example.com'].map((email) =>
        temporary.store.users.create({ email, name: email, deploymentAdmin: true, passwordHash: null }),
      ),
    )
    const disable = (store: Store, index: number) =>
      store.transaction(async (tables) => {
        await tables.users.setDisabled(users[index]!.id, true)
        if ((await tables.users.countDeploymentAdmins()) === 0) throw new Error('the last administrator')
      })
    expect(statusesOf(await Promise.allSettled(temporary.nodes.map(disable)))).toEqual(['fulfilled', 'rejected'])
  })

  describe('webhook messages', () => {
    const queueMessages = async (count: number): Promise<void> => {
      const { sessionId } = await createSession(temporary.store, organizationId)
      await temporary.store.database.transaction(async (transaction) => {
        await transaction.execute(
          `INSERT INTO webhook_endpoints (id, organization_id, environment, purpose, url, sealed_secret,
             created_at_seconds) VALUES ('endpoint', ?, 'live', 'events', 'https://receiver.example', ?, 0)`,
          [organizationId, new Uint8Array(1)],
        )
        for (let index = 0; index < count; index++) {
          await transaction.execute(
            `INSERT INTO webhook_messages (id, organization_id, endpoint_id, session_id, sequence, type, snapshot, state,
               attempts, next_attempt_at_seconds, claimed_until_seconds, created_at_seconds)
             VALUES (?, ?, 'endpoint', ?, ?, 'session.created', '{}', 'waiting', 0, 0, 0, 0)`,
            [`msg_${index}`, organizationId, sessionId, index],
          )
        }
      })
    }

    test('are claimed once each', async () => {
      await queueMessages(24)
      const claimed: string[] = []
      for (let round = 0; round < 10; round++) {
        claimed.push(...(await onBoth((store) => store.webhookMessages.claim(8, 60))).flat().map(({ id }) => id))
      }
      expect([claimed.length, new Set(claimed).size]).toEqual([24, 24])
    })

    test('are not claimed by a process that lost the lease', async () => {
      await queueMessages(1)
      const [one, two] = temporary.nodes
      const first = await one.leaderLeases.attestation.take('first', null)
      const holds = (transaction: Transaction): Promise<boolean> =>
        one.leaderLeases.attestation.holds(transaction, 'first', first?.term ?? 0)
      await two.leaderLeases.attestation.take('second', await two.leaderLeases.attestation.read())
      expect(await one.webhookMessages.claim(8, 60, () => 0, holds)).toEqual([])
      expect(await two.webhookMessages.claim(8, 60)).toHaveLength(1)
    })
  })

  describe('the leader lease', () => {
    test('is not taken while a transaction that checked it is open', async () => {
      const [one, two] = [temporary.nodes[0], temporary.nodes[1].leaderLeases.attestation]
      const held = await one.leaderLeases.attestation.take('first', null)
      const order: string[] = []
      let taking: Promise<unknown> = Promise.resolve()
      await one.database.transaction(async (transaction) => {
        expect(await one.leaderLeases.attestation.holds(transaction, 'first', held?.term ?? 0)).toBe(true)
        taking = two.take('second', held).then((taken) => order.push(taken === null ? 'refused' : 'taken'))
        // Each read is a round trip. The earlier take is one, too, and would be complete after ten reads.
        for (let looks = 0; looks < 10; looks++) expect((await two.read())?.holder).toBe('first')
        order.push('written')
      })
      await taking
      expect(order).toEqual(['written', 'taken'])
    })

    test('is taken by one of two processes', async () => {
      for (let round = 0; round < 10; round++) {
        const seen = await temporary.store.leaderLeases.attestation.read()
        const taken = await onBoth((store, index) => store.leaderLeases.attestation.take(`node ${index}`, seen))
        expect(taken.filter((lease) => lease !== null)).toHaveLength(1)
      }
    })
  })

  test('expired rows are deleted only by the process that sweeps', async () => {
    const { nodes, clock } = temporary
    const [one, two] = nodes
    await one.idempotency.claim(organizationId, 'key', 'retry', BODY, 'uuid', clock.unixSeconds() + 30)
    clock.advance(2 * 86_400)
    const settings = { takeUses: () => new Map<string, number>(), onError: () => undefined }
    one.upkeep.start({ ...settings, sweeps: () => false })
    two.upkeep.start({ ...settings, sweeps: () => true })
    for (const [node, rows] of [
      [one, 1],
      [two, 0],
    ] as const) {
      await node.upkeep.sweep()
      expect(await one.database.query('SELECT 1 FROM idempotency')).toHaveLength(rows)
    }
  })

  test('two nodes can settle rate limits of the same keys in opposite orders', async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`)
    const settle = (store: Store, id: string, order: readonly string[]) =>
      store.rateLeases.exchange(
        id,
        0,
        order.map((keyId) => ({ keyId, requestsPerSecond: 1, burst: 100, owed: 1, wanted: 2 })),
      )
    for (let round = 0; round < 5; round++) {
      await onBoth((store, index) => settle(store, `${index}`, index === 0 ? keys : keys.toReversed()))
    }
    const { answers } = await settle(temporary.store, '0', keys)
    expect(answers.map(({ balance }) => balance)).toEqual(keys.map(() => 100 - 11 * 3))
    expect(answers.every(({ holders }) => holders === 2)).toBe(true)
  })

  describe('an idempotency key', () => {
    const claim = (store: Store, uuid: string, key: string): Promise<ClaimResult> =>
      store.idempotency.claim(organizationId, 'key', key, BODY, uuid, temporary.clock.unixSeconds() + CLAIM_SECONDS)
    const outcomesOf = (results: readonly ClaimResult[]): string[] => results.map(({ outcome }) => outcome).sort()
    const heldBy = (results: readonly ClaimResult[]): IdempotencyClaim => {
      for (const result of results) if ('claim' in result) return result.claim
      throw new Error('no request holds the claim')
    }
    const race = (key: string) => atOnce(8, (store, index) => claim(store, `uuid ${index}`, key))

    test('is claimed once, and once more after it expires', async () => {
      for (let round = 0; round < 10; round++) {
        const key = `new ${round}`
        for (let claims = 0; claims < 2; claims++) {
          expect(outcomesOf(await race(key))).toEqual(['claimed', ...IN_FLIGHT])
          temporary.clock.advance(CLAIM_SECONDS + 86_400)
        }
      }
    })

    test('is taken over once with the uuid of the abandoned claim, whose holder can no longer use it', async () => {
      const [one, two] = temporary.nodes
      for (let round = 0; round < 10; round++) {
        const key = `abandoned ${round}`
        const first = heldBy([await claim(one, 'first', key)])
        temporary.clock.advance(CLAIM_SECONDS)
        const results = await race(key)
        expect([outcomesOf(results), heldBy(results).uuid]).toEqual([[...IN_FLIGHT, 'taken-over'], 'first'])
        expect(await one.idempotency.complete(first, { status: 200, body: 'late' }, 9e9)).toBeNull()
        expect(await two.idempotency.release(first)).toBe(false)
      }
    })

    test('is claimed at most once during its release', async () => {
      const [one, two] = temporary.nodes
      for (let round = 0; round < 10; round++) {
        const key = `released ${round}`
        const held = heldBy([await claim(one, 'first', key)])
        const [released, ...claims] = await Promise.all([
          one.idempotency.release(held),
          claim(two, 'second', key),
          claim(two, 'third', key),
        ])
        expect(released).toBe(true)
        expect(claims.filter((result) => 'claim' in result).length).toBeLessThanOrEqual(1)
      }
    })

    test('has one answer if its holder responds during a takeover', async () => {
      const [one, two] = temporary.nodes
      for (let round = 0; round < 10; round++) {
        const key = `answered ${round}`
        const held = heldBy([await claim(one, 'first', key)])
        temporary.clock.advance(CLAIM_SECONDS)
        const keepUntilSeconds = temporary.clock.unixSeconds() + 300
        const [completed, taken] = await Promise.all([
          one.idempotency.complete(held, { status: 200, body: 'one' }, keepUntilSeconds),
          claim(two, 'second', key),
        ])
        const isTaken = taken.outcome === 'taken-over'
        const answer = { status: 200, body: isTaken ? 'two' : 'one' }
        if (isTaken) {
          expect(completed).toBeNull()
          expect(await two.idempotency.complete(taken.claim, answer, keepUntilSeconds)).toEqual(answer)
        } else {
          expect(completed).toEqual(answer)
          expect(['completed', 'in-flight']).toContain(taken.outcome)
        }
        for (const store of temporary.nodes) {
          expect(await claim(store, 'later', key)).toMatchObject({ outcome: 'completed', response: answer })
        }
      }
    })
  })

  // On SQLite, writes take turns.
  if (dialect === 'SQLite') return
  test.each([
    ['the first account', 'the use locks the deployment before the link', false],
    ['an account', 'the renewal waits without locking the deployment', true],
  ])('a link of %s can be used while it is renewed: %s', async (_name, _order, isOfAccount) => {
    const [store, other] = temporary.nodes
    const account = { email: 'a@example.com', name: 'A', deploymentAdmin: false, passwordHash: null }
    const user = await store.users.create(account)
    const userId = isOfAccount ? user.id : null
    const link = { purpose: isOfAccount ? 'invitation' : 'first-admin', userId, expiresAtSeconds: 2e9 } as const
    const [hash, renewedHash] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    await store.userLinks.replace(link, hash)
    /** Whether the row of the deployment and the row of the account are unlocked. */
    const findFree = (): Promise<readonly boolean[]> =>
      other.database.transaction(async (transaction) => {
        const free: boolean[] = []
        for (const row of ["counters WHERE name = 'changes'", 'users']) {
          free.push((await transaction.query(`SELECT 1 FROM ${row} FOR UPDATE SKIP LOCKED`)).length === 1)
        }
        return free
      })
    let renewed: Promise<void> | undefined
    await store.transaction(async (tables) => {
      expect(await tables.userLinks.spend(link, hash)).not.toBeNull()
      expect(await findFree()).toEqual([isOfAccount, !isOfAccount])
      renewed = other.userLinks.replace(link, renewedHash)
      for (let looks = 0; looks < 20; looks++) expect(await findFree()).toEqual([isOfAccount, !isOfAccount])
      // The audit entry locks the deployment.
      await tables.audit.append({ ...entry(0), organizationId: null })
    })
    await renewed
    expect(await store.userLinks.find(renewedHash)).toMatchObject({ userId })
  })

  test('creating a list that is being edited fails immediately', async () => {
    const [store, other] = temporary.nodes
    const list = { owner: organizationId, name: 'mine', description: '' }
    await store.lists.create(list)
    const [edited, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const added = { key: new Uint8Array(20), present: true, memo: '', author: 'x', addedAtSeconds: 1 }
    const edit = store.transaction(async ({ lists }) => {
      await lists.edit(list.owner, 'mine', [added])
      edited.resolve()
      await commit.promise
    })
    await edited.promise
    await expect(other.lists.create(list)).rejects.toBeInstanceOf(ConstraintViolatedError)
    commit.resolve()
    await edit
  })
})
