// The reuse rule of registrations, and the links of sessions.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { SessionStatus } from '../../src/domain/session.ts'
import { createPortalLink } from '../../src/identity/sessions/portal-link.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { TOKENS_PER_SESSION_MAX } from '../../src/store/sessions/session-tokens.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, openIdentity, type RegisterOptions, SOLANA_WALLET, type TestIdentity } from './support.ts'

const WALLET = evmWallet(1)

let identity: TestIdentity
let ours: string
let theirs: string

beforeEach(async () => {
  identity = await openIdentity()
  ours = await identity.createOrganization('ours')
  theirs = await identity.createOrganization('theirs')
})
afterEach(() => identity.remove())

/** Changes the status; a completed session has its wallet. */
const move = async (sessionId: string, to: SessionStatus) => {
  if (to === 'completed') await identity.connect(ours, sessionId, WALLET)
  return identity.move(ours, sessionId, to)
}
const registerWallet = (options: Omit<RegisterOptions, 'wallet'> = {}, organizationId = ours) =>
  identity.register(organizationId, { wallet: WALLET, ...options })
/** Registers the wallet, and expects a new session. @returns its id */
const expectNew = async (): Promise<string> => {
  const { created, session } = await registerWallet()
  expect(created).toBe(true)
  return session.id
}
const expectReused = async (id: string, state = {}): Promise<void> =>
  void expect(await registerWallet()).toMatchObject({ created: false, session: { id, ...state } })
/** Registers a session without a wallet, and connects the wallet. @returns its id */
const registerAndConnect = async (): Promise<string> => {
  const { session } = await identity.register(ours)
  await identity.connect(ours, session.id, WALLET)
  return session.id
}
const setLevel = (level: 1 | 2 | 3) => identity.store.organizations.setLevel(ours, level)
const link = () => createPortalLink('http://127.0.0.1:1')

describe('the registration of a wallet', () => {
  test.each(['pending', 'retry', 'completed'] as const)('reuses a session that is %s', async (status) => {
    const id = await expectNew()
    if (status !== 'pending') await move(id, status)
    await expectReused(id, { status })
  })

  test.each(['submitted', 'rejected'] as const)('creates a session if the last one is %s', async (status) => {
    const id = await expectNew()
    await move(id, status)
    expect(await expectNew()).not.toBe(id)
  })

  test('does not reuse a completed session without a wallet, because none can be added', async () => {
    await identity.move(ours, await expectNew(), 'completed')
    const second = await expectNew()
    await move(second, 'completed')
    await expectReused(second)
  })

  test('does not reuse a completed session below the level until the level is lowered again', async () => {
    const first = await expectNew()
    await move(first, 'completed')
    await setLevel(2)
    expect(await registerWallet()).toMatchObject({ created: true, session: { level: 2 } })
    await setLevel(1)
    await expectReused(first)
  })

  test('reuses a completed session above the level, which keeps its own level', async () => {
    await setLevel(2)
    const id = await expectNew()
    await move(id, 'completed')
    await setLevel(1)
    await expectReused(id, { level: 2 })
  })

  test('does not reuse a completed session between two rejected sessions', async () => {
    await move(await expectNew(), 'rejected')
    const completed = await expectNew()
    await move(completed, 'completed')
    await expectReused(completed)
    await setLevel(2)
    await move(await expectNew(), 'rejected')
    await setLevel(1)
    const last = await expectNew()
    await expectReused(last, { status: 'pending' })
    await move(last, 'completed')
    await expectReused(last, { status: 'completed' })
  })

  test('reuses a session that was completed after a newer session was rejected', async () => {
    const sessions: string[] = []
    for (let count = 0; count < 3; count++) sessions.push(await registerAndConnect())
    const [first = '', second = '', third = ''] = sessions
    await move(second, 'completed')
    await move(third, 'rejected')
    await move(first, 'completed')
    await expectReused(first)
  })

  test('raises a reused open session to the level of the organization', async () => {
    const id = await expectNew()
    await setLevel(3)
    await expectReused(id, { level: 3, sequence: 2 })
    const events = await identity.store.sessions.listEvents(ours, id)
    expect(events.map(({ kind }) => kind)).toEqual(['created', 'level-changed'])
  })

  test.each([{ checkType: 'kyb' }, { environment: 'test' }] as const)(
    'creates a session for another type or environment (%j)',
    async (other) => {
      const first = await expectNew()
      const second = await registerWallet(other)
      expect(second.created).toBe(true)
      expect(second.session.id).not.toBe(first)
      expect((await registerWallet(other)).session.id).toBe(second.session.id)
    },
  )

  test('compares wallets by their canonical address', async () => {
    await expectNew()
    expect((await identity.register(ours, { wallet: evmWallet(2) })).created).toBe(true)
    expect((await identity.register(ours, { wallet: SOLANA_WALLET })).created).toBe(true)
    expect((await identity.register(ours, { wallet: SOLANA_WALLET })).created).toBe(false)
  })

  test('replaces the originUrl of a reused session only if the request has one', async () => {
    const register = async (originUrl: string | null) => (await registerWallet({ originUrl })).session
    expect((await register('https://one.example/')).originUrl).toBe('https://one.example/')
    expect((await register('https://two.example/')).originUrl).toBe('https://two.example/')
    expect((await register(null)).originUrl).toBe('https://two.example/')
    const { id, sequence } = await register('https://two.example/')
    const events = await identity.store.sessions.listEvents(ours, id)
    // Registrations are unlimited, so they add no events.
    expect(events.map(({ kind }) => kind)).toEqual(['created'])
    expect(sequence).toBe(1)
  })
})

