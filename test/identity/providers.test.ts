// Who decides: operators by default; for test keys the caller, whose word counts for test sessions alone.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import { SESSION_STATUSES, type SessionStatus } from '../../src/domain/session.ts'
import { createProviders, type DecisionProvider } from '../../src/identity/sessions/providers.ts'
import { createRegister } from '../../src/identity/sessions/register.ts'
import { parseSandboxOutcome } from '../../src/identity/sessions/sandbox.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from './support.ts'

let identity: TestIdentity
let ours: string

beforeEach(async () => {
  identity = await openIdentity()
  ours = await identity.createOrganization('ours')
})
afterEach(() => identity.remove())

const register = async (
  environment: 'live' | 'test',
  forcedOutcome: SessionStatus | null,
  walletAddress: ReturnType<typeof evmWallet> | null = evmWallet(1),
) => {
  const { together, store, providers } = identity
  const registered = await createRegister({
    together,
    providers,
    clock: identity.clock,
    qrCodeOf: () => 'data:',
    portalUrl: 'https://verify.example.com',
  }).register({
    organizationId: ours,
    environment,
    keyId: null,
    actor: 'key:keykeykeykey',
    checkType: 'kyc',
    request: { walletAddress, originUrl: null },
    sessionId: newSessionId(),
    forcedOutcome,
  })
  const state = await store.sessions.find(ours, registered.sessionId)
  if (state === null) throw new Error('gone')
  return { ...registered, ...state }
}

describe('the sandbox', () => {
  for (const outcome of SESSION_STATUSES) {
    test(`brings a test session to ${outcome}`, async () => {
      const { session, wallets, created } = await register('test', outcome)
      expect(created).toBe(true)
      expect(session).toMatchObject({ status: outcome, provider: 'sandbox', environment: 'test' })
      expect(wallets.map(({ chain, address }) => [chain, address])).toEqual(
        outcome === 'pending' ? [] : [['ethereum', evmWallet(1)]],
      )
    })
  }

  test('moves a reused session on, and leaves one that is there already', async () => {
    const first = await register('test', 'retry')
    expect(first.session.publicComment).toBe('The sandbox requests another attempt.')
    const second = await register('test', 'completed')
    expect(second).toMatchObject({ created: false, session: { id: first.session.id, status: 'completed' } })
    expect(second.wallets).toHaveLength(1)
    expect((await register('test', 'completed')).session.sequence).toBe(second.session.sequence)
    expect((await register('test', null)).session.status).toBe('completed')
  })

  test('refuses what the table of transitions does not have', async () => {
    const { session } = await register('test', 'completed')
    await expect(register('test', 'submitted')).rejects.toMatchObject({ code: 'SESSION_CONFLICT' })
    // Nothing of such a registration is kept, not even its link.
    expect(identity.states.at(-1)).toMatchObject({ session: { id: session.id, status: 'completed' } })
    const links = 'SELECT ordinal FROM session_tokens WHERE session_id = ?'
    expect(await identity.store.database.query(links, [session.id])).toEqual([{ ordinal: 1 }])
  })

  test('works without a wallet and for Solana', async () => {
    expect((await register('test', 'completed', null)).wallets).toEqual([])
    expect((await register('test', 'completed', SOLANA_WALLET)).wallets).toMatchObject([{ chain: 'solana' }])
  })

  test('makes wallets verified for other organizations’ test keys, and for no live key', async () => {
    await register('test', 'completed')
    const theirs = await identity.createOrganization('theirs')
    for (const [organizationId, environment, verified] of [
      [ours, 'test', true],
      [theirs, 'test', true],
      [ours, 'live', false],
      [theirs, 'live', false],
    ] as const) {
      const standing = await identity.standings.find({ organizationId, environment }, evmWallet(1), null, null)
      expect(standing.verifying !== null).toBe(verified)
    }
  })

  test('has no say about a live session, even if it were asked', async () => {
    const { session } = await register('live', null)
    const sandbox = identity.providers.forNew('test')
    const context = {
      forcedOutcome: 'completed',
      changes: identity.changes,
      sessions: identity.store.sessions,
    } as const
    await expect(sandbox.registered?.(session, context)).rejects.toThrow('live session')
    expect((await register('live', 'completed')).session.status).toBe('pending')
  })

  test('reads a status or refuses', () => {
    expect(parseSandboxOutcome(null)).toBeNull()
    for (const status of SESSION_STATUSES) expect(parseSandboxOutcome(status)).toBe(status)
    for (const text of ['', 'Completed', 'done', 'completed, completed']) {
      expect(() => parseSandboxOutcome(text)).toThrow('must be one of')
    }
  })
})

describe('operators', () => {
  test('find what a person handed in as submitted; the wallet is not verified yet', async () => {
    const { session } = await register('live', null)
    expect(session).toMatchObject({ status: 'pending', provider: 'manual' })
    await identity.connect(ours, session.id, evmWallet(1))
    await identity.providers.of(session).submitted(session)
    const state = await identity.store.sessions.find(ours, session.id)
    expect(state?.session.status).toBe('submitted')
    const standing = await identity.standings.find(
      { organizationId: ours, environment: 'live' },
      evmWallet(1),
      null,
      null,
    )
    expect(standing).toMatchObject({ verifying: null, status: 'submitted' })
  })
})

describe('providers', () => {
  const named = (name: string): DecisionProvider => ({
    name,
    submitted: async () => undefined,
  })

  test('are chosen by the key’s kind, and found again by the session’s', async () => {
    const providers = createProviders({ manual: named('manual'), sandbox: named('sandbox'), live: named('vendor') })
    expect(providers.forNew('live').name).toBe('vendor')
    expect(providers.forNew('test').name).toBe('sandbox')
    const { session } = await identity.register(ours)
    expect(providers.of({ ...session, provider: 'vendor' }).name).toBe('vendor')
    expect(providers.of({ ...session, provider: 'gone' }).name).toBe('manual')
  })
})
