// Stored states of a session equal the states that were reported with each change.
import { afterAll, expect, test } from 'bun:test'
import type { SessionState } from '../../src/domain/session.ts'
import { buildStatus } from '../../src/identity/sessions/status.ts'
import { evmWallet, openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())
const ours = await identity.createOrganization('ours')

test('every state is read back unchanged, in order', async () => {
  const { session } = await identity.register(ours)
  const first = identity.states.length
  const move = async (to: 'submitted' | 'completed' | 'retry' | 'rejected'): Promise<void> => {
    identity.clock.advance(7)
    // Only an operator completes a revoked session.
    await identity.move(ours, session.id, to, { revoke: true, actor: 'operator:ada' })
  }
  await identity.connect(ours, session.id, evmWallet(1))
  await move('retry')
  await identity.connect(ours, session.id, evmWallet(2))
  await identity.changes.recordConsent({ organizationId: ours, sessionId: session.id, version: 'v1', actor: 'person' })
  for (const to of ['submitted', 'completed', 'retry', 'completed', 'rejected'] as const) await move(to)
  const described = (states: readonly SessionState[]) =>
    states.map((state) => [state.session.sequence, buildStatus(state)])
  const history = await identity.store.sessions.findSince(ours, session.id, 1)
  expect(described(history)).toEqual(described(identity.states.slice(first)))
  expect(await identity.store.sessions.findSince(ours, session.id, 8)).toHaveLength(2)
  expect(await identity.store.sessions.findSince(ours, session.id, 10)).toEqual([])
  const theirs = await identity.createOrganization('theirs')
  expect(await identity.store.sessions.findSince(theirs, session.id, 0)).toEqual([])
})