describe('simultaneous registrations', () => {
  test('of one wallet share one session, which is created once', async () => {
    const registered = await Promise.all(Array.from({ length: 50 }, () => registerWallet()))
    expect(registered.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(registered.map(({ session }) => session.id)).size).toBe(1)
  })
  test('without a wallet each create a session', async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => identity.register(ours)))
    expect(sessions.every(({ created }) => created)).toBe(true)
    expect(new Set(sessions.map(({ session }) => session.id)).size).toBe(10)
  })

  test('do not take over the id of a session of another environment or type', async () => {
    const sessionId = newSessionId()
    expect((await identity.register(ours, { sessionId })).created).toBe(true)
    for (const other of [{ environment: 'test' }, { checkType: 'kyb' }] as const) {
      const taken = identity.register(ours, { sessionId, ...other })
      await expect(taken).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    }
    expect(await identity.register(ours, { sessionId })).toMatchObject({ created: true, session: { id: sessionId } })
  })

  test('notify other processes of a session with a wallet, but not of a session without a wallet', async () => {
    const { database } = identity.store
    const before = await readNewest(database)
    const id = await expectNew()
    await identity.register(ours)
    const changes = (await changesSince(database, before)).filter(({ topic }) => topic === 'session')
    expect(changes.map(({ subjectId }) => decodeSessionSubject(subjectId))).toMatchObject([
      { sessionId: id, addresses: [WALLET] },
    ])
  })

  test('cannot create a second pending session of one wallet: the schema refuses it', async () => {
    await expectNew()
    await expect(
      identity.store.database.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
           retry_count, sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, 'other', 'live', 'kyc', 'pending', 1, 'manual', ?, 0, 1, 0, 0)`,
        [ours, WALLET],
      ),
    ).rejects.toMatchObject({ constraint: 'unique' })
  })

  test('with the same id create one session, and each returns it as created', async () => {
    for (const wallet of [null, WALLET]) {
      const sessionId = newSessionId()
      const [first, second] = await Promise.all([1, 2].map(() => identity.register(ours, { sessionId, wallet })))
      expect(first).toMatchObject({ created: true, session: { id: sessionId } })
      expect(second).toMatchObject({ created: true, session: { id: sessionId } })
    }
  })
})

describe('links', () => {
  test('of each registration are valid, and open only their session', async () => {
    const [one, two, other] = [link(), link(), link()]
    const { session } = await registerWallet({ tokenHash: one.tokenHash })
    await registerWallet({ tokenHash: two.tokenHash })
    await registerWallet({ tokenHash: other.tokenHash }, theirs)
    const { sessions } = identity.store
    expect((await sessions.findByToken(one.tokenHash))?.session.id).toBe(session.id)
    expect((await sessions.findByToken(two.tokenHash))?.session.id).toBe(session.id)
    expect((await sessions.findByToken(other.tokenHash))?.session.organizationId).toBe(theirs)
    expect(await sessions.findByToken(link().tokenHash)).toBeNull()
  })

  test('of one session are limited to the newest', async () => {
    const links = Array.from({ length: TOKENS_PER_SESSION_MAX + 3 }, link)
    for (const { tokenHash } of links) await registerWallet({ tokenHash })
    const found = await Promise.all(links.map(({ tokenHash }) => identity.store.sessions.findByToken(tokenHash)))
    expect(found.map((state) => state !== null)).toEqual(links.map((_, index) => index >= 3))
  })

  test('can be added only to sessions of the organization', async () => {
    const { session } = await identity.register(ours)
    const added = link()
    const token = { hash: added.tokenHash, requiresProof: false }
    expect(await identity.store.sessions.addLink(theirs, session.id, token)).toBe(false)
    expect(await identity.store.sessions.addLink(ours, session.id, token)).toBe(true)
    expect((await identity.store.sessions.findByToken(added.tokenHash))?.session.id).toBe(session.id)
  })

  test('are not stored, and the session id cannot be used as a link', async () => {
    const made = link()
    const { session } = await identity.register(ours, { tokenHash: made.tokenHash })
    await identity.store.database.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined)
    const bytes = Buffer.concat([identity.path, `${identity.path}-wal`].map((path) => readFileSync(path)))
    expect(bytes.includes(session.id)).toBe(true)
    expect(bytes.includes(made.token)).toBe(false)
    const byId = new Uint8Array(32)
    Bun.SHA256.hash(session.id, byId)
    expect(await identity.store.sessions.findByToken(byId)).toBeNull()
  })
})

test('a new level beyond the limit of changes adds no event', async () => {
  const { session } = await registerWallet()
  const { database, organizations, sessions } = identity.store
  await database.execute('UPDATE sessions SET sequence = 2000 WHERE id = ?', [session.id])
  await organizations.setLevel(ours, 3)
  expect((await registerWallet()).session).toMatchObject({ level: 3, sequence: 2_000 })
  expect(await sessions.listEvents(ours, session.id)).toHaveLength(1)
})
