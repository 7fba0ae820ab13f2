// Effects of a status change: comments, notifications, history and the change feed. test/store/session-model.ts has the
// transitions.
import { afterAll, describe, expect, test } from 'bun:test'
import { newIdentifier } from '../../src/domain/identifier.ts'
import type { SessionState, SessionStatus, StatusChange } from '../../src/domain/session.ts'
import { createChangeTogether } from '../../src/identity/sessions/changes.ts'
import { buildStatus } from '../../src/identity/sessions/status.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject, encodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, inTransactionOf, openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())
const organizationId = await identity.createOrganization('ours')

/** Creates a session with the status. */
const sessionAt = async (status: SessionStatus): Promise<string> => {
  const { session } = await identity.register(organizationId)
  if (status !== 'pending') await identity.move(organizationId, session.id, status)
  return session.id
}
const move = (sessionId: string, to: SessionStatus, change: Partial<StatusChange> = {}) =>
  identity.move(organizationId, sessionId, to, { actor: 'operator:anna', ...change })
const sessionOf = async (sessionId: string) => (await identity.store.sessions.find(organizationId, sessionId))?.session

describe('a change of status', () => {
  test('separates the comment for the person from the comment for operators', async () => {
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

  test('to completed clears the comment for the person', async () => {
    const sessionId = await sessionAt('submitted')
    await move(sessionId, 'retry', { publicComment: 'Your picture is blurred' })
    expect((await sessionOf(sessionId))?.publicComment).toBe('Your picture is blurred')
    await move(sessionId, 'completed', { publicComment: 'fine' })
    expect((await sessionOf(sessionId))?.publicComment).toBeNull()
  })

  test('of a session of another organization, or of an unknown session, returns 404', async () => {
    const sessionId = await sessionAt('pending')
    const other = await identity.createOrganization('theirs')
    await expect(move(sessionId, 'completed', { organizationId: other })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(move('01a1f8ae-78a5-736f-b344-07aea9a52566', 'completed')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await sessionOf(sessionId))?.status).toBe('pending')
  })

  test('is in the change feed if and only if it is committed, with the person and the wallets', async () => {
    const { session } = await identity.register(organizationId, { wallet: evmWallet(1) })
    await identity.connect(organizationId, session.id, evmWallet(1))
    const before = await readNewest(identity.store.database)
    const { session: completed } = await move(session.id, 'completed')
    await move(session.id, 'submitted', { revoke: true }).catch(() => undefined)
    const changes = await changesSince(identity.store.database, before)
    // The changes of its checks come first.
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

  test('is reported after the commit, in order', async () => {
    const first = identity.states.length
    const { session } = await identity.register(organizationId)
    await Promise.all([move(session.id, 'submitted'), move(session.id, 'retry'), move(session.id, 'rejected')])
    expect(identity.states.slice(first).map((state) => [state.session.sequence, state.session.status])).toEqual([
      [2, 'submitted'],
      [3, 'retry'],
      [4, 'rejected'],
    ])
  })
})

test('the encoded subject of a session change is decoded correctly, with and without person and wallets', () => {
  for (const subject of [
    { personId: null, addresses: [] },
    { personId: newIdentifier('person'), addresses: [evmWallet(1), evmWallet(2)] },
  ]) {
    const complete = { sessionId: 'id', sequence: 7, environment: 'test', ...subject } as const
    expect(decodeSessionSubject(encodeSessionSubject(complete))).toEqual(complete)
  }
})

test('changes in one transaction are reported in order after the commit, or neither stored nor reported', async () => {
  const { store } = identity
  const { session } = await identity.register(organizationId, { environment: 'test', wallet: evmWallet(2) })
  const target = { organizationId, sessionId: session.id, actor: 'test' }
  const find = async () => (await store.sessions.find(organizationId, session.id))?.session
  /** Reported changes, each with the state that the store had at that time. */
  const reported: (readonly [sequence: number, stored: ReturnType<typeof find>])[] = []
  const together = createChangeTogether(inTransactionOf(store), {
    stateChanged: (state) => void reported.push([state.session.sequence, find()]),
    standingChanged: () => undefined,
  })
  const refused = together(async (changes) => {
    await changes.recordConsent({ ...target, version: 'v1' })
    await changes.changeStatus({ ...target, to: 'pending' })
  })
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_CONFLICT' })
  expect(reported).toEqual([])
  expect(await find()).toMatchObject({ sequence: 1, consentedAtSeconds: null })
  const status = await together(async (changes) => {
    await changes.recordConsent({ ...target, version: 'v1' })
    const completed = await changes.changeStatus({ ...target, to: 'completed', override: 'person' })
    expect(reported).toEqual([])
    return completed.session.status
  })
  expect(status).toBe('completed')
  expect(reported.map(([sequence]) => sequence)).toEqual([2, 3])
  for (const [, stored] of reported) expect((await stored)?.sequence).toBe(3)
})

test('every state is read back unchanged, in order', async () => {
  const { session } = await identity.register(organizationId)
  const first = identity.states.length
  const moveLater = async (to: SessionStatus): Promise<void> => {
    identity.clock.advance(7)
    await move(session.id, to, { revoke: true })
  }
  await identity.connect(organizationId, session.id, evmWallet(1))
  await moveLater('retry')
  await identity.connect(organizationId, session.id, evmWallet(2))
  await identity.changes.recordConsent({ organizationId, sessionId: session.id, version: 'v1', actor: 'person' })
  for (const to of ['submitted', 'completed', 'retry', 'completed', 'rejected'] as const) await moveLater(to)
  const described = (states: readonly SessionState[]) =>
    states.map((state) => [state.session.sequence, buildStatus(state)])
  const history = await identity.store.sessions.findSince(organizationId, session.id, 1)
  expect(described(history)).toEqual(described(identity.states.slice(first)))
  expect(await identity.store.sessions.findSince(organizationId, session.id, 8)).toHaveLength(2)
  expect(await identity.store.sessions.findSince(organizationId, session.id, 10)).toEqual([])
  const theirs = await identity.createOrganization('others')
  expect(await identity.store.sessions.findSince(theirs, session.id, 0)).toEqual([])
})
