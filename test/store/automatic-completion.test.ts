// Limits of automatic completions that test/store/rejections.test.ts does not reach: incomplete name checks, pending
// checks, and numbers of linked sessions and wallets.
import { beforeEach, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { Registration, SessionStatus } from '../../src/domain/session.ts'
import { SESSIONS_PER_WALLET_MAX } from '../../src/domain/wallet.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import { connectWallet, createSession, DECIDER, OPERATOR, type SessionTarget, walletAt } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'

const [WALLET, OTHER_WALLET] = [walletAt(1), walletAt(2)]

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
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

  test('a confirmed hit leaves the decision to an operator', async () => {
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
    'a name check with the outcome %s leaves the decision about every session of the wallet to an operator',
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

  test('more linked addresses than a completion can read leave the decision to an operator', async () => {
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

  test('a long chain of wallets and sessions leaves the decision to an operator', async () => {
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

  test('a revoked session, and a wallet with a rejection, need an operator once', async () => {
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

  test('other events of an operator lift no rejection', async () => {
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
    const { store } = temporary
    const other = (await store.organizations.create({ slug: 'other', name: 'Other' })).id
    const complete = async (owner: string, isShared: boolean, ...wallets: readonly WalletAddress[]) => {
      const target = await createSession(store, owner, { environment: 'test' })
      for (const wallet of wallets) await connect(target, wallet)
      await submitted(target)
      const share = 'UPDATE sessions SET consented_at_seconds = 1 WHERE id = ?'
      if (isShared) await store.database.execute(share, [target.sessionId])
      await change(target, 'completed', OPERATOR)
    }
    await complete(other, true, OTHER_WALLET)
    await complete(other, false, OTHER_WALLET, WALLET)
    await complete(organizationId, true, OTHER_WALLET)
    await complete(organizationId, false, WALLET)
    await change(await submit(OTHER_WALLET), 'rejected', OPERATOR)
    const query = { organizationId, environment: 'test', level: 1 } as const
    const standing = judgeStanding(await store.walletStandings.loadSessions(query, WALLET), 1, 'kyc')
    expect(standing.verifying).not.toBeNull()
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

  test('a wallet that is disconnected and connected again counts as connected only', async () => {
    const target = await create()
    await connect(target)
    await disconnect(target)
    await connect(target)
    await change(await submitted(target), 'completed', OPERATOR)
    const query = { organizationId, environment: 'test', level: 1 } as const
    const rows = await temporary.store.walletStandings.loadSessions(query, WALLET)
    expect(rows.map(({ connected }) => connected)).toEqual([true])
  })
})
