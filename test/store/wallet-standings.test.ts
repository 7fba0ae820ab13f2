// What is read of a wallet and of a person is the same whether the database puts it in order or the caller does, below and
// beyond the number of rows that may be read. And a session's links: the newest ten.
import { beforeEach, expect, test } from 'bun:test'
import { parseEvmAddress, type WalletAddress } from '../../src/domain/address.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { queueChecks } from '../../src/store/sessions/session-checks.ts'
import { PERSON_WALLETS, STANDING_SESSIONS, standingParameters } from '../../src/store/sessions/wallet-standings.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

const walletAt = (number: number): WalletAddress =>
  parseEvmAddress(`0x${number.toString(16).padStart(40, '0')}`) as WalletAddress
const WALLET = walletAt(1)
const SESSIONS_MAX = 64
const PERSON_WALLETS_MAX = 200

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let organizationId: string

  beforeEach(async () => {
    organizationId = (await seedOrganization(temporary.store, 'demo')).organizationId
    await temporary.store.database.execute(
      `INSERT INTO persons (id, organization_id, environment, check_type, created_at_seconds)
       VALUES ('person', ?, 'live', 'kyc', 0)`,
      [organizationId],
    )
  })

  const idOf = (number: number): string => `10000000-0000-7000-8000-${String(number).padStart(12, '0')}`

  /** Completed sessions of one person: each for the wallet, each with the wallets given. */
  const addSessions = (count: number, walletsOf: (session: number) => readonly WalletAddress[]): Promise<void> =>
    temporary.store.database.transaction(async (transaction) => {
      // Not in the order of their ids.
      for (let place = 0; place < count; place++) {
        const number = (place * 7) % count
        await transaction.execute(
          `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
             person_id, user_id, retry_count, sequence, created_at_seconds, updated_at_seconds, completed_at_seconds)
           VALUES (?, ?, 'live', 'kyc', 'completed', 1, 'manual', ?, 'person', 'user', 0, 1, ?, 0, ?)`,
          [organizationId, idOf(number), WALLET, number, number],
        )
        for (const [index, address] of walletsOf(number).entries()) {
          await transaction.execute(
            `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain, address,
               address_text, connected_at_seconds) VALUES (?, ?, ?, 'live', 2, ?, ?, ?, ?)`,
            [
              `wallet ${number} ${index}`,
              organizationId,
              idOf(number),
              index % 2 === 0 ? 'base' : 'ethereum',
              address,
              address,
              (number * 31) % 50,
            ],
          )
        }
      }
    })

  /** How many changes of sessions `work` announces. */
  const announced = async (work: () => Promise<unknown>): Promise<number> => {
    const { database } = temporary.store
    const count = async () =>
      Number((await database.query<{ n: number }>("SELECT COUNT(*) AS n FROM changes WHERE topic = 'session'"))[0]?.n)
    const before = await count()
    await work()
    return (await count()) - before
  }

  const query = () => ({ organizationId, environment: 'live', level: 1 }) as const

  test.each([
    ['a few', 5],
    ['as many as may be read', SESSIONS_MAX / 2],
    ['more than may be read', SESSIONS_MAX + 5],
  ])('a wallet’s sessions, %s: one’s own, newest first', async (_name, count) => {
    await addSessions(count, () => [WALLET])
    const ordered = await temporary.store.database.query<{ id: string; connected: number }>(
      STANDING_SESSIONS,
      standingParameters(query(), WALLET),
    )
    const read = await temporary.store.walletStandings.loadSessions(query(), WALLET)
    expect(read).toHaveLength(Math.min(SESSIONS_MAX, count * 2))
    expect(read.map(({ sessionId, connected }) => [sessionId, connected])).toEqual(
      ordered.map(({ id, connected }) => [id, connected === 1]),
    )
    expect(read[0]).toMatchObject({ sessionId: idOf(count - 1), own: true, connected: true, personId: 'person' })
  })

  test('the last decision is read of a wallet with more sessions than may be read, however old its session is', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { database, sessions, walletStandings } = temporary.store
    await database.execute("UPDATE sessions SET status = 'submitted', completed_at_seconds = NULL WHERE id = ?", [
      idOf(1),
    ])
    await sessions.changeStatus({ organizationId, sessionId: idOf(1), to: 'rejected', actor: 'operator' })
    const read = await walletStandings.loadSessions(query(), WALLET)
    expect(read).toHaveLength(SESSIONS_MAX)
    expect(read[0]?.sessionId).toBe(idOf(SESSIONS_MAX + 39))
    const rejected = read.find(({ sessionId }) => sessionId === idOf(1))
    expect(rejected).toMatchObject({ status: 'rejected', decidedSequence: expect.any(Number) })
    expect(judgeStanding(read, 1, 'kyc').verifying).toBeNull()
  })

  test('the last rejection is read, however many sessions without the wallet were decided later', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { database, sessions, walletStandings } = temporary.store
    await sessions.changeStatus({
      organizationId,
      sessionId: idOf(1),
      to: 'rejected',
      actor: 'operator:ada',
      revoke: true,
    })
    for (let number = 2; number < 22; number++) {
      const session = [organizationId, idOf(number)]
      await database.execute(
        'UPDATE sessions SET locked_address = NULL, decided_sequence = 1000000 WHERE organization_id = ? AND id = ?',
        session,
      )
      await database.execute('DELETE FROM session_wallets WHERE organization_id = ? AND session_id = ?', session)
      await database.execute(
        `INSERT INTO session_removed_wallets (organization_id, session_id, environment, address) VALUES (?, ?, 'live', ?)`,
        [...session, WALLET],
      )
    }
    const read = await walletStandings.loadSessions(query(), WALLET)
    expect(read).toHaveLength(SESSIONS_MAX)
    expect(judgeStanding(read, 1, 'kyc').verifying).toBeNull()
  })

  test('an unsettled session is read of a wallet with more sessions than may be read, until its hit is cleared', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { store } = temporary
    const { id: hitId } = await openHit(store, organizationId, idOf(1))
    const readUnsettled = async () =>
      (await store.walletStandings.loadSessions(query(), WALLET)).flatMap(({ sessionId, isUnsettled }) =>
        isUnsettled ? [sessionId] : [],
      )
    expect(new Set(await readUnsettled())).toEqual(new Set([idOf(1)]))
    const decide = (state: 'cleared' | 'confirmed') =>
      store.screeningChecks.decideHit(
        { organizationId, sessionId: idOf(1), hitId },
        { state, by: 'ada', reason: 'Looked at.' },
      )
    await decide('confirmed')
    expect(new Set(await readUnsettled())).toEqual(new Set([idOf(1)]))
    await decide('cleared')
    expect(await readUnsettled()).toEqual([])
  })

  test('decisions are numbered in their order, whichever session is older and whatever the clock says', async () => {
    await addSessions(3, () => [WALLET])
    const { database, sessions, walletStandings } = temporary.store
    await database.execute("UPDATE sessions SET status = 'submitted', completed_at_seconds = NULL")
    const order = [2, 0, 1]
    for (const number of order) {
      temporary.clock.advance(-1)
      const to = number === 0 ? 'rejected' : 'completed'
      await sessions.changeStatus({
        organizationId,
        sessionId: idOf(number),
        to,
        actor: 'operator',
        override: 'person',
      })
    }
    const read = (await walletStandings.loadSessions(query(), WALLET)).filter(({ connected }) => connected)
    const numbered = read.toSorted((left, right) => (left.decidedSequence ?? 0) - (right.decidedSequence ?? 0))
    expect(numbered.map(({ sessionId }) => sessionId)).toEqual(order.map(idOf))
    expect(new Set(read.map(({ decidedSequence }) => decidedSequence)).size).toBe(3)
    expect(Math.min(...read.map(({ decidedSequence }) => decidedSequence ?? 0))).toBeGreaterThan(0)
    // The revocation is the last decision.
    await sessions.changeStatus({ organizationId, sessionId: idOf(1), to: 'retry', actor: 'operator', revoke: true })
    const [retried] = (await walletStandings.loadSessions(query(), WALLET)).filter(
      ({ sessionId }) => sessionId === idOf(1),
    )
    expect(retried?.status).toBe('retry')
    expect(retried?.decidedSequence).toBeGreaterThan(
      Math.max(...read.map(({ decidedSequence }) => decidedSequence ?? 0)),
    )
  })

  test.each([
    ['a few', 3, 4],
    ['as many as may be read', 10, 20],
    ['more than may be read', 11, 20],
  ])('a person’s wallets, %s: each once, the first connected first', async (_name, sessions, wallets) => {
    // Half of each session's wallets were in the session before it as well.
    await addSessions(sessions, (session) =>
      Array.from({ length: wallets }, (_, index) => walletAt(1_000 + (session * wallets) / 2 + index)),
    )
    const ordered = await temporary.store.database.query<{ address: string; chain: string }>(PERSON_WALLETS, [
      'person',
      1,
      'live',
      organizationId,
      organizationId,
    ])
    const read = await temporary.store.walletStandings.loadPersonWallets(query(), 'person')
    expect(read.length).toBeLessThanOrEqual(PERSON_WALLETS_MAX)
    expect<unknown>(read).toEqual(ordered.map(({ address, chain }) => ({ address, chain })))
  })

  test('caches are told of the hits and the pending checks of a session that is not completed', async () => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    const target = { organizationId, sessionId: idOf(0) }
    await store.database.execute("UPDATE sessions SET status = 'submitted', completed_at_seconds = NULL")
    await store.database.transaction((transaction) =>
      queueChecks(transaction, { organizationId, id: target.sessionId, sequence: 1 }, 0),
    )
    const hit = await announced(() => openHit(store, organizationId, target.sessionId))
    const made = await announced(() => store.sessionChecks.markMade({ ...target, sequence: 1 }))
    expect([hit, made]).toEqual([1, 1])
  })

  test('others rely on a session while no hit is open or confirmed and no check is pending, and are told', async () => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    const { database } = store
    await database.execute('UPDATE sessions SET consented_at_seconds = 1')
    const other = (await seedOrganization(store, 'other')).organizationId
    const target = { organizationId, sessionId: idOf(0) }
    const asking = { ...query(), organizationId: other }
    const isShared = async (): Promise<boolean> => {
      const sessions = await store.walletStandings.loadSessions(asking, WALLET)
      const wallets = await store.walletStandings.loadPersonWallets(asking, 'person')
      expect(sessions.length).toBe(wallets.length)
      // One's own verification stays.
      expect(await store.walletStandings.loadPersonWallets(query(), 'person')).toHaveLength(1)
      return sessions.length > 0
    }
    const decide = (hitId: string, state: 'cleared' | 'confirmed') =>
      store.screeningChecks.decideHit({ ...target, hitId }, { state, by: 'ada', reason: 'Looked at.' })

    expect(await isShared()).toBe(true)
    let hitId = ''
    expect(await announced(async () => ({ id: hitId } = await openHit(store, organizationId, target.sessionId)))).toBe(
      1,
    )
    expect(await isShared()).toBe(false)
    // The same hit again changes nothing.
    expect(await announced(() => openHit(store, organizationId, target.sessionId))).toBe(0)
    expect(await announced(() => decide(hitId, 'confirmed'))).toBe(1)
    expect(await isShared()).toBe(false)
    expect(await announced(() => decide(hitId, 'cleared'))).toBe(1)
    expect(await isShared()).toBe(true)

    await database.transaction((transaction) =>
      queueChecks(transaction, { organizationId, id: target.sessionId, sequence: 1 }, 0),
    )
    expect(await isShared()).toBe(false)
    expect(await announced(() => store.sessionChecks.markMade({ ...target, sequence: 1 }))).toBe(1)
    expect(await isShared()).toBe(true)
  })

  test.each([
    ['is the one of a shared session of another organization', false],
    ['is another while that session has an open hit', true],
  ])('the person of a wallet %s', async (_name, hasHit) => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    await store.database.execute('UPDATE sessions SET consented_at_seconds = 1')
    if (hasHit) await openHit(store, organizationId, idOf(0))
    const other = (await seedOrganization(store, 'other')).organizationId
    const target = { organizationId: other, sessionId: idOf(1), actor: 'provider:sandbox' }
    await store.sessions.register({
      ...target,
      environment: 'test',
      checkType: 'kyc',
      tokenHash: new Uint8Array(32).fill(1),
      walletAddress: WALLET,
      originUrl: null,
      provider: 'sandbox',
    })
    const proof = { kind: 'sandbox', message: '', signature: '' } as const
    await store.sessionWallets.connect({ ...target, chain: 'base', address: WALLET, nonce: null, proof })
    await store.sessions.recordConsent({ ...target, version: '2.en' })
    await store.database.execute("UPDATE session_wallets SET environment = 'live'")
    await markChecksMade(store, other, target.sessionId)
    const state = await store.sessions.changeStatus({ ...target, to: 'completed', override: 'person' })
    expect(state?.session.personId === 'person').toBe(!hasHit)
  })

  test('of a session’s links the newest ten work', async () => {
    const hashes = Array.from({ length: 12 }, (_, index) => new Uint8Array(32).fill(index + 1))
    for (const [index, tokenHash] of hashes.entries()) {
      await temporary.store.sessions.register({
        organizationId,
        environment: 'live',
        checkType: 'kyc',
        sessionId: idOf(index),
        tokenHash,
        walletAddress: WALLET,
        originUrl: null,
        provider: 'manual',
        actor: 'key:test',
      })
    }
    const found = await Promise.all(hashes.map((hash) => temporary.store.sessions.findByToken(hash)))
    expect(found.map((state) => state !== null)).toEqual(hashes.map((_, index) => index >= 2))
  })
})
