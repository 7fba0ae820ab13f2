// A session that another organization completes after a rejection links its other wallets to the rejection for good: they
// stay rejected when that session is revoked. Cached standings follow.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createStandings } from '../../src/identity/standing/standings.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { evmWallet, openIdentity } from '../identity/support.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { changesSince } from './changes-since.ts'

const [REJECTED, LINKED, FIRST] = [evmWallet(1), evmWallet(2), evmWallet(3)]
const OPERATOR = 'operator:ada'

let identity: Awaited<ReturnType<typeof openIdentity>>
beforeAll(async () => {
  identity = await openIdentity()
})
afterAll(() => identity.remove())

/** Submits a session with these wallets. */
const submit = async (
  organizationId: string,
  isShared: boolean,
  ...wallets: readonly ReturnType<typeof evmWallet>[]
) => {
  const { store } = identity
  const { session } = await identity.register(organizationId)
  const target = { organizationId, sessionId: session.id }
  for (const wallet of wallets) await identity.connect(organizationId, session.id, wallet)
  if (isShared) await store.sessions.recordConsent({ ...target, version: '2.en', actor: 'person' })
  const change = (to: 'submitted' | 'completed' | 'rejected' | 'retry', actor: string) =>
    store.sessions.changeStatus({ ...target, to, actor, revoke: true, override: 'person' })
  await change('submitted', 'person')
  await markChecksMade(store, organizationId, session.id)
  return { environment: session.environment, change: (to: 'completed' | 'rejected' | 'retry') => change(to, OPERATOR) }
}

test('the wallets of a person who is linked to a rejection later stay rejected after a revocation elsewhere', async () => {
  const { store } = identity
  const [ours, theirs] = [await identity.createOrganization('ours'), await identity.createOrganization('theirs')]
  const own = await submit(ours, false, LINKED)
  const { environment } = own
  await own.change('completed')
  await (await submit(ours, false, REJECTED)).change('rejected')
  const first = await submit(theirs, true, FIRST, LINKED)
  await first.change('completed')
  const standings = createStandings({
    source: store.walletStandings,
    loadLevel: async () => 1,
    isUpToDate: () => true,
  })
  let newest = await readNewest(store.database)
  const isVerified = async (): Promise<boolean> => {
    for (const change of await changesSince(store.database, newest)) {
      newest = change
      if (change.topic === 'session') standings.sessionChanged(decodeSessionSubject(change.subjectId))
    }
    return (await standings.find({ organizationId: ours, environment }, LINKED, 'kyc', null)).verifying !== null
  }
  expect(await isVerified()).toBe(true)
  // The person is known by FIRST, so this session links LINKED to the rejection without having it connected.
  const link = await submit(theirs, true, FIRST, REJECTED)
  await link.change('completed')
  expect(await isVerified()).toBe(false)
  for (const revoked of [link, first]) await revoked.change('retry')
  expect(await isVerified()).toBe(false)
})
