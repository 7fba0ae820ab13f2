// The level rule: which session verifies a wallet, and what the answer contains.
import { describe, expect, test } from 'bun:test'
import type { WalletSession } from '../../src/domain/standing.ts'
import { findDetailedSession, judgeStanding, sessionsOn } from '../../src/identity/standing/standing.ts'

/** Ids rise with the number. */
const session = (number: number, changes: Partial<WalletSession> = {}): WalletSession => ({
  sessionId: `0000000${number}-0000-7000-8000-000000000000`,
  own: true,
  connected: true,
  provenChain: null,
  checkType: 'kyc',
  status: 'completed',
  level: 2,
  personId: `person_${number}`,
  completedAtSeconds: 100 + number,
  decidedSequence: 10 * number,
  isUnsettled: false,
  ...changes,
})
const pending = { status: 'pending', personId: null, completedAtSeconds: null, decidedSequence: null } as const
const rejected = { status: 'rejected', completedAtSeconds: null } as const

describe('a wallet', () => {
  const theirs = session(1, { own: false })
  const own = session(1)
  test.each<[string, WalletSession[], level: number, verifying: WalletSession | null, string | null, string | null]>([
    ['without a session has no status', [], 1, null, null, null],
    ['completed at level 2 is verified at level 1', [own], 1, own, 'completed', 'person_1'],
    ['completed at level 2 is verified at level 2', [own], 2, own, 'completed', 'person_1'],
    ['completed at level 2 is not verified at level 3', [own], 3, null, 'completed', 'person_1'],
    ['completed by another organization is verified', [theirs], 2, theirs, 'completed', 'person_1'],
    ['without a proof is not verified', [session(1, { connected: false })], 1, null, 'completed', null],
    [
      'rejected by the organization has no person from another organization’s session',
      [session(2, { ...rejected, connected: false, personId: null }), theirs],
      1,
      null,
      'rejected',
      null,
    ],
    ['with a pending session is not verified', [session(1, pending)], 1, null, 'pending', null],
    ['submitted is not verified', [session(1, { ...pending, status: 'submitted' })], 1, null, 'submitted', null],
    ['sent back is not verified', [session(1, { ...pending, status: 'retry' })], 1, null, 'retry', null],
    ['rejected is not verified', [session(1, { ...pending, status: 'rejected' })], 1, null, 'rejected', null],
  ])('%s', (_name, sessions, level, verifying, status, personId) => {
    expect<unknown>(judgeStanding(sessions, level, null)).toEqual({ verifying, status, personId })
  })

  test('that was rejected remains rejected if it is named without proof in a completed session', () => {
    const refused = session(1, rejected)
    const unproven = session(2, { connected: false })
    const others = session(3, { own: false })
    expect(judgeStanding([refused, unproven, others], 1, null).verifying).toBeNull()
    expect(judgeStanding([refused, { ...unproven, connected: true }, others], 1, null).verifying).not.toBeNull()
  })
  test.each(['pending', 'submitted', 'retry'] as const)(
    'remains verified while a newer session is %s, and has its status',
    (status) => {
      const [first, newer] = [session(1), session(2, { ...pending, status })]
      expect(judgeStanding([newer, first], 2, null)).toEqual({ verifying: first, status, personId: 'person_1' })
    },
  )

  test('rejected in its newest decision is not verified by an earlier session or by another organization’s', () => {
    for (const other of [session(1), theirs, session(3, { own: false })]) {
      const sessions = [session(2, rejected), other]
      expect(judgeStanding(sessions, 1, null)).toMatchObject({ verifying: null, status: 'rejected' })
      for (const status of ['pending', 'submitted', 'retry'] as const) {
        for (const connected of [false, true]) {
          const again = session(4, { ...pending, status, connected })
          expect(judgeStanding([again, ...sessions], 1, null)).toMatchObject({ verifying: null, status })
        }
      }
    }
  })

  test('rejected by another organization is unaffected', () => {
    const mine = session(1)
    expect(judgeStanding([mine, session(2, { ...rejected, own: false })], 1, null).verifying).toBe(mine)
  })

  test('completed after a rejection is verified', () => {
    const newest = session(3)
    const sessions = [newest, session(2, rejected)]
    expect(judgeStanding(sessions, 1, null)).toMatchObject({ verifying: newest, status: 'completed' })
  })

  test.each(['rejected', 'retry', 'submitted'] as const)(
    'is not verified by a newer session if an older session became %s after its completion',
    (status) => {
      const older = session(1, { ...rejected, status, decidedSequence: 30 })
      for (const completed of [session(2), session(2, { own: false }), session(3, { decidedSequence: 29 })]) {
        expect(judgeStanding([completed, older], 1, null).verifying).toBeNull()
        expect(judgeStanding([older, completed], 1, null).verifying).toBeNull()
      }
    },
  )

  test('is verified by an older session that was completed after a newer session was rejected', () => {
    const older = session(1, { decidedSequence: 30 })
    expect(judgeStanding([session(2, rejected), older], 1, null).verifying).toBe(older)
  })

  test('completed below the level after a rejection is not verified by an earlier completion', () => {
    const before = session(1, { level: 3 })
    const after = session(3, { level: 1 })
    expect(judgeStanding([after, session(2, rejected), before], 3, null).verifying).toBeNull()
    expect(judgeStanding([after, session(2, rejected), before], 1, null).verifying).toBe(after)
  })

  test('with two decisions of the same number follows the newer session', () => {
    const [completed, refused] = [session(2, { decidedSequence: 0 }), session(1, { ...rejected, decidedSequence: 0 })]
    expect(judgeStanding([completed, refused], 1, null).verifying).toBe(completed)
    const newer = session(3, { ...rejected, decidedSequence: 0 })
    expect(judgeStanding([newer, completed], 1, null).verifying).toBeNull()
  })

  test('is verified by its newest verifying session', () => {
    const newest = session(2)
    expect(judgeStanding([session(1), newest], 1, null).verifying).toBe(newest)
    expect(judgeStanding([newest, session(1)], 1, null).verifying).toBe(newest)
  })
})

