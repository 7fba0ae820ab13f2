// Decision providers: operators for live sessions, and the sandbox, whose outcomes apply only to test sessions.
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
  const { together, store, providers, clock } = identity
  const portal = { qrCodeOf: () => 'data:', portalUrl: 'https://verify.example.com' }
  const registered = await createRegister({ together, providers, clock, ...portal }).register({
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
  test.each(SESSION_STATUSES)('moves a test session to %s', async (outcome) => {
    const { session, wallets, created } = await register('test', outcome)
    expect(created).toBe(true)
    expect(session).toMatchObject({ status: outcome, provider: 'sandbox', environment: 'test' })
    expect(wallets.map(({ chain, address }) => [chain, address])).toEqual(
      outcome === 'pending' ? [] : [['ethereum', evmWallet(1)]],
    )
  })

  test('moves a reused session on, unless it already has the status', async () => {
    const first = await register('test', 'retry')
    expect(first.session.publicComment).toBe('The sandbox requests another attempt.')
    const second = await register('test', 'completed')
    expect(second).toMatchObject({ created: false, session: { id: first.session.id, status: 'completed' } })
    expect(second.wallets).toHaveLength(1)
    expect((await register('test', 'completed')).session.sequence).toBe(second.session.sequence)
    expect((await register('test', null)).session.status).toBe('completed')
  })

  test('refuses an invalid transition and rolls back the registration', async () => {
    const { session } = await register('test', 'completed')
    await expect(register('test', 'submitted')).rejects.toMatchObject({ code: 'SESSION_CONFLICT' })
    expect(identity.states.at(-1)).toMatchObject({ session: { id: session.id, status: 'completed' } })
    const links = 'SELECT ordinal FROM session_tokens WHERE session_id = ?'
    expect(await identity.store.database.query(links, [session.id])).toEqual([{ ordinal: 1 }])
  })

  test('works without a wallet and for Solana', async () => {
    expect((await register('test', 'completed', null)).wallets).toEqual([])
    expect((await register('test', 'completed', SOLANA_WALLET)).wallets).toMatchObject([{ chain: 'solana' }])
  })

  test('verifies wallets for test keys of every organization, but not for live keys', async () => {
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

  test('does not decide live sessions', async () => {
    const { session } = await register('live', null)
    const sandbox = identity.providers.forNew('test')
    const { changes, store } = identity
    const context = { forcedOutcome: 'completed', changes, sessions: store.sessions } as const
    await expect(sandbox.registered?.(session, context)).rejects.toThrow('live session')
    expect((await register('live', 'completed')).session.status).toBe('pending')
  })

  test('accepts only session statuses', () => {
    expect(parseSandboxOutcome(null)).toBeNull()
    for (const status of SESSION_STATUSES) expect(parseSandboxOutcome(status)).toBe(status)
    for (const text of ['', 'Completed', 'done', 'completed, completed']) {
      expect(() => parseSandboxOutcome(text)).toThrow('must be one of')
    }
  })
})

test('operators receive submitted sessions, whose wallets are not verified', async () => {
  const { session } = await register('live', null)
  expect(session).toMatchObject({ status: 'pending', provider: 'manual' })
  await identity.connect(ours, session.id, evmWallet(1))
  await identity.providers.of(session).submitted(session)
  const state = await identity.store.sessions.find(ours, session.id)
  expect(state?.session.status).toBe('submitted')
  const caller = { organizationId: ours, environment: 'live' } as const
  const standing = await identity.standings.find(caller, evmWallet(1), null, null)
  expect(standing).toMatchObject({ verifying: null, status: 'submitted' })
})

test('a new session gets the provider of its environment; a session of an unknown provider goes to operators', async () => {
  const named = (name: string): DecisionProvider => ({ name, submitted: async () => undefined })
  const providers = createProviders({ manual: named('manual'), sandbox: named('sandbox'), live: named('vendor') })
  expect([providers.forNew('live').name, providers.forNew('test').name]).toEqual(['vendor', 'sandbox'])
  const { session } = await identity.register(ours)
  expect(providers.of({ ...session, provider: 'vendor' }).name).toBe('vendor')
  expect(providers.of({ ...session, provider: 'gone' }).name).toBe('manual')
})
