// Changes in one transaction: all or none, reported in order after the commit.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { SessionState } from '../../src/domain/session.ts'
import { type ChangeTogether, createChangeTogether } from '../../src/identity/sessions/changes.ts'
import { evmWallet, inTransactionOf, openIdentity, type TestIdentity } from './support.ts'

let identity: TestIdentity
let organizationId: string
let sessionId: string
let together: ChangeTogether
/** Reported changes, each with the state that the store had at that time. */
let reported: (readonly [sequence: number, stored: Promise<SessionState | null>])[]

beforeEach(async () => {
  identity = await openIdentity()
  const { store } = identity
  organizationId = await identity.createOrganization('ours')
  const { session } = await identity.register(organizationId, { environment: 'test', wallet: evmWallet(1) })
  sessionId = session.id
  reported = []
  together = createChangeTogether(inTransactionOf(store), {
    stateChanged: (state) =>
      void reported.push([state.session.sequence, store.sessions.find(organizationId, state.session.id)]),
    standingChanged: () => undefined,
  })
})
afterEach(() => identity.remove())

test('changes are reported after the commit', async () => {
  const target = { organizationId, sessionId, actor: 'test' }
  const status = await together(async (changes) => {
    await changes.recordConsent({ ...target, version: 'v1' })
    const { session } = await changes.changeStatus({ ...target, to: 'completed', override: 'person' })
    expect(reported).toEqual([])
    return session.status
  })
  expect(status).toBe('completed')
  expect(reported.map(([sequence]) => sequence)).toEqual([2, 3])
  for (const [, stored] of reported) expect((await stored)?.session.sequence).toBe(3)
})

test('changes are neither stored nor reported if one is refused', async () => {
  const refused = together(async (changes) => {
    await changes.recordConsent({ organizationId, sessionId, version: 'v1', actor: 'test' })
    await changes.changeStatus({ organizationId, sessionId, to: 'pending', actor: 'test' })
  })
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_CONFLICT' })
  expect(reported).toEqual([])
  const state = await identity.store.sessions.find(organizationId, sessionId)
  expect(state?.session).toMatchObject({ sequence: 1, consentedAtSeconds: null })
})
