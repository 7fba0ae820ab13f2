// Sessions and wallets that a standing is derived from: the database's order, the maximum number of rows, and the
// changes that caches are notified of.
import { beforeEach, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { queueChecks } from '../../src/store/sessions/session-checks.ts'
import { PERSON_WALLETS, STANDING_SESSIONS, standingParameters } from '../../src/store/sessions/wallet-standings.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { describeStores } from './dialects.ts'
import { connectWallet, createSession, OPERATOR, walletAt } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

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

  /** Adds completed sessions of one person, each registered for the wallet and connected to the given wallets. */
  const addSessions = (count: number, walletsOf: (session: number) => readonly WalletAddress[]): Promise<void> =>
    temporary.store.database.transaction(async (transaction) => {
      for (let place = 0; place < count; place++) {
        // The order of creation is not the order of ids.
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

  /** @returns the number of session changes that `work` announces */
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
    ['the maximum', SESSIONS_MAX / 2],
    ['more than the maximum', SESSIONS_MAX + 5],
  ])('sessions of a wallet are read newest first: %s', async (_name, count) => {
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

  const submitAgain = (which: string, ...parameters: readonly string[]) =>
    temporary.store.database.execute(
      `UPDATE sessions SET status = 'submitted', completed_at_seconds = NULL WHERE ${which}`,
      parameters,
    )

  test('the last decision about a wallet is read, even if many newer sessions exist', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { sessions, walletStandings } = temporary.store
    await submitAgain('id = ?', idOf(1))
    await sessions.changeStatus({ organizationId, sessionId: idOf(1), to: 'rejected', actor: 'operator' })
    const read = await walletStandings.loadSessions(query(), WALLET)
    expect([read.length, read[0]?.sessionId]).toEqual([SESSIONS_MAX, idOf(SESSIONS_MAX + 39)])
    const rejected = read.find(({ sessionId }) => sessionId === idOf(1))
    expect(rejected).toMatchObject({ status: 'rejected', decidedSequence: expect.any(Number) })
    expect(judgeStanding(read, 1, 'kyc').verifying).toBeNull()
  })

  test('the last rejection is read, even if many sessions without the wallet were decided later', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { database, sessions, walletStandings } = temporary.store
    await sessions.changeStatus({ organizationId, sessionId: idOf(1), to: 'rejected', actor: OPERATOR, revoke: true })
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

  test('an unsettled session is read until its hit is cleared, even if many newer sessions exist', async () => {
    await addSessions(SESSIONS_MAX + 40, () => [WALLET])
    const { store } = temporary
    const { id: hitId } = await openHit(store, organizationId, idOf(1))
    const readUnsettled = async () => {
      const sessions = await store.walletStandings.loadSessions(query(), WALLET)
      return new Set(sessions.flatMap(({ sessionId, isUnsettled }) => (isUnsettled ? [sessionId] : [])))
    }
    const decide = (state: 'cleared' | 'confirmed') =>
      store.screeningChecks.decideHit(
        { organizationId, sessionId: idOf(1), hitId },
        { state, by: 'ada', reason: 'Looked at.' },
      )
    expect(await readUnsettled()).toEqual(new Set([idOf(1)]))
    await decide('confirmed')
    expect(await readUnsettled()).toEqual(new Set([idOf(1)]))
    await decide('cleared')
    expect(await readUnsettled()).toEqual(new Set())
  })

  test('decisions are numbered in their order, regardless of the ids and the clock', async () => {
    await addSessions(3, () => [WALLET])
    const { sessions, walletStandings } = temporary.store
    const decide = (number: number, to: 'rejected' | 'completed' | 'retry') =>
      sessions.changeStatus({
        organizationId,
        sessionId: idOf(number),
        to,
        actor: 'operator',
        revoke: true,
        override: 'person',
      })
    const numbers = async () =>
      (await walletStandings.loadSessions(query(), WALLET))
        .filter(({ connected }) => connected)
        .map(({ sessionId, decidedSequence }) => [sessionId, decidedSequence ?? 0] as const)
        .toSorted(([, left], [, right]) => left - right)
    await submitAgain('1 = 1')
    for (const number of [2, 0, 1]) {
      temporary.clock.advance(-1)
      await decide(number, number === 0 ? 'rejected' : 'completed')
    }
    const decided = await numbers()
    expect(decided.map(([id]) => id)).toEqual([2, 0, 1].map(idOf))
    expect(new Set(decided.map(([, sequence]) => sequence)).size).toBe(3)
    expect(decided[0]?.[1]).toBeGreaterThan(0)
    // A revocation is a decision.
    await decide(1, 'retry')
    const [retried] = (await walletStandings.loadSessions(query(), WALLET)).filter(
      ({ sessionId }) => sessionId === idOf(1),
    )
    expect(retried?.status).toBe('retry')
    expect(retried?.decidedSequence).toBeGreaterThan(decided[2]?.[1] ?? 0)
  })

  test.each([
    ['a few', 3, 4],
    ['the maximum', 10, 20],
    ['more than the maximum', 11, 20],
  ])('wallets of a person are read once each, first connected first: %s', async (_name, sessions, wallets) => {
    // Half of a session's wallets also belong to the previous session.
    await addSessions(sessions, (session) =>
      Array.from({ length: wallets }, (_, index) => walletAt(1_000 + (session * wallets) / 2 + index)),
    )
    const parameters = ['person', 1, 'live', organizationId, organizationId]
    const ordered = await temporary.store.database.query<{ address: string; chain: string }>(PERSON_WALLETS, parameters)
    const read = await temporary.store.walletStandings.loadPersonWallets(query(), 'person')
    expect(read.length).toBeLessThanOrEqual(PERSON_WALLETS_MAX)
    expect<unknown>(read).toEqual(ordered.map(({ address, chain }) => ({ address, chain })))
  })

  const queueChecksOf = () =>
    temporary.store.database.transaction((transaction) =>
      queueChecks(transaction, { organizationId, id: idOf(0), sequence: 1 }, 0),
    )

  test('hits and made checks of a session that is not completed are announced', async () => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    await submitAgain('1 = 1')
    await queueChecksOf()
    const hit = await announced(() => openHit(store, organizationId, idOf(0)))
    const made = await announced(() =>
      store.sessionChecks.markMade({ organizationId, sessionId: idOf(0), sequence: 1 }),
    )
    expect([hit, made]).toEqual([1, 1])
  })

  test('a session is shared while it has no unsettled hit and no pending check, and each change is announced', async () => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    await store.database.execute('UPDATE sessions SET consented_at_seconds = 1')
    const other = (await seedOrganization(store, 'other')).organizationId
    const target = { organizationId, sessionId: idOf(0) }
    const theirs = { ...query(), organizationId: other }
    const isShared = async (): Promise<boolean> => {
      const sessions = await store.walletStandings.loadSessions(theirs, WALLET)
      const wallets = await store.walletStandings.loadPersonWallets(theirs, 'person')
      expect(sessions.length).toBe(wallets.length)
      // The organization's own verification is kept.
      expect(await store.walletStandings.loadPersonWallets(query(), 'person')).toHaveLength(1)
      return sessions.length > 0
    }
    let hitId = ''
    const open = async () => {
      hitId = (await openHit(store, organizationId, target.sessionId)).id
    }
    const decide = (state: 'cleared' | 'confirmed') => () =>
      store.screeningChecks.decideHit({ ...target, hitId }, { state, by: 'ada', reason: 'Looked at.' })
    const markMade = () => store.sessionChecks.markMade({ ...target, sequence: 1 })

    expect(await isShared()).toBe(true)
    for (const [change, announcements, shared] of [
      [open, 1, false],
      // The same hit again.
      [open, 0, false],
      [decide('confirmed'), 1, false],
      [decide('cleared'), 1, true],
    ] as const) {
      expect([await announced(change), await isShared()]).toEqual([announcements, shared])
    }
    await queueChecksOf()
    expect(await isShared()).toBe(false)
    expect([await announced(markMade), await isShared()]).toEqual([1, true])
  })

  test.each([
    ['is the person of a shared session of another organization', false],
    ['is a new person while that session has an open hit', true],
  ])('the person of a wallet %s', async (_name, hasHit) => {
    await addSessions(1, () => [WALLET])
    const { store } = temporary
    await store.database.execute('UPDATE sessions SET consented_at_seconds = 1')
    if (hasHit) await openHit(store, organizationId, idOf(0))
    const other = (await seedOrganization(store, 'other')).organizationId
    const sandbox = { environment: 'test', walletAddress: WALLET, provider: 'sandbox' } as const
    const target = { ...(await createSession(store, other, sandbox)), actor: 'provider:sandbox' }
    await connectWallet(store, target, WALLET, 'base')
    await store.sessions.recordConsent({ ...target, version: '2.en' })
    await store.database.execute("UPDATE session_wallets SET environment = 'live'")
    await markChecksMade(store, other, target.sessionId)
    const state = await store.sessions.changeStatus({ ...target, to: 'completed', override: 'person' })
    expect(state?.session.personId === 'person').toBe(!hasHit)
  })

  test('the newest ten links of a session work', async () => {
    const { store } = temporary
    const hashes = Array.from({ length: 12 }, (_, index) => new Uint8Array(32).fill(index + 1))
    for (const tokenHash of hashes) await createSession(store, organizationId, { walletAddress: WALLET, tokenHash })
    const found = await Promise.all(hashes.map((hash) => store.sessions.findByToken(hash)))
    expect(found.map((state) => state !== null)).toEqual(hashes.map((_, index) => index >= 2))
  })
})
