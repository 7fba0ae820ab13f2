// The reuse rule, case by case, and the links of a session.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { SessionStatus } from '../../src/domain/session.ts'
import { createPortalLink } from '../../src/identity/sessions/portal-link.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { TOKENS_PER_SESSION_MAX } from '../../src/store/sessions/session-tokens.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from './support.ts'

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

/** Completed, a session has its wallet. */
const move = async (sessionId: string, to: SessionStatus) => {
  if (to === 'completed') await identity.connect(ours, sessionId, WALLET)
  return identity.move(ours, sessionId, to)
}
const registerWallet = () => identity.register(ours, { wallet: WALLET })
const link = () => createPortalLink('http://127.0.0.1:1')

describe('a wallet of which the caller has a session', () => {
  for (const status of ['pending', 'retry', 'completed'] as const) {
    test(`that is ${status}: it is reused`, async () => {
      const first = await registerWallet()
      if (status !== 'pending') await move(first.session.id, status)
      const second = await registerWallet()
      expect(first.created).toBe(true)
      expect(second).toMatchObject({ created: false, session: { id: first.session.id, status } })
    })
  }

  for (const status of ['submitted', 'rejected'] as const) {
    test(`that is ${status}: a new one is made`, async () => {
      const first = await registerWallet()
      await move(first.session.id, status)
      const second = await registerWallet()
      expect(second.created).toBe(true)
      expect(second.session.id).not.toBe(first.session.id)
    })
  }

  test('that is completed without a wallet: a new one is made, since nothing can be added to it', async () => {
    const first = await registerWallet()
    await identity.move(ours, first.session.id, 'completed')
    const second = await registerWallet()
    expect(second.created).toBe(true)
    await move(second.session.id, 'completed')
    expect((await registerWallet()).session.id).toBe(second.session.id)
  })

  test('that is completed below the organization’s level: a new one is made, at the level', async () => {
    const first = await registerWallet()
    await move(first.session.id, 'completed')
    await identity.store.organizations.setLevel(ours, 2)
    const second = await registerWallet()
    expect(second).toMatchObject({ created: true, session: { level: 2 } })
    // Lowered again, the first one counts again, and is preferred to the open one.
    await identity.store.organizations.setLevel(ours, 1)
    expect((await registerWallet()).session.id).toBe(first.session.id)
  })

  test('that is completed above the organization’s level of today: it keeps the level at which it was decided', async () => {
    await identity.store.organizations.setLevel(ours, 2)
    const first = await registerWallet()
    await move(first.session.id, 'completed')
    await identity.store.organizations.setLevel(ours, 1)
    const again = await registerWallet()
    expect(again).toMatchObject({ created: false, session: { id: first.session.id, level: 2 } })
  })

  test('that is completed between two that were rejected: a new one is made', async () => {
    const rejected = await registerWallet()
    await move(rejected.session.id, 'rejected')
    const completed = await registerWallet()
    await move(completed.session.id, 'completed')
    expect((await registerWallet()).session.id).toBe(completed.session.id)
    await identity.store.organizations.setLevel(ours, 2)
    const later = await registerWallet()
    await move(later.session.id, 'rejected')
    await identity.store.organizations.setLevel(ours, 1)
    expect((await registerWallet()).created).toBe(true)
  })

  test('that is completed, and another that was rejected since: a new one is made, and reused then', async () => {
    const first = await registerWallet()
    await move(first.session.id, 'completed')
    await identity.store.organizations.setLevel(ours, 2)
    const second = await registerWallet()
    await move(second.session.id, 'rejected')
    await identity.store.organizations.setLevel(ours, 1)
    const third = await registerWallet()
    expect(third.created).toBe(true)
    expect(await registerWallet()).toMatchObject({
      created: false,
      session: { id: third.session.id, status: 'pending' },
    })
    // Completed, it is the newest word again.
    await move(third.session.id, 'completed')
    expect(await registerWallet()).toMatchObject({
      created: false,
      session: { id: third.session.id, status: 'completed' },
    })
  })

  test('that is completed, and another of its person that was rejected since: a new one is made', async () => {
    await identity.complete(ours, [WALLET, evmWallet(8)])
    const { session } = await identity.complete(ours, [evmWallet(8)])
    await identity.move(ours, session.id, 'rejected', { revoke: true })
    expect((await registerWallet()).created).toBe(true)
  })

  test('that is completed, and an older one that was rejected since: a new one is made', async () => {
    const { session: older } = await identity.register(ours)
    await identity.connect(ours, older.id, WALLET)
    const { session: newer } = await registerWallet()
    await move(newer.id, 'completed')
    expect((await registerWallet()).session.id).toBe(newer.id)
    await move(older.id, 'rejected')
    expect((await registerWallet()).created).toBe(true)
  })

  test('that is completed, after a newer one was rejected: it is reused, and preferred to one completed before', async () => {
    const first = await identity.register(ours)
    const second = await identity.register(ours)
    const third = await identity.register(ours)
    for (const { session } of [first, second, third]) await identity.connect(ours, session.id, WALLET)
    await move(second.session.id, 'completed')
    await move(third.session.id, 'rejected')
    await move(first.session.id, 'completed')
    expect((await registerWallet()).session.id).toBe(first.session.id)
  })

  test('that is completed, and one for any wallet that it was in and that was rejected since: a new one is made', async () => {
    const first = await registerWallet()
    await move(first.session.id, 'completed')
    const { session } = await identity.register(ours)
    await identity.connect(ours, session.id, WALLET)
    await move(session.id, 'rejected')
    expect((await registerWallet()).created).toBe(true)
    // A rejection of the other type ends the verification, too.
    const person = await identity.register(ours, { wallet: evmWallet(3) })
    await identity.connect(ours, person.session.id, evmWallet(3))
    await identity.move(ours, person.session.id, 'completed')
    for (const wallet of [evmWallet(3), null]) {
      expect((await identity.register(ours, { wallet: evmWallet(3) })).created).toBe(false)
      const business = await identity.register(ours, { wallet, checkType: 'kyb' })
      if (wallet === null) await identity.connect(ours, business.session.id, evmWallet(3))
      await identity.move(ours, business.session.id, 'rejected')
      const again = await identity.register(ours, { wallet: evmWallet(3) })
      expect(again.created).toBe(true)
      await identity.connect(ours, again.session.id, evmWallet(3))
      await identity.move(ours, again.session.id, 'completed')
    }
    // Rejected elsewhere, it says nothing here.
    const elsewhere = await identity.register(theirs, { wallet: evmWallet(2) })
    const mine = await identity.register(ours, { wallet: evmWallet(2) })
    await identity.connect(ours, mine.session.id, evmWallet(2))
    await identity.move(ours, mine.session.id, 'completed')
    await identity.move(theirs, elsewhere.session.id, 'rejected')
    expect((await identity.register(ours, { wallet: evmWallet(2) })).created).toBe(false)
  })

  test('that is open: it is reused at the organization’s level of today', async () => {
    const first = await registerWallet()
    await identity.store.organizations.setLevel(ours, 3)
    const second = await registerWallet()
    expect(second).toMatchObject({ created: false, session: { id: first.session.id, level: 3, sequence: 2 } })
    const events = await identity.store.sessions.listEvents(ours, first.session.id)
    expect(events.map(({ kind }) => kind)).toEqual(['created', 'level-changed'])
  })

  for (const [what, other] of [
    ['check type', { checkType: 'kyb' }],
    ['environment', { environment: 'test' }],
  ] as const) {
    test(`of the other ${what}: a new one is made, and reused for it`, async () => {
      const first = await registerWallet()
      const second = await identity.register(ours, { wallet: WALLET, ...other })
      expect(second.created).toBe(true)
      expect(second.session.id).not.toBe(first.session.id)
      expect((await identity.register(ours, { wallet: WALLET, ...other })).session.id).toBe(second.session.id)
    })
  }

  test('of another organization: a new one is made', async () => {
    const first = await identity.register(theirs, { wallet: WALLET })
    await identity.move(theirs, first.session.id, 'completed')
    const second = await registerWallet()
    expect(second.created).toBe(true)
    expect(second.session.organizationId).toBe(ours)
  })

  test('compared as bytes: another wallet, and a base58 one of another case, are others', async () => {
    await registerWallet()
    expect((await identity.register(ours, { wallet: evmWallet(2) })).created).toBe(true)
    expect((await identity.register(ours, { wallet: SOLANA_WALLET })).created).toBe(true)
    expect((await identity.register(ours, { wallet: SOLANA_WALLET })).created).toBe(false)
  })

  test('that was connected to a session for any wallet: reused once that is completed, not while it is open', async () => {
    const open = await identity.register(ours)
    await identity.connect(ours, open.session.id, WALLET)
    const locked = await registerWallet()
    expect(locked).toMatchObject({ created: true, session: { lockedAddress: WALLET } })
    await move(open.session.id, 'completed')
    expect((await registerWallet()).session.id).toBe(open.session.id)
  })
})

