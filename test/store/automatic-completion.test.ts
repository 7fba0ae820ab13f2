// Limits of automatic completions and rejections that test/store/rejections.test.ts does not cover: incomplete name
// checks, pending checks, and numbers of linked sessions, wallets and rejections.
import { beforeEach, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import { type Registration, SESSIONS_PER_PERSON_MAX, type SessionStatus } from '../../src/domain/session.ts'
import { PersonSessionsError } from '../../src/domain/session-errors.ts'
import { SESSIONS_PER_WALLET_MAX } from '../../src/domain/wallet.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import { connectWallet, createSession, DECIDER, OPERATOR, type SessionTarget, walletAt } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'

const [WALLET, OTHER_WALLET, THIRD_WALLET] = [walletAt(1), walletAt(2), walletAt(3)]
const REJECTIONS = 12

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  let other: string
  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
  })

  const create = (changes: Partial<Registration> = {}) =>
    createSession(temporary.store, organizationId, { environment: 'test', ...changes })
  const connect = (target: SessionTarget, address = WALLET, chain?: string) =>
    connectWallet(temporary.store, target, address, chain)
  const disconnect = async (target: SessionTarget) => {
    const { store } = temporary
    const wallets = (await store.sessions.find(organizationId, target.sessionId))?.wallets ?? []
    for (const { id: walletId } of wallets) await store.sessionWallets.remove({ ...target, walletId, actor: 'person' })
  }
  /** These sessions have no evidence, so every completion is an override. */
  const change = (target: SessionTarget, to: SessionStatus, actor: string) =>
    temporary.store.sessions.changeStatus({ ...target, to, actor, revoke: true, override: 'person' })
  const statusOf = async ({ sessionId }: SessionTarget) =>
    (await temporary.store.sessions.find(organizationId, sessionId))?.session.status

  /** Submits a session and marks its checks as made. */
  const submitted = async (target: SessionTarget) => {
    await change(target, 'submitted', 'person')
    await markChecksMade(temporary.store, target.organizationId, target.sessionId)
    return target
  }
  const submit = async (...wallets: readonly WalletAddress[]) => {
    const target = await create()
    for (const wallet of wallets.length === 0 ? [WALLET] : wallets) await connect(target, wallet)
    return submitted(target)
  }
  const complete = async (owner: string, wallets: readonly WalletAddress[], isShared = false) => {
    const target = await createSession(temporary.store, owner, { environment: 'test' })
    for (const wallet of wallets) await connect(target, wallet)
    if (isShared) await temporary.store.sessions.recordConsent({ ...target, version: '2.en', actor: 'person' })
    await change(await submitted(target), 'completed', OPERATOR)
    return target
  }
  const load = (wallet: WalletAddress) =>
    temporary.store.walletStandings.loadSessions({ organizationId, environment: 'test', level: 1 }, wallet)
  const isVerified = async (wallet: WalletAddress) => judgeStanding(await load(wallet), 1, 'kyc').verifying !== null

  test('a confirmed hit requires an operator’s decision', async () => {
    const target = await submit()
    const { id: hitId } = await openHit(temporary.store, organizationId, target.sessionId)
    const decision = { state: 'confirmed', by: 'ada', reason: 'The same person.' } as const
    await temporary.store.screeningChecks.decideHit({ ...target, hitId }, decision)
    for (const actor of [DECIDER, 'policy:pol_1:1', 'screening']) {
      await expect(change(target, 'completed', actor)).rejects.toThrow('a list or screener hit is confirmed')
    }
    await change(target, 'completed', OPERATOR)
    expect(await statusOf(target)).toBe('completed')
  })

  test.each(['not-done', 'unreadable'] as const)(
    'a name check with the outcome %s requires an operator’s decision about every session of the wallet',
    async (outcome) => {
      const earlier = await submit()
      await replaceChecks(temporary.store, earlier, 'lists', [{ name: 'lists', outcome, version: 'key', detail: {} }])
      const next = await submit()
      for (const target of [earlier, next]) {
        await expect(change(target, 'completed', DECIDER)).rejects.toThrow('could not be compared')
      }
      await change(earlier, 'completed', OPERATOR)
      await change(next, 'completed', DECIDER)
      expect([await statusOf(earlier), await statusOf(next)]).toEqual(['completed', 'completed'])
    },
  )

  test('more linked addresses than a completion can read require an operator’s decision', async () => {
    const earlier = await submit()
    const next = await submit()
    for (let number = 0; number < 1_000; number++) {
      await temporary.store.database.execute(
        "INSERT INTO session_removed_wallets (organization_id, session_id, environment, address) VALUES (?, ?, 'test', ?)",
        [organizationId, earlier.sessionId, `0x${number}`],
      )
    }
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('linked to too many sessions')
    await change(next, 'completed', OPERATOR)
  })

  test('a long chain of wallets and sessions requires an operator’s decision', async () => {
    for (let number = 1; number <= 12; number++) {
      const link = await create()
      for (const address of [walletAt(number), walletAt(number + 1)]) await connect(link, address)
    }
    const near = await submit(walletAt(4))
    await expect(change(near, 'completed', DECIDER)).resolves.toBeDefined()
    const far = await submit(walletAt(1))
    await expect(change(far, 'completed', DECIDER)).rejects.toThrow('linked to too many sessions')
    await change(far, 'completed', OPERATOR)
  })

  test('a disconnected wallet keeps every chain on which it was connected', async () => {
    const target = await create({ walletAddress: WALLET })
    const chains = async () =>
      (await temporary.store.sessionWallets.ofSessionsOverTime(organizationId, [target.sessionId]))
        .get(target.sessionId)
        ?.map(({ chain, isConnected }) => `${chain} ${isConnected}`)
    // Only the registration names the wallet.
    expect(await chains()).toEqual(['ethereum false'])
    for (const chain of ['base', 'polygon']) await connect(target, WALLET, chain)
    await disconnect(target)
    expect(await chains()).toEqual(['base false', 'polygon false'])
    await connect(target, WALLET, 'base')
    expect(await chains()).toEqual(['base true', 'polygon false'])
    await disconnect(target)
    await connect(target, WALLET, 'ethereum')
    expect(await chains()).toEqual(['ethereum true', 'polygon false', 'base false'])
  })

  test('an automatic completion waits for the checks of another session of the wallet', async () => {
    const earlier = await create()
    await connect(earlier)
    await change(earlier, 'submitted', 'person')
    const next = await submit()
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('the checks of the session are still running')
    await markChecksMade(temporary.store, organizationId, earlier.sessionId)
    await change(next, 'completed', DECIDER)
  })

  test('a revoked session and a wallet with a rejection each require one decision by an operator', async () => {
    const revoked = await submit()
    await change(revoked, 'completed', DECIDER)
    await change(revoked, 'retry', 'screening')
    await submitted(revoked)
    for (const automatic of [DECIDER, 'policy:pol_1:1']) {
      await expect(change(revoked, 'completed', automatic)).rejects.toThrow('was revoked and has not been decided')
    }
    await change(revoked, 'completed', OPERATOR)
    await change(await submit(), 'rejected', OPERATOR)
    const next = await submit()
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('was rejected: an operator must')
    await change(next, 'completed', OPERATOR)
    await change(await submit(), 'completed', DECIDER)
  })

  test('other operator events don’t lift a rejection', async () => {
    await change(await submit(), 'rejected', OPERATOR)
    const completed = await submit(OTHER_WALLET)
    await change(completed, 'retry', OPERATOR)
    await change(await submitted(completed), 'completed', DECIDER)
    await temporary.store.database.execute(
      `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
        VALUES (?, ?, 100, 'evidence-erased', 'completed', ?, 0)`,
      [organizationId, completed.sessionId, OPERATOR],
    )
    const link = await create()
    for (const wallet of [WALLET, OTHER_WALLET]) await connect(link, wallet)
    const next = await submit(OTHER_WALLET)
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('was rejected: an operator must')
  })

  test('a session that another organization does not share links no wallets', async () => {
    await complete(other, [OTHER_WALLET], true)
    await complete(other, [OTHER_WALLET, WALLET])
    await complete(organizationId, [OTHER_WALLET], true)
    await complete(organizationId, [WALLET])
    await change(await submit(OTHER_WALLET), 'rejected', OPERATOR)
    expect(await isVerified(WALLET)).toBe(true)
    await change(await submit(), 'completed', DECIDER)
  })

  test('a wallet has a limited number of sessions', async () => {
    for (let number = 1; number < SESSIONS_PER_WALLET_MAX; number++) {
      await temporary.store.database.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
           retry_count, sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, ?, 'test', 'kyc', 'rejected', 1, 'manual', ?, 0, 1, 0, 0)`,
        [organizationId, newSessionId(), WALLET],
      )
    }
    await create({ walletAddress: WALLET })
    await expect(create({ walletAddress: WALLET, checkType: 'kyb' })).rejects.toThrow('the wallet has')
    await expect(connect(await create())).rejects.toThrow('the wallet has')
    await connect(await create(), OTHER_WALLET)
  })

  test('traces find sessions that an operator rejected, not sessions that a decider rejected', async () => {
    const { store } = temporary
    const [byOperator, byDecider, now] = [await submit(), await submit(), await submit()]
    for (const { sessionId } of [byOperator, byDecider]) {
      await store.database.execute(
        "INSERT INTO session_traces (organization_id, session_id, kind, value) VALUES (?, ?, 'person.name', 'ada')",
        [organizationId, sessionId],
      )
    }
    await change(byOperator, 'rejected', OPERATOR)
    await change(byDecider, 'rejected', DECIDER)
    const searched = { organizationId, id: now.sessionId, environment: 'test', personId: null } as const
    const found = await store.sessionTraces.findValues(searched, 'person.name', ['ada'])
    expect(found.map(({ sessionId }) => sessionId)).toEqual([byOperator.sessionId])
  })

  test('a wallet that is disconnected and connected again counts only as connected', async () => {
    const target = await create()
    await connect(target)
    await disconnect(target)
    await connect(target)
    await change(await submitted(target), 'completed', OPERATOR)
    expect((await load(WALLET)).map(({ connected }) => connected)).toEqual([true])
  })

  // An organization can reject many sessions of one person. Each address and person keeps only its last rejections, so
  // that a verification, a registration or a completion reads few rows.

  /** The first session can be completed. The operator's last rejection is older than the decider's. */
  const rejectOften = async (wallet: WalletAddress): Promise<readonly string[]> => {
    const rejected: string[] = []
    for (let count = 0; count < REJECTIONS; count++) {
      const target = await create({ walletAddress: wallet })
      await change(target, 'rejected', count % 2 === 0 ? OPERATOR : DECIDER)
      rejected.push(target.sessionId)
    }
    return rejected
  }

  const rowsOf = async (subject: string): Promise<readonly string[]> =>
    (
      await temporary.store.database.query<{ id: string }>(
        'SELECT session_id AS id FROM session_rejections WHERE subject = ? ORDER BY decided_sequence',
        [subject],
      )
    ).map(({ id }) => id)

  const personOf = async (target: SessionTarget): Promise<string> =>
    (await temporary.store.sessions.find(target.organizationId, target.sessionId))?.session.personId ?? ''

  test('all wallets and the person of a rejected wallet keep the last rejection of each kind', async () => {
    const completed = await complete(organizationId, [WALLET, OTHER_WALLET])
    const rejected = await rejectOften(OTHER_WALLET)
    const last = rejected.slice(-2)
    for (const subject of [WALLET, OTHER_WALLET, await personOf(completed)]) expect(await rowsOf(subject)).toEqual(last)
    const read = await load(WALLET)
    expect(new Set(read.map(({ sessionId }) => sessionId))).toEqual(new Set([completed.sessionId, ...last]))
    expect(await isVerified(WALLET)).toBe(false)
    // Each rejected session still needs an operator.
    for (const id of rejected) expect(await rowsOf(id)).toEqual([id])
    // A later completion by an operator lifts all rejections.
    await complete(organizationId, [WALLET])
    expect(await isVerified(WALLET)).toBe(true)
  })

  test('an open hit of a rejected session with the wallet is read even after later rejections', async () => {
    const target = await create({ walletAddress: WALLET })
    await openHit(temporary.store, target.organizationId, target.sessionId)
    await change(target, 'rejected', OPERATOR)
    const last = (await rejectOften(WALLET)).slice(-2)
    expect(await rowsOf(WALLET)).toEqual(last)
    expect((await load(WALLET)).find(({ sessionId }) => sessionId === target.sessionId)?.isUnsettled).toBe(true)
  })

  test('a shared session links its person and wallets to the last rejections of another organization', async () => {
    const last = (await rejectOften(WALLET)).slice(-2)
    const shared = await complete(other, [WALLET, OTHER_WALLET], true)
    const subjects = [WALLET, OTHER_WALLET, await personOf(shared)]
    for (const subject of subjects) expect(await rowsOf(subject)).toEqual(last)
    // Rejections of another wallet are linked to the person by the next session.
    const later = (await rejectOften(THIRD_WALLET)).slice(-2)
    for (const wallets of [[WALLET, THIRD_WALLET], [OTHER_WALLET]]) {
      await complete(other, wallets, true)
      for (const subject of [...subjects, THIRD_WALLET]) expect(await rowsOf(subject)).toEqual(later)
    }
  })

  test('a person has a limited number of sessions, and a rejection beyond the limit still counts', async () => {
    const completed = await complete(organizationId, [WALLET, OTHER_WALLET])
    const personId = await personOf(completed)
    for (let count = 1; count < SESSIONS_PER_PERSON_MAX; count++) {
      await temporary.store.database.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, person_id, user_id,
           retry_count, sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, ?, 'test', 'kyc', 'submitted', 1, 'manual', ?, 'user', 0, 1, 0, 0)`,
        [organizationId, newSessionId(), personId],
      )
    }
    await expect(complete(organizationId, [OTHER_WALLET])).rejects.toBeInstanceOf(PersonSessionsError)
    await complete(organizationId, [THIRD_WALLET])
    await change(completed, 'retry', OPERATOR)
    const rejected = await create({ walletAddress: OTHER_WALLET })
    await change(rejected, 'rejected', OPERATOR)
    expect(await personOf(rejected)).toBe('')
    expect(await isVerified(WALLET)).toBe(false)
  })
})
