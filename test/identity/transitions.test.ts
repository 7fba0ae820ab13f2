// What a change of a session's status tells and to whom; which changes are made is in `test/store/session-model.ts`.
import { afterAll, describe, expect, test } from 'bun:test'
import { newIdentifier } from '../../src/domain/identifier.ts'
import type { SessionStatus, StatusChange } from '../../src/domain/session.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject, encodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())
const organizationId = await identity.createOrganization('ours')

/** A session that has come to the status. */
const sessionAt = async (status: SessionStatus): Promise<string> => {
  const { session } = await identity.register(organizationId)
  if (status !== 'pending') await identity.move(organizationId, session.id, status)
  return session.id
}
const move = (sessionId: string, to: SessionStatus, change: Partial<StatusChange> = {}) =>
  identity.move(organizationId, sessionId, to, { actor: 'operator:anna', ...change })
const stateOf = async (sessionId: string) => {
  const state = await identity.store.sessions.find(organizationId, sessionId)
  if (state === null) throw new Error('gone')
  return state
}

describe('a change of status', () => {
  test('keeps the comment for the person apart from the one for operators', async () => {
    const sessionId = await sessionAt('submitted')
    const state = await move(sessionId, 'retry', { publicComment: 'Please again.', privateComment: 'Looks forged.' })
    expect(JSON.stringify(state)).not.toContain('forged')
    const events = await identity.store.sessions.listEvents(organizationId, sessionId)
    expect(events.at(-1)).toMatchObject({
      kind: 'status',
      actor: 'operator:anna',
      publicComment: 'Please again.',
      privateComment: 'Looks forged.',
    })
  })

  test('tells the person nothing with a completion: what stood there is about what was to be done', async () => {
    const sessionId = await sessionAt('submitted')
    await move(sessionId, 'retry', { publicComment: 'Your picture is blurred' })
    expect((await stateOf(sessionId)).session.publicComment).toBe('Your picture is blurred')
    await move(sessionId, 'completed', { publicComment: 'fine' })
    expect((await stateOf(sessionId)).session.publicComment).toBeNull()
  })

  test('of another organization’s session, or of none, is unknown', async () => {
    const sessionId = await sessionAt('pending')
    const other = await identity.createOrganization('theirs')
    await expect(move(sessionId, 'completed', { organizationId: other })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(move('01a1f8ae-78a5-736f-b344-07aea9a52566', 'completed')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await stateOf(sessionId)).session.status).toBe('pending')
  })

  test('is in the change feed exactly when it is committed, with whom it concerns', async () => {
    const { session } = await identity.register(organizationId, { wallet: evmWallet(1) })
    await identity.connect(organizationId, session.id, evmWallet(1))
    const before = await readNewest(identity.store.database)
    const { session: completed } = await move(session.id, 'completed')
    await move(session.id, 'submitted', { revoke: true }).catch(() => undefined)
    const changes = await changesSince(identity.store.database, before)
    // Its checks come first: they are queued and made.
    expect(changes.every(({ topic, organizationId: of }) => topic === 'session' && of === organizationId)).toBe(true)
    const subjects = changes.map(({ subjectId }) => decodeSessionSubject(subjectId))
    expect(subjects.filter((subject) => subject?.sequence === completed.sequence)).toHaveLength(1)
    expect(subjects.at(-1)).toEqual({
      sessionId: session.id,
      sequence: completed.sequence,
      environment: 'live',
      personId: completed.personId,
      addresses: [evmWallet(1)],
    })
  })

  test('tells after the commit, and in this order', async () => {
    const told = identity.states.length
    const { session } = await identity.register(organizationId)
    await Promise.all([move(session.id, 'submitted'), move(session.id, 'retry'), move(session.id, 'rejected')])
    expect(identity.states.slice(told).map((state) => [state.session.sequence, state.session.status])).toEqual([
      [2, 'submitted'],
      [3, 'retry'],
      [4, 'rejected'],
    ])
  })
})

describe('the subject of a session change', () => {
  test('reads as it was written, with and without person and wallets', () => {
    for (const subject of [
      { personId: null, addresses: [] },
      { personId: newIdentifier('person'), addresses: [evmWallet(1), evmWallet(2)] },
    ]) {
      const complete = { sessionId: 'id', sequence: 7, environment: 'test', ...subject } as const
      expect(decodeSessionSubject(encodeSessionSubject(complete))).toEqual(complete)
    }
  })
})