describe('without a wallet', () => {
  test('every registration is a new session', async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => identity.register(ours)))
    expect(sessions.every(({ created }) => created)).toBe(true)
    expect(new Set(sessions.map(({ session }) => session.id)).size).toBe(10)
  })
})

describe('originUrl on a reused session', () => {
  test('replaces the stored one when it is sent, and keeps it when it is not', async () => {
    const register = (originUrl: string | null) => identity.register(ours, { wallet: WALLET, originUrl })
    expect((await register('https://one.example/')).session.originUrl).toBe('https://one.example/')
    expect((await register('https://two.example/')).session.originUrl).toBe('https://two.example/')
    expect((await register(null)).session.originUrl).toBe('https://two.example/')
    const { session } = await register('https://two.example/')
    const events = await identity.store.sessions.listEvents(ours, session.id)
    // Registrations are unlimited, so they add no events.
    expect(events.map(({ kind }) => kind)).toEqual(['created'])
    expect(session.sequence).toBe(1)
  })
})

describe('at the same moment', () => {
  test('many registrations of one wallet get one session, and one of them made it', async () => {
    const registered = await Promise.all(Array.from({ length: 50 }, () => registerWallet()))
    expect(registered.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(registered.map(({ session }) => session.id)).size).toBe(1)
  })

  test('the id of a session of another environment or check is not taken over', async () => {
    const sessionId = newSessionId()
    expect((await identity.register(ours, { sessionId })).created).toBe(true)
    for (const other of [{ environment: 'test' }, { checkType: 'kyb' }] as const) {
      const taken = identity.register(ours, { sessionId, ...other })
      await expect(taken).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    }
    expect(await identity.register(ours, { sessionId })).toMatchObject({ created: true, session: { id: sessionId } })
  })

  test('a new session for a wallet is told to other processes, one for any wallet concerns none yet', async () => {
    const { database } = identity.store
    const before = await readNewest(database)
    const { session } = await registerWallet()
    await identity.register(ours)
    const told = (await changesSince(database, before)).filter(({ topic }) => topic === 'session')
    expect(told.map(({ subjectId }) => decodeSessionSubject(subjectId))).toMatchObject([
      { sessionId: session.id, addresses: [WALLET] },
    ])
  })

  test('the schema itself refuses a second pending session of one wallet', async () => {
    await registerWallet()
    await expect(
      identity.store.database.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
           retry_count, sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, 'other', 'live', 'kyc', 'pending', 1, 'manual', ?, 0, 1, 0, 0)`,
        [ours, WALLET],
      ),
    ).rejects.toMatchObject({ constraint: 'unique' })
  })

  test('one request that is tried twice makes one session, and both tries count as its maker', async () => {
    for (const wallet of [null, WALLET]) {
      const sessionId = newSessionId()
      const [first, second] = await Promise.all([
        identity.register(ours, { sessionId, wallet }),
        identity.register(ours, { sessionId, wallet }),
      ])
      expect(first).toMatchObject({ created: true, session: { id: sessionId } })
      expect(second).toMatchObject({ created: true, session: { id: sessionId } })
    }
  })
})

describe('links', () => {
  test('each registration’s works, and opens that session alone', async () => {
    const [one, two, other] = [link(), link(), link()]
    const { session } = await identity.register(ours, { wallet: WALLET, tokenHash: one.tokenHash })
    await identity.register(ours, { wallet: WALLET, tokenHash: two.tokenHash })
    await identity.register(theirs, { wallet: WALLET, tokenHash: other.tokenHash })
    const { sessions } = identity.store
    expect((await sessions.findByToken(one.tokenHash))?.session.id).toBe(session.id)
    expect((await sessions.findByToken(two.tokenHash))?.session.id).toBe(session.id)
    expect((await sessions.findByToken(other.tokenHash))?.session.organizationId).toBe(theirs)
    expect(await sessions.findByToken(link().tokenHash)).toBeNull()
  })

  test('of one session: the newest few work beside each other', async () => {
    const links = Array.from({ length: TOKENS_PER_SESSION_MAX + 3 }, link)
    for (const { tokenHash } of links) await identity.register(ours, { wallet: WALLET, tokenHash })
    const found = await Promise.all(links.map(({ tokenHash }) => identity.store.sessions.findByToken(tokenHash)))
    expect(found.map((state) => state !== null)).toEqual(links.map((_, index) => index >= 3))
  })

  test('are added for a repeated request, to one’s own sessions alone', async () => {
    const { session } = await identity.register(ours)
    const added = link()
    const token = { hash: added.tokenHash, requiresProof: false }
    expect(await identity.store.sessions.addLink(theirs, session.id, token)).toBe(false)
    expect(await identity.store.sessions.addLink(ours, session.id, token)).toBe(true)
    expect((await identity.store.sessions.findByToken(added.tokenHash))?.session.id).toBe(session.id)
  })

  test('are not in the database, nor does the session id open anything', async () => {
    const made = link()
    const { session } = await identity.register(ours, { tokenHash: made.tokenHash })
    await identity.store.database.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined)
    const bytes = Buffer.concat([
      Buffer.from(await Bun.file(identity.path).bytes()),
      Buffer.from(await Bun.file(`${identity.path}-wal`).bytes()),
    ])
    expect(bytes.includes(session.id)).toBe(true)
    expect(bytes.includes(made.token)).toBe(false)
    const byId = new Uint8Array(32)
    Bun.SHA256.hash(session.id, byId)
    expect(await identity.store.sessions.findByToken(byId)).toBeNull()
  })
})
