// Decisions that a transaction bases on rows it read must still be valid when it commits. Each test makes a decision
// during an uncommitted change that would invalidate it.
import { beforeEach, describe, expect, test } from 'bun:test'
import { EVM_ZERO_ADDRESS } from '../../src/domain/address.ts'
import { SESSION_CHANGES_MAX, type SessionStatus } from '../../src/domain/session.ts'
import { BrowserUnknownError } from '../../src/domain/session-errors.ts'
import { TOKENS_PER_SESSION_MAX } from '../../src/store/sessions/session-tokens.ts'
import { connectUnproved } from '../support/connect-unproved.ts'
import { describeStores } from './dialects.ts'
import { interleave } from './interleave.ts'
import { createSession, documentRecord, newHash, ORGANIZATION_KEY, type SessionTarget } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

const version = (content: string) => ({
  sha256: content.repeat(64),
  entries: 1,
  names: 1,
  bytes: new TextEncoder().encode(content),
})
const READ = { validators: {}, nextDueAtSeconds: 0 }
const SOURCE = {
  name: 'ofac-sdn',
  format: 'sdn-advanced',
  urls: ['https://lists.example/a.xml'],
  reach: 'public',
  intervalSeconds: 3_600,
} as const

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let organizationId: string

  beforeEach(async () => {
    organizationId = (await seedOrganization(temporary.store, 'demo')).organizationId
  })

  const begin = async (...statuses: readonly SessionStatus[]): Promise<SessionTarget> => {
    const target = await createSession(temporary.store, organizationId)
    for (const to of statuses) await temporary.store.sessions.changeStatus({ ...target, to, actor: 'test' })
    return target
  }
  const addDocument = async (target: SessionTarget): Promise<void> => {
    const { store } = temporary
    await store.organizationKeys.add(organizationId, ORGANIZATION_KEY)
    await store.evidence.addDocument(target, documentRecord(), 1, 'test')
  }

  test('a fetched list version is discarded if the list was leased again', async () => {
    const { store } = temporary
    await store.screeningLists.set(SOURCE)
    const leased = await store.screeningLists.takeDue(60)
    const [, late] = await interleave(
      store,
      ({ screeningLists }) => screeningLists.set({ ...SOURCE, urls: ['https://lists.example/b.xml'] }),
      ({ screeningLists }) =>
        screeningLists.replace(SOURCE.name, version('a'), { ...READ, token: leased?.token ?? '' }),
    )
    expect(late).toEqual({ status: 'fulfilled', value: null })
    expect((await store.screeningLists.find(SOURCE.name))?.version).toBeNull()
  })

  test('checks of a session that was submitted again are skipped', async () => {
    const { store } = temporary
    const { sessionId } = await begin('submitted')
    const checks = [{ name: 'lists', outcome: 'passed', detail: {}, version: '1' }]
    const [, late] = await interleave(
      store,
      ({ sessions }) => sessions.changeStatus({ organizationId, sessionId, to: 'retry', actor: 'test' }),
      ({ sessionChecks }) =>
        sessionChecks.replaceUnchanged(organizationId, 'lists', [{ sessionId, sequence: 2, checks }]),
    )
    expect(late).toMatchObject({ value: { skipped: 1 } })
    expect(await store.sessionChecks.list(organizationId, sessionId)).toEqual([])
  })

  test('traces of erased evidence are not stored', async () => {
    const { store } = temporary
    const target = await begin()
    await addDocument(target)
    const traces = [{ kind: 'person', value: 'v' }]
    await interleave(
      store,
      ({ evidence }) => evidence.eraseAll(target, 'test'),
      ({ sessionTraces }) => sessionTraces.replace(organizationId, target.sessionId, 'person', traces),
    )
    expect(await store.database.query('SELECT kind FROM session_traces')).toEqual([])
  })

  test('expired evidence is kept if the person takes another step before the erasure', async () => {
    const { store, clock } = temporary
    const target = await begin()
    await addDocument(target)
    clock.advance(31 * 86_400)
    expect(await store.evidenceRetention.listExpired(10)).toEqual([target])
    await interleave(
      store,
      ({ sessions }) => sessions.changeStatus({ ...target, to: 'submitted', actor: 'person' }),
      ({ evidence }) => evidence.eraseAll(target, 'retention', { onlyExpired: true }),
    )
    expect(await store.evidence.list(target)).toHaveLength(1)
  })

  describe('a list base that was staged long ago', () => {
    const stage = async () => {
      const { lists, listBases } = temporary.store
      const list = await lists.create({ owner: organizationId, name: 'deny' })
      const baseId = await listBases.begin(list.id)
      const keys = [new Uint8Array(20).fill(1), new Uint8Array(20).fill(2)]
      const notes = [{ memo: '', author: 'ada', addedAtSeconds: 0 }]
      await listBases.append(
        baseId,
        keys.map((key) => ({ width: 20 as const, keys: key, notes })),
      )
      temporary.clock.advance(7 * 3_600)
      return { baseId, activation: { listId: list.id, baseId, ifVersion: null, confirmation: null }, keys }
    }

    test('is not swept while it is activated', async () => {
      const { store } = temporary
      const { baseId, activation, keys } = await stage()
      const [activated] = await interleave(
        store,
        ({ listBases }) => listBases.activate(activation),
        ({ listBases }) => listBases.sweep(),
      )
      expect(activated).toMatchObject({ value: 'activated' })
      expect(await store.listBases.readKeys(baseId, 20, null, 10)).toEqual(keys)
    })

    test('is not activated after a part of it was swept', async () => {
      const { store } = temporary
      const { activation } = await stage()
      const outcomes = await interleave(
        store,
        ({ listBases }) => listBases.sweep(),
        ({ listBases }) => listBases.activate(activation),
      )
      expect(outcomes).toMatchObject([{ value: 2 }, { value: 'changed-meanwhile' }])
      expect((await store.lists.findById(activation.listId))?.baseId).toBeNull()
    })
  })

  describe('when a person moves a session to their browser', () => {
    const [LINK, STRANGER, PERSON] = [newHash(), newHash(), newHash()]
    const WALLET = { family: 'evm', chainId: 1, address: EVM_ZERO_ADDRESS } as const

    /** Opens the session in a stranger's browser, and adds a challenge for a wallet of the person. */
    const enter = async () => {
      const { portalLinks, sessions } = temporary.store
      const link = await begin()
      const stranger = newHash()
      for (const hash of [LINK, stranger]) {
        await sessions.addLink(organizationId, link.sessionId, { hash, requiresProof: false })
      }
      expect(await portalLinks.bind(link, stranger, STRANGER)).toBe(true)
      const expiresAtSeconds = temporary.clock.unixSeconds() + 600
      const challenge = { nonce: 'n', linkHash: LINK, ...link, wallet: WALLET, message: 'm', expiresAtSeconds }
      await portalLinks.addChallenge(challenge)
      return { link, challenge, expiresAtSeconds }
    }

    test('an expired challenge is refused', async () => {
      const { portalLinks } = temporary.store
      const { link, challenge } = await enter()
      temporary.clock.advance(600)
      expect(await portalLinks.moveLink(challenge, PERSON)).toBe(false)
      expect(await portalLinks.findBrowser(PERSON, link.sessionId)).toBeNull()
    })

    test('the session has room for changes, however many a stranger made', async () => {
      const { store } = temporary
      const { link, challenge } = await enter()
      const setSequence = (sequence: number) =>
        store.database.transaction(async ({ execute }) => {
          await execute('UPDATE sessions SET sequence = ? WHERE id = ?', [sequence, link.sessionId])
          await execute('UPDATE session_events SET sequence = ? WHERE session_id = ?', [sequence, link.sessionId])
        })
      await setSequence(SESSION_CHANGES_MAX - 1)
      expect(await store.portalLinks.moveLink(challenge, PERSON)).toBe(true)
      // A second takeover without a change in between adds no event.
      await store.portalLinks.addChallenge(challenge)
      expect(await store.portalLinks.moveLink(challenge, PERSON)).toBe(true)
      const state = await store.sessions.find(link.organizationId, link.sessionId)
      expect(state?.session.sequence).toBe(SESSION_CHANGES_MAX)
      await connectUnproved(store, { ...link, address: EVM_ZERO_ADDRESS })
    })

    test('the other browser cannot create a handover link', async () => {
      const { store } = temporary
      const { link, challenge, expiresAtSeconds } = await enter()
      const [moved, added] = await interleave(
        store,
        ({ portalLinks }) => portalLinks.moveLink(challenge, PERSON),
        ({ portalLinks }) => portalLinks.addHandover({ ...link, cookieHash: STRANGER }, newHash(), expiresAtSeconds),
      )
      expect(moved).toMatchObject({ value: true })
      expect(added).toMatchObject({ reason: expect.any(BrowserUnknownError) })
      expect(await store.database.query('SELECT hash FROM portal_handovers')).toEqual([])
    })

    test('a browser that opens an earlier handover link also loses the session', async () => {
      const { store } = temporary
      const { link, challenge, expiresAtSeconds } = await enter()
      const [handover, accomplice] = [newHash(), newHash()]
      await store.portalLinks.addHandover({ ...link, cookieHash: STRANGER }, handover, expiresAtSeconds)
      const outcomes = await interleave(
        store,
        ({ portalLinks }) => portalLinks.bind(link, handover, accomplice),
        ({ portalLinks }) => portalLinks.moveLink(challenge, PERSON),
      )
      expect(outcomes).toMatchObject([{ value: true }, { value: true }])
      expect(await store.portalLinks.findBrowser(accomplice, link.sessionId)).toBeNull()
      expect(await store.portalLinks.findBrowser(PERSON, link.sessionId)).not.toBeNull()
    })

    test('the agreement is kept if a wallet is connected simultaneously', async () => {
      const { store } = temporary
      const { link, challenge } = await enter()
      await store.database.execute(
        `INSERT INTO portal_agreements (organization_id, session_id, version, shares, agreed_at_seconds)
         VALUES (?, ?, 'v', 0, 1)`,
        [link.organizationId, link.sessionId],
      )
      const outcomes = await interleave(
        store,
        (tables) => connectUnproved(tables, { ...link, address: EVM_ZERO_ADDRESS }),
        ({ portalLinks }) => portalLinks.moveLink(challenge, PERSON),
      )
      expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { value: true }])
      expect(await store.database.query('SELECT version FROM portal_agreements')).toEqual([{ version: 'v' }])
    })
  })

  test('an old link that newer links have replaced does not work', async () => {
    const { store } = temporary
    const link = await begin()
    const oldest = newHash()
    await store.sessions.addLink(organizationId, link.sessionId, { hash: oldest, requiresProof: false })
    const [, bound] = await interleave(
      store,
      async ({ sessions }) => {
        for (let links = 0; links < TOKENS_PER_SESSION_MAX; links++) {
          await sessions.addLink(organizationId, link.sessionId, { hash: newHash(), requiresProof: false })
        }
      },
      ({ portalLinks }) => portalLinks.bind(link, oldest, newHash()),
    )
    expect(bound).toMatchObject({ value: false })
  })
})
