// Nothing automatic completes a session against an operator's decision, and a wallet that was disconnected still took part.
import { beforeEach, expect, test } from 'bun:test'
import { parseEvmAddress, type WalletAddress } from '../../src/domain/address.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { CheckType, SessionStatus } from '../../src/domain/session.ts'
import { SESSIONS_PER_WALLET_MAX } from '../../src/domain/wallet.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

const WALLET = parseEvmAddress(`0x${'1'.padStart(40, '0')}`) as WalletAddress
const OTHER_WALLET = parseEvmAddress(`0x${'2'.padStart(40, '0')}`) as WalletAddress
const DECIDER = 'provider:webhook'
const OPERATOR = 'operator:ada'

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })

  let made = 0
  const register = async (
    locked: WalletAddress | null = null,
    owner = organizationId,
    checkType: CheckType = 'kyc',
  ) => {
    made += 1
    const { session } = await temporary.store.sessions.register({
      organizationId: owner,
      environment: 'test',
      checkType,
      sessionId: newSessionId(),
      provider: 'manual',
      tokenHash: new Uint8Array(32).fill(made),
      walletAddress: locked,
      originUrl: null,
      actor: 'key:test',
    })
    return { organizationId: owner, sessionId: session.id }
  }
  type Target = Awaited<ReturnType<typeof register>>

  const connect = (target: Target, address = WALLET, chain = 'ethereum') =>
    temporary.store.sessionWallets.connect({
      ...target,
      address,
      chain,
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
      actor: 'person',
    })

  const disconnect = async (target: Target) => {
    const { store } = temporary
    const wallets = (await store.sessions.find(target.organizationId, target.sessionId))?.wallets ?? []
    for (const { id: walletId } of wallets) await store.sessionWallets.remove({ ...target, walletId, actor: 'person' })
  }

  const change = (target: Target, to: SessionStatus, actor: string) =>
    // These sessions have no evidence.
    temporary.store.sessions.changeStatus({ ...target, to, actor, revoke: true, override: 'person' })

  /** Submitted with its checks made. */
  const submitted = async (target: Target) => {
    await change(target, 'submitted', 'person')
    await markChecksMade(temporary.store, target.organizationId, target.sessionId)
    return target
  }
  const submit = async (address = WALLET) => {
    const target = await register()
    await connect(target, address)
    return submitted(target)
  }

  const statusOf = async ({ organizationId: owner, sessionId }: Target) =>
    (await temporary.store.sessions.find(owner, sessionId))?.session.status

  const standingOf = async (owner = organizationId) =>
    judgeStanding(
      await temporary.store.walletStandings.loadSessions(
        { organizationId: owner, environment: 'test', level: 1 },
        WALLET,
      ),
      1,
      'kyc',
    )
  const isVerified = async (owner?: string) => (await standingOf(owner)).verifying !== null

  test('a confirmed hit leaves the decision to an operator', async () => {
    const target = await submit()
    const { id: hitId } = await openHit(temporary.store, organizationId, target.sessionId)
    await temporary.store.screeningChecks.decideHit(
      { ...target, hitId },
      { state: 'confirmed', by: 'ada', reason: 'The same person.' },
    )
    for (const actor of [DECIDER, 'policy:pol_1:1', 'screening']) {
      await expect(change(target, 'completed', actor)).rejects.toThrow('a list or screener hit is confirmed')
    }
    await change(target, 'completed', OPERATOR)
    expect(await statusOf(target)).toBe('completed')
  })

  test.each(['not-done', 'unreadable'] as const)(
    'a name check that is %s leaves the decision to an operator',
    async (outcome) => {
      const target = await submit()
      await replaceChecks(temporary.store, target, 'lists', [{ name: 'lists', outcome, version: 'key', detail: {} }])
      await expect(change(target, 'completed', DECIDER)).rejects.toThrow('could not be compared')
      await change(target, 'completed', OPERATOR)
      expect(await statusOf(target)).toBe('completed')
    },
  )

  test.each(['not-done', 'unreadable'] as const)(
    'a name check of another session of the wallet that is %s leaves the decision to an operator',
    async (outcome) => {
      const earlier = await submit()
      await replaceChecks(temporary.store, earlier, 'lists', [{ name: 'lists', outcome, version: 'key', detail: {} }])
      const next = await submit()
      await expect(change(next, 'completed', DECIDER)).rejects.toThrow('could not be compared')
      await change(earlier, 'completed', OPERATOR)
      await change(next, 'completed', DECIDER)
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
    const wallet = (number: number) => parseEvmAddress(`0x${number.toString(16).padStart(40, '0')}`) as WalletAddress
    for (let number = 1; number <= 12; number++) {
      const link = await register()
      await connect(link, wallet(number))
      await connect(link, wallet(number + 1))
    }
    const near = await submit(wallet(4))
    await expect(change(near, 'completed', DECIDER)).resolves.toBeDefined()
    const far = await submit(wallet(1))
    await expect(change(far, 'completed', DECIDER)).rejects.toThrow('linked to too many sessions')
    await change(far, 'completed', OPERATOR)
  })

  test('a disconnected wallet keeps every chain on which it was connected', async () => {
    const { store } = temporary
    const target = await register(WALLET)
    const walletsOf = async () =>
      (await store.sessionWallets.ofSessionsOverTime(organizationId, [target.sessionId]))
        .get(target.sessionId)
        ?.map(({ chain, isConnected }) => `${chain} ${isConnected}`)
    // Named by the registration only.
    expect(await walletsOf()).toEqual(['ethereum false'])
    await connect(target, WALLET, 'base')
    await connect(target, WALLET, 'polygon')
    await disconnect(target)
    expect(await walletsOf()).toEqual(['base false', 'polygon false'])
    await connect(target, WALLET, 'base')
    expect(await walletsOf()).toEqual(['base true', 'polygon false'])
    await disconnect(target)
    await connect(target, WALLET, 'ethereum')
    expect(await walletsOf()).toEqual(['ethereum true', 'polygon false', 'base false'])
  })

  test('an automatic completion waits for the checks of another session of the wallet', async () => {
    const earlier = await register()
    await connect(earlier)
    await change(earlier, 'submitted', 'person')
    const next = await submit()
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('the checks of the session are still running')
    await markChecksMade(temporary.store, organizationId, earlier.sessionId)
    await change(next, 'completed', DECIDER)
  })

  test.each([
    ['has the wallet', async () => submit()],
    [
      'had the wallet',
      async () => {
        const target = await submit()
        await change(target, 'retry', OPERATOR)
        await disconnect(target)
        return submitted(target)
      },
    ],
    ['is locked to the wallet', async () => submitted(await register(WALLET))],
  ])('an operator’s rejection of a session that %s holds until an operator completes one', async (_name, earlier) => {
    await change(await earlier(), 'rejected', OPERATOR)
    const next = await submit()
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('was rejected: an operator must')
    const another = await submit(OTHER_WALLET)
    await change(another, 'completed', DECIDER)
    await change(next, 'completed', OPERATOR)
    await change(await submit(), 'completed', DECIDER)
    expect(await isVerified()).toBe(true)
  })

  test.each([OPERATOR, 'screening'])(
    'a session that was revoked by %s needs an operator, and one that was sent back before does not',
    async (actor) => {
      const target = await submit()
      await change(target, 'retry', OPERATOR)
      await change(await submitted(target), 'completed', DECIDER)
      await change(target, 'retry', actor)
      await submitted(target)
      for (const automatic of [DECIDER, 'policy:pol_1:1']) {
        await expect(change(target, 'completed', automatic)).rejects.toThrow('was revoked and has not been decided')
      }
      await change(target, 'completed', OPERATOR)
      await change(await submit(), 'completed', DECIDER)
    },
  )

  test('an operator’s other events of a session that a decider completed settle no rejection', async () => {
    await change(await submit(), 'rejected', OPERATOR)
    const completed = await submit(OTHER_WALLET)
    await change(completed, 'retry', OPERATOR)
    await change(await submitted(completed), 'completed', DECIDER)
    await temporary.store.database.execute(
      `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
        VALUES (?, ?, 100, 'evidence-erased', 'completed', ?, 0)`,
      [organizationId, completed.sessionId, OPERATOR],
    )
    const link = await register()
    await connect(link)
    await connect(link, OTHER_WALLET)
    const next = await submit(OTHER_WALLET)
    await expect(change(next, 'completed', DECIDER)).rejects.toThrow('was rejected: an operator must')
  })

  test('a wallet has a limited number of sessions, so that each read of them is short', async () => {
    const row = `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
      retry_count, sequence, created_at_seconds, updated_at_seconds)
      VALUES (?, ?, 'test', 'kyc', 'rejected', 1, 'manual', ?, 0, 1, 0, 0)`
    const add = async (count: number) => {
      for (let number = 0; number < count; number++) {
        await temporary.store.database.execute(row, [organizationId, newSessionId(), WALLET])
      }
    }
    await add(SESSIONS_PER_WALLET_MAX - 1)
    await register(WALLET)
    await expect(register(WALLET, organizationId, 'kyb')).rejects.toThrow('the wallet has')
    await expect(connect(await register())).rejects.toThrow('the wallet has')
    await connect(await register(), OTHER_WALLET)
  })

  test('traces find the same person if an operator rejected the session', async () => {
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
    expect(found.map(({ sessionId: id }) => id)).toEqual([byOperator.sessionId])
  })

  const share = ({ sessionId }: Target) =>
    temporary.store.database.execute('UPDATE sessions SET consented_at_seconds = 1 WHERE id = ?', [sessionId])
  const completeAndShare = async (target: Target) => {
    await change(target, 'completed', OPERATOR)
    await share(target)
  }

  /** Submitted with its checks made. */
  const submitWith = async (
    wallets: readonly WalletAddress[],
    checkType: CheckType = 'kyc',
    owner = organizationId,
  ) => {
    const target = await register(null, owner, checkType)
    for (const wallet of wallets) await connect(target, wallet)
    return submitted(target)
  }

  test('a session that another organization does not share links no wallets', async () => {
    const other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
    await completeAndShare(await submitWith([OTHER_WALLET], 'kyc', other))
    await change(await submitWith([OTHER_WALLET, WALLET], 'kyc', other), 'completed', OPERATOR)
    const shared = await submitWith([OTHER_WALLET])
    await share(shared)
    await change(shared, 'completed', OPERATOR)
    await change(await submit(), 'completed', OPERATOR)
    await change(await submitWith([OTHER_WALLET]), 'rejected', OPERATOR)
    expect(await isVerified()).toBe(true)
    await change(await submit(), 'completed', DECIDER)
  })

  test('a wallet that is connected again counts as connected alone', async () => {
    const target = await register()
    await connect(target)
    await disconnect(target)
    await connect(target)
    await submitted(target)
    await change(target, 'completed', OPERATOR)
    const rows = await temporary.store.walletStandings.loadSessions(
      { organizationId, environment: 'test', level: 1 },
      WALLET,
    )
    expect(rows.map(({ connected }) => connected)).toEqual([true])
  })

  test.each(['disconnected while its hit is open', 'revoked to retry'] as const)(
    'the result of another organization does not count for a wallet that was %s',
    async (reason) => {
      const { store } = temporary
      const other = (await store.organizations.create({ slug: 'other', name: 'Other' })).id
      const theirs = await register(null, other)
      await connect(theirs)
      await completeAndShare(await submitted(theirs))
      expect(await isVerified()).toBe(true)
      const own = await submit()
      if (reason === 'revoked to retry') await change(own, 'completed', OPERATOR)
      else await openHit(store, organizationId, own.sessionId)
      await change(own, 'retry', OPERATOR)
      if (reason !== 'revoked to retry') await disconnect(own)
      expect(await isVerified()).toBe(false)
      await change(own, 'rejected', OPERATOR)
      expect(await isVerified()).toBe(false)
    },
  )
})
