// Changes that are committed together: all or none, and told in their order after the commit.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { SessionState } from '../../src/domain/session.ts'
import { type ChangeTogether, createChangeTogether } from '../../src/identity/sessions/changes.ts'
import { evmWallet, inTransactionOf, openIdentity, type TestIdentity } from './support.ts'

let identity: TestIdentity
let organizationId: string
let sessionId: string
let together: ChangeTogether
/** What was told, and the sequence that the store held then. */
let told: (readonly [sequence: number, stored: Promise<SessionState | null>])[]

beforeEach(async () => {
  identity = await openIdentity()
  const { store } = identity
  organizationId = await identity.createOrganization('ours')
  const { session } = await identity.register(organizationId, { environment: 'test', wallet: evmWallet(1) })
  sessionId = session.id
  told = []
  together = createChangeTogether(inTransactionOf(store), {
    stateChanged: (state) =>
      void told.push([state.session.sequence, store.sessions.find(organizationId, state.session.id)]),
    standingChanged: () => undefined,
  })
})
afterEach(() => identity.remove())

test('are told after the commit, each as it was', async () => {
  const status = await together(async (changes) => {
    await changes.recordConsent({ organizationId, sessionId, version: 'v1', actor: 'test' })
    const { session } = await changes.changeStatus({
      organizationId,
      sessionId,
      to: 'completed',
      actor: 'test',
      override: 'person',
    })
    expect(told).toEqual([])
    return session.status
  })
  expect(status).toBe('completed')
  expect(told.map(([sequence]) => sequence)).toEqual([2, 3])
  for (const [, stored] of told) expect((await stored)?.session.sequence).toBe(3)
})

test('are neither kept nor told when one is refused', async () => {
  const refused = together(async (changes) => {
    await changes.recordConsent({ organizationId, sessionId, version: 'v1', actor: 'test' })
    await changes.changeStatus({ organizationId, sessionId, to: 'pending', actor: 'test' })
  })
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_CONFLICT' })
  expect(told).toEqual([])
  const state = await identity.store.sessions.find(organizationId, sessionId)
  expect(state?.session).toMatchObject({ sequence: 1, consentedAtSeconds: null })
})
