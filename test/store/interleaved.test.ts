// What a transaction decides by what it read must still be so when it commits: each place against the change that would
// make it wrong, which has been written and is not committed yet.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { SessionStatus } from '../../src/domain/session.ts'
import { describeStores } from './dialects.ts'
import { interleave } from './interleave.ts'
import { seedOrganization, type TemporaryStore } from './temporary-store.ts'

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
  let temporary: TemporaryStore
  let organizationId: string

  beforeEach(async () => {
    temporary = await openTemporaryStore()
    organizationId = (await seedOrganization(temporary.store, 'demo')).organizationId
  })
  afterEach(() => temporary.remove())

  const begin = async (...statuses: readonly SessionStatus[]): Promise<string> => {
    const sessionId = newSessionId()
    const { sessions } = temporary.store
    await sessions.register({
      organizationId,
      sessionId,
      environment: 'live',
      checkType: 'kyc',
      tokenHash: crypto.getRandomValues(new Uint8Array(32)),
      walletAddress: null,
      originUrl: null,
      provider: 'manual',
      actor: 'key:test',
    })
    for (const to of statuses) await sessions.changeStatus({ organizationId, sessionId, to, actor: 'test' })
    return sessionId
  }

  test('a reading of a list that was leased again changes nothing', async () => {
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

  test('checks of a session that was handed in again are skipped', async () => {
    const { store } = temporary
    const sessionId = await begin('submitted')
    const [, late] = await interleave(
      store,
      ({ sessions }) => sessions.changeStatus({ organizationId, sessionId, to: 'retry', actor: 'test' }),
      ({ sessionChecks }) =>
        sessionChecks.replaceUnchanged(organizationId, 'lists', [
          { sessionId, sequence: 2, checks: [{ name: 'lists', outcome: 'passed', detail: {}, version: '1' }] },
        ]),
    )
    expect(late).toMatchObject({ value: { skipped: 1 } })
    expect(await store.sessionChecks.list(organizationId, sessionId)).toEqual([])
  })

  test('no trace is kept of evidence that was erased', async () => {
    const { store } = temporary
    const sessionId = await begin()
    const key = { wrappedKey: new Uint8Array([1]), wrappedBy: 'a key of tests' }
    await store.organizationKeys.add(organizationId, key)
    await store.evidence.addDocument(
      { organizationId, sessionId },
      {
        id: 'evidence_one',
        kind: 'id-front',
        mediaType: 'image/png',
        byteLength: 1,
        storageName: 'one',
        sealedName: null,
        wrappedKey: new Uint8Array([2]),
        sealedUnder: key.wrappedKey,
        fieldNames: [],
        createdAtSeconds: 0,
      },
      1,
      'test',
    )
    const traces = [{ kind: 'person', value: 'v' }]
    await interleave(
      store,
      ({ evidence }) => evidence.eraseAll({ organizationId, sessionId }, 'test'),
      ({ sessionTraces }) => sessionTraces.replace(organizationId, sessionId, 'person', traces),
    )
    expect(await store.database.query('SELECT kind FROM session_traces')).toEqual([])
  })
})
