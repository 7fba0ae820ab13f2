// The session after each of its changes, read back, is what was told when the change was made.
import { afterAll, expect, test } from 'bun:test'
import { buildStatus } from '../../src/identity/sessions/status.ts'
import { evmWallet, openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())
const ours = await identity.createOrganization('ours')

test('every state is found again as it was, in order', async () => {
  const { session } = await identity.register(ours)
  const told = identity.states.length
  const move = async (to: 'submitted' | 'completed' | 'retry' | 'rejected'): Promise<void> => {
    identity.clock.advance(7)
    // Only an operator completes a session that was revoked.
    await identity.move(ours, session.id, to, { revoke: true, actor: 'operator:ada' })
  }
  await identity.connect(ours, session.id, evmWallet(1))
  await move('retry')
  await identity.connect(ours, session.id, evmWallet(2))
  await identity.changes.recordConsent({ organizationId: ours, sessionId: session.id, version: 'v1', actor: 'person' })
  await move('submitted')
  await move('completed')
  await move('retry')
  await move('completed')
  await move('rejected')
  const states = identity.states.slice(told)
  const history = await identity.store.sessions.findSince(ours, session.id, 1)
  expect(history.map((state) => [state.session.sequence, buildStatus(state)])).toEqual(
    states.map((state) => [state.session.sequence, buildStatus(state)]),
  )
  expect(await identity.store.sessions.findSince(ours, session.id, 8)).toHaveLength(2)
  expect(await identity.store.sessions.findSince(ours, session.id, 10)).toEqual([])
  const theirs = await identity.createOrganization('theirs')
  expect(await identity.store.sessions.findSince(theirs, session.id, 0)).toEqual([])
})
