// An organization can reject many sessions of one person. Each address and person keeps only its last rejections, so that a
// verification, a registration or a completion reads few rows.
import { beforeEach, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import { SESSIONS_PER_PERSON_MAX, type SessionStatus } from '../../src/domain/session.ts'
import { PersonSessionsError } from '../../src/domain/session-errors.ts'
import { judgeStanding } from '../../src/identity/standing/standing.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { describeStores } from './dialects.ts'
import { connectWallet, createSession, DECIDER, OPERATOR, type SessionTarget, walletAt } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'

const [FIRST, SECOND, THIRD] = [walletAt(1), walletAt(2), walletAt(3)]
const REJECTIONS = 12

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  let other: string
  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
  })

  const create = (owner: string, walletAddress: WalletAddress | null = null) =>
    createSession(temporary.store, owner, { environment: 'test', walletAddress })
  const change = (target: SessionTarget, to: SessionStatus, actor: string) =>
    temporary.store.sessions.changeStatus({ ...target, to, actor, override: 'person', revoke: true })

  const complete = async (owner: string, wallets: readonly WalletAddress[], shares = false): Promise<SessionTarget> => {
    const target = await create(owner)
    for (const address of wallets) await connectWallet(temporary.store, target, address)
    if (shares) await temporary.store.sessions.recordConsent({ ...target, version: '2.en', actor: 'person' })
    await change(target, 'submitted', 'person')
    await markChecksMade(temporary.store, owner, target.sessionId)
    await change(target, 'completed', OPERATOR)
    return target
  }

  /** The first session can be a completed one. The operator's last rejection is older than the decider's. */
  const rejectOften = async (wallet: WalletAddress): Promise<readonly string[]> => {
    const rejected: string[] = []
    for (let count = 0; count < REJECTIONS; count++) {
      const target = await create(organizationId, wallet)
      await change(target, 'rejected', count % 2 === 0 ? OPERATOR : DECIDER)
      rejected.push(target.sessionId)
    }
    return rejected
  }

  const rowsOf = async (subject: string): Promise<readonly string[]> =>
    (
      await temporary.store.database.query<{ id: string }>(
        'SELECT session_id AS id FROM session_rejections WHERE subject = ? ORDER BY decided_sequence',
        [subject],
      )
    ).map(({ id }) => id)

  const personOf = async (target: SessionTarget): Promise<string> =>
    (await temporary.store.sessions.find(target.organizationId, target.sessionId))?.session.personId ?? ''

  const load = (wallet: WalletAddress) =>
    temporary.store.walletStandings.loadSessions({ organizationId, environment: 'test', level: 1 }, wallet)

  test('all wallets and the person of a rejected wallet keep the last rejection of each kind', async () => {
    const completed = await complete(organizationId, [FIRST, SECOND])
    const rejected = await rejectOften(SECOND)
    const last = rejected.slice(-2)
    for (const subject of [FIRST, SECOND, await personOf(completed)]) expect(await rowsOf(subject)).toEqual(last)
    const read = await load(FIRST)
    expect(new Set(read.map(({ sessionId }) => sessionId))).toEqual(new Set([completed.sessionId, ...last]))
    expect(judgeStanding(read, 1, 'kyc').verifying).toBeNull()
    // Each rejected session still needs an operator.
    for (const id of rejected) expect(await rowsOf(id)).toEqual([id])
    // A later completion by an operator lifts all rejections.
    await complete(organizationId, [FIRST])
    expect(judgeStanding(await load(FIRST), 1, 'kyc').verifying).not.toBeNull()
  })

  test('an open hit of a rejected session with the wallet is read after later rejections, too', async () => {
    const target = await create(organizationId, FIRST)
    await openHit(temporary.store, target.organizationId, target.sessionId)
    await change(target, 'rejected', OPERATOR)
    const last = (await rejectOften(FIRST)).slice(-2)
    expect(await rowsOf(FIRST)).toEqual(last)
    expect((await load(FIRST)).find(({ sessionId }) => sessionId === target.sessionId)?.isUnsettled).toBe(true)
  })

  test("a shared session links its person and wallets to the last of another organization's rejections", async () => {
    const last = (await rejectOften(FIRST)).slice(-2)
    const shared = await complete(other, [FIRST, SECOND], true)
    const subjects = [FIRST, SECOND, await personOf(shared)]
    for (const subject of subjects) expect(await rowsOf(subject)).toEqual(last)
    // Rejections of another wallet are linked to the person by the next session.
    const later = (await rejectOften(THIRD)).slice(-2)
    for (const wallets of [[FIRST, THIRD], [SECOND]]) {
      await complete(other, wallets, true)
      for (const subject of [...subjects, THIRD]) expect(await rowsOf(subject)).toEqual(later)
    }
  })

  test('a person has a limited number of sessions, and a rejection beyond the limit still counts', async () => {
    const completed = await complete(organizationId, [FIRST, SECOND])
    const personId = await personOf(completed)
    for (let count = 1; count < SESSIONS_PER_PERSON_MAX; count++) {
      await temporary.store.database.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, person_id, user_id,
           retry_count, sequence, created_at_seconds, updated_at_seconds)
         VALUES (?, ?, 'test', 'kyc', 'submitted', 1, 'manual', ?, 'user', 0, 1, 0, 0)`,
        [organizationId, newSessionId(), personId],
      )
    }
    await expect(complete(organizationId, [SECOND])).rejects.toBeInstanceOf(PersonSessionsError)
    await complete(organizationId, [THIRD])
    await change(completed, 'retry', OPERATOR)
    const rejected = await create(organizationId, SECOND)
    await change(rejected, 'rejected', OPERATOR)
    expect(await personOf(rejected)).toBe('')
    expect(judgeStanding(await load(FIRST), 1, 'kyc').verifying).toBeNull()
  })
})