describe('check types', () => {
  const kyc = session(1)
  const kyb = session(2, { checkType: 'kyb' })

  test('verify only requests for that type or for any type', () => {
    expect(judgeStanding([kyb, kyc], 1, null).verifying).toBe(kyb)
    expect(judgeStanding([kyb, kyc], 1, 'kyc').verifying).toBe(kyc)
    expect(judgeStanding([kyb, kyc], 1, 'kyb').verifying).toBe(kyb)
    expect(judgeStanding([kyc], 1, 'kyb')).toEqual({ verifying: null, status: null, personId: null })
  })

  test('a rejection of one type ends earlier completions of every type, including those by other organizations', () => {
    const refusedBusiness = session(2, { ...rejected, checkType: 'kyb' })
    for (const before of [kyc, session(1, { own: false }), session(3, { own: false })]) {
      const sessions = [refusedBusiness, before]
      expect(judgeStanding(sessions, 1, null)).toMatchObject({ verifying: null, status: 'rejected' })
      expect(judgeStanding(sessions, 1, 'kyc').verifying).toBeNull()
    }
  })

  test('a completion after a rejection of the other type verifies only its own type', () => {
    const refusedBusiness = session(2, { ...rejected, checkType: 'kyb' })
    const theirs = session(4, { own: false, checkType: 'kyb' })
    const again = session(3)
    const sessions = [again, refusedBusiness, kyc, theirs]
    expect(judgeStanding(sessions, 1, null).verifying).toBe(again)
    expect(judgeStanding(sessions, 1, 'kyb').verifying).toBeNull()
  })
})

