// Invariant 6 for identity: store functions, called by one organization with a session of another.
import { afterAll, describe, expect, test } from 'bun:test'
import { walletOn } from '../../src/domain/wallet.ts'
import { createPortalLink } from '../../src/identity/sessions/portal-link.ts'
import { evmWallet, openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())
const ours = await identity.createOrganization('ours')
const theirs = await identity.createOrganization('theirs')
const { session: open } = await identity.register(theirs, { wallet: evmWallet(1) })
const session = await identity.connect(theirs, open.id, evmWallet(1))

const snapshot = async () => {
  const { store } = identity
  const id = session.session.id
  return {
    state: await store.sessions.find(theirs, id),
    events: await store.sessions.listEvents(theirs, id),
    list: await store.sessions.page({ organizationId: theirs }, { after: null, limit: 100 }),
    tokens: await store.database.query('SELECT * FROM session_tokens ORDER BY hash'),
    nonces: await store.database.query('SELECT * FROM session_nonces ORDER BY nonce'),
  }
}

describe('another organization’s session', () => {
  test('is neither found by any read nor changed by any write', async () => {
    const { sessions, sessionWallets, sessionNonces } = identity.store
    const { id } = session.session
    const before = await snapshot()
    const target = { organizationId: ours, sessionId: id, actor: 'test' }
    expect(await sessions.find(ours, id)).toBeNull()
    expect(await sessions.listEvents(ours, id)).toEqual([])
    expect((await sessions.page({ organizationId: ours }, { after: null, limit: 100 })).items).toEqual([])
    const token = { hash: createPortalLink('http://x').tokenHash, requiresProof: false }
    expect(await sessions.addLink(ours, id, token)).toBe(false)
    for (const to of ['submitted', 'completed', 'rejected', 'retry'] as const) {
      expect(await sessions.changeStatus({ ...target, to })).toBeNull()
    }
    expect(await sessions.recordConsent({ ...target, version: 'v1' })).toBeNull()
    const proof = { kind: 'sandbox', message: '', signature: '' } as const
    const wallet = { address: evmWallet(2), chain: 'ethereum', nonce: null, proof }
    expect(await sessionWallets.connect({ ...target, ...wallet })).toBeNull()
    expect(await sessionWallets.remove({ ...target, walletId: session.wallets[0]?.id ?? '' })).toBeNull()
    expect(await sessionNonces.find(ours, id, 'nonce1')).toBeNull()
    // The schema refuses a row of our organization that names their session.
    const nonce = {
      nonce: 'theirs',
      portalHost: 'x',
      wallet: walletOn(evmWallet(1), 1),
      chain: 'ethereum',
      message: 'x',
    }
    await expect(
      sessionNonces.add({ ...nonce, organizationId: ours, sessionId: id, expiresAtSeconds: 2 ** 40 }),
    ).rejects.toMatchObject({ constraint: 'foreign-key' })
    expect(await snapshot()).toEqual(before)
  })

  test('is not reused, and its wallet is unknown', async () => {
    const query = { organizationId: ours, environment: 'live', level: 1 } as const
    expect(await identity.store.walletStandings.loadSessions(query, evmWallet(1))).toEqual([])
    const registered = await identity.register(ours, { wallet: evmWallet(1) })
    expect(registered.created).toBe(true)
    expect(registered.session.organizationId).toBe(ours)
  })

  test('reveals the wallets of its person only at the level and with consent', async () => {
    const { session } = await identity.complete(theirs, [evmWallet(7), evmWallet(8)])
    const count = async (changes: object = {}) => {
      const query = { organizationId: ours, environment: 'live', level: 1, ...changes } as const
      return (await identity.store.walletStandings.loadPersonWallets(query, session.personId ?? '')).length
    }
    expect([await count(), await count({ organizationId: theirs })]).toEqual([0, 2])
    const target = { organizationId: theirs, sessionId: session.id, actor: 'person' }
    await identity.changes.recordConsent({ ...target, version: 'v1' })
    expect([await count(), await count({ level: 2 }), await count({ environment: 'test' })]).toEqual([2, 0, 0])
  })
})