describe('an unsettled session', () => {
  const theirs = session(3, { own: false })

  test.each(['pending', 'submitted', 'retry', 'completed'] as const)(
    'that is %s outweighs another organization’s result, for both types, connected or not',
    (status) => {
      for (const checkType of ['kyc', 'kyb'] as const) {
        for (const connected of [true, false]) {
          const own = session(1, { ...pending, status, checkType, connected, level: 1, isUnsettled: true })
          expect(judgeStanding([own, theirs], 2, null)).toMatchObject({ verifying: null, status })
          expect(judgeStanding([own, theirs], 2, 'kyc').verifying).toBeNull()
          expect(judgeStanding([{ ...own, isUnsettled: false }, theirs], 2, 'kyc').verifying).toBe(theirs)
        }
      }
    },
  )

  test('does not outweigh the organization’s own verification', () => {
    const own = session(1, { isUnsettled: true })
    expect(judgeStanding([own, theirs], 1, null).verifying).toBe(own)
  })
})

describe('the proof of a contract wallet', () => {
  const [key, contract] = [session(1), session(2, { provenChain: 'base' })]
  const judgeOn = (sessions: readonly WalletSession[], chain: string | null) =>
    judgeStanding(sessionsOn(sessions, chain), 1, null)

  test('verifies and identifies a person only on its own chain', () => {
    expect(judgeOn([contract], 'base')).toMatchObject({ verifying: contract, personId: 'person_2' })
    expect(judgeOn([contract], 'ethereum')).toEqual({ verifying: null, status: null, personId: null })
    expect(judgeOn([contract, key], 'ethereum').verifying).toEqual(key)
  })

  test('verifies if the request names no chain', () => {
    expect(judgeOn([contract], null)).toMatchObject({ verifying: contract, personId: 'person_2' })
  })

  test('in a rejected session ends verifications on every chain, because the address may have a key', () => {
    const refused = session(3, { ...rejected, provenChain: 'base' })
    for (const chain of ['ethereum', 'base', null]) expect(judgeOn([refused, key], chain).verifying).toBeNull()
    expect(judgeOn([{ ...refused, own: false }, key], 'ethereum').verifying).toEqual(key)
  })

  test('in an unsettled session outweighs other organizations on every chain, and verifies only on its own', () => {
    const theirs = session(3, { own: false })
    const unsettled = { ...contract, isUnsettled: true }
    expect(judgeOn([unsettled, theirs], 'ethereum').verifying).toBeNull()
    expect(judgeOn([unsettled, theirs], 'base').verifying).toEqual(unsettled)
    expect(judgeOn([contract, theirs], 'ethereum').verifying).toEqual(theirs)
  })
})

describe('the session with details for policies', () => {
  const [first, second, third] = [session(1), session(2), session(3)]

  test('is the organization’s newest verifying session, never another organization’s', () => {
    expect(findDetailedSession([], 1)).toBeNull()
    expect(findDetailedSession([first, second, { ...third, own: false }], 1)).toBe(second)
    expect(findDetailedSession([{ ...third, own: false }], 1)).toBeNull()
    const others = { ...third, own: false }
    expect(findDetailedSession([{ ...first, level: 1 }, others], 2)).toBeNull()
    expect(findDetailedSession([{ ...first, connected: false }, others], 1)).toBeNull()
    expect(findDetailedSession([first, { ...second, ...rejected }, { ...third, own: false }], 1)).toBeNull()
  })

  test('is null if the wallet belongs to a business or is not verified', () => {
    expect(findDetailedSession([first, { ...second, checkType: 'kyb' }], 1)).toBeNull()
    expect(findDetailedSession([{ ...first, checkType: 'kyb' }, second], 1)).toBe(second)
    expect(findDetailedSession([{ ...first, ...pending }], 1)).toBeNull()
  })
})

test('of two verifications, the session that was decided last counts, regardless of the order of creation', () => {
  const [older, newer] = [session(1, { decidedSequence: 40 }), session(2, { decidedSequence: 30 })]
  for (const checkType of ['kyc', null] as const) {
    expect(judgeStanding([newer, older], 1, checkType).verifying).toBe(older)
    expect(judgeStanding([newer, { ...older, checkType: 'kyb' }], 1, null).verifying).toMatchObject({
      checkType: 'kyb',
    })
  }
  expect(findDetailedSession([newer, older], 1)).toBe(older)
})
