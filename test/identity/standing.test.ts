// The level rule as a table: what verifies a wallet, and what is answered about it.
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
  test('never seen has no status', () => {
    expect(judgeStanding([], 1, null)).toEqual({ verifying: null, status: null, personId: null })
  })

  test.each([1, 2])('completed at level 2 is verified at level %d', (level) => {
    const only = session(1)
    expect(judgeStanding([only], level, null)).toEqual({ verifying: only, status: 'completed', personId: 'person_1' })
  })

  test('rejected by the organization is nobody it knows of by another’s session', () => {
    const own = session(2, { ...rejected, connected: false, personId: null })
    const theirs = session(1, { own: false })
    expect(judgeStanding([own, theirs], 1, null)).toEqual({ verifying: null, status: 'rejected', personId: null })
  })

  test('rejected, and then named without proof in a session that is completed, stays rejected', () => {
    const own = session(1, { ...rejected })
    const unproven = session(2, { connected: false })
    const theirs = session(3, { own: false })
    expect(judgeStanding([own, unproven, theirs], 1, null).verifying).toBeNull()
    expect(judgeStanding([own, { ...unproven, connected: true }, theirs], 1, null).verifying).not.toBeNull()
  })

  test('completed at level 2 is not verified at level 3: its status stays what it is', () => {
    expect(judgeStanding([session(1)], 3, null)).toEqual({
      verifying: null,
      status: 'completed',
      personId: 'person_1',
    })
  })

  for (const status of ['pending', 'submitted', 'retry', 'rejected'] as const) {
    test(`whose session is ${status} is not verified`, () => {
      const standing = judgeStanding([session(1, { ...pending, status })], 1, null)
      expect(standing).toEqual({ verifying: null, status, personId: null })
    })
  }

  test('that a completed session is only meant for, and that was never proven, is not verified', () => {
    expect(judgeStanding([session(1, { connected: false })], 1, null)).toEqual({
      verifying: null,
      status: 'completed',
      personId: null,
    })
  })

  test('verified by another organization is verified here, and its session is the status', () => {
    const others = session(1, { own: false })
    expect(judgeStanding([others], 2, null)).toEqual({ verifying: others, status: 'completed', personId: 'person_1' })
  })

  test('keeps being verified while a newer session is under way; the status is the newer one’s', () => {
    const first = session(1)
    for (const status of ['pending', 'submitted', 'retry'] as const) {
      expect(judgeStanding([session(2, { ...pending, status }), first], 2, null)).toEqual({
        verifying: first,
        status,
        personId: 'person_1',
      })
    }
  })

  test('whose newest session the organization rejected is not verified by an older one, nor by another’s', () => {
    for (const earlier of [session(1), session(1, { own: false }), session(3, { own: false })]) {
      expect(judgeStanding([session(2, rejected), earlier], 1, null)).toMatchObject({
        verifying: null,
        status: 'rejected',
      })
    }
  })

  test('that was rejected stays so while a newer session is under way: registering it again undoes nothing', () => {
    for (const status of ['pending', 'submitted', 'retry'] as const) {
      for (const connected of [false, true]) {
        const again = session(4, { ...pending, status, connected })
        for (const other of [session(1), session(1, { own: false }), session(3, { own: false })]) {
          expect(judgeStanding([again, session(2, rejected), other], 1, null)).toMatchObject({
            verifying: null,
            status,
          })
        }
      }
    }
  })

  test('that another organization rejected is as it was', () => {
    const mine = session(1)
    expect(judgeStanding([mine, session(2, { ...rejected, own: false })], 1, null).verifying).toBe(mine)
  })

  test('completed after a rejection is verified', () => {
    const newest = session(3)
    expect(judgeStanding([newest, session(2, rejected)], 1, null)).toMatchObject({
      verifying: newest,
      status: 'completed',
    })
  })

  test.each(['rejected', 'retry', 'submitted'] as const)(
    'is not verified by a newer session if an older one became %s after its completion',
    (status) => {
      const older = session(1, { ...rejected, status, decidedSequence: 30 })
      for (const completed of [session(2), session(2, { own: false }), session(3, { decidedSequence: 29 })]) {
        expect(judgeStanding([completed, older], 1, null).verifying).toBeNull()
        expect(judgeStanding([older, completed], 1, null).verifying).toBeNull()
      }
    },
  )

  test('is verified by an older session that was completed after a newer one was rejected', () => {
    const older = session(1, { decidedSequence: 30 })
    expect(judgeStanding([session(2, rejected), older], 1, null).verifying).toBe(older)
  })

  test('completed again at too low a level after a rejection is not verified by what was completed before it', () => {
    const before = session(1, { level: 3 })
    const after = session(3, { level: 1 })
    expect(judgeStanding([after, session(2, rejected), before], 3, null).verifying).toBeNull()
    expect(judgeStanding([after, session(2, rejected), before], 1, null).verifying).toBe(after)
  })

  test('of two decisions with one number has the newer session’s', () => {
    const [completed, refused] = [session(2, { decidedSequence: 0 }), session(1, { ...rejected, decidedSequence: 0 })]
    expect(judgeStanding([completed, refused], 1, null).verifying).toBe(completed)
    const newer = session(3, { ...rejected, decidedSequence: 0 })
    expect(judgeStanding([newer, completed], 1, null).verifying).toBeNull()
  })

  test('is answered by its newest verifying session', () => {
    const newest = session(2)
    expect(judgeStanding([session(1), newest], 1, null).verifying).toBe(newest)
    expect(judgeStanding([newest, session(1)], 1, null).verifying).toBe(newest)
  })
})

describe('types', () => {
  const kyc = session(1)
  const kyb = session(2, { checkType: 'kyb' })

  test('without one, any type verifies; with one, that type alone', () => {
    expect(judgeStanding([kyb, kyc], 1, null).verifying).toBe(kyb)
    expect(judgeStanding([kyb, kyc], 1, 'kyc').verifying).toBe(kyc)
    expect(judgeStanding([kyb, kyc], 1, 'kyb').verifying).toBe(kyb)
    expect(judgeStanding([kyc], 1, 'kyb')).toEqual({ verifying: null, status: null, personId: null })
  })

  test('a rejection of one type ends what was completed before it for every type, also by another organization', () => {
    const refusedBusiness = session(2, { ...rejected, checkType: 'kyb' })
    for (const before of [kyc, session(1, { own: false }), session(3, { own: false })]) {
      const sessions = [refusedBusiness, before]
      expect(judgeStanding(sessions, 1, null)).toMatchObject({ verifying: null, status: 'rejected' })
      expect(judgeStanding(sessions, 1, 'kyc').verifying).toBeNull()
    }
  })

  test('completed after a rejection of the other type is verified for the completed type alone', () => {
    const refusedBusiness = session(2, { ...rejected, checkType: 'kyb' })
    const theirs = session(4, { own: false, checkType: 'kyb' })
    const again = session(3)
    const sessions = [again, refusedBusiness, kyc, theirs]
    expect(judgeStanding(sessions, 1, null).verifying).toBe(again)
    expect(judgeStanding(sessions, 1, 'kyb').verifying).toBeNull()
  })
})

describe('an own session that is unsettled', () => {
  const theirs = session(3, { own: false })

  for (const status of ['pending', 'submitted', 'retry', 'completed'] as const) {
    for (const checkType of ['kyc', 'kyb'] as const) {
      for (const connected of [true, false]) {
        test(`outweighs another organization’s result: ${checkType}, ${status}, connected ${connected}`, () => {
          const own = session(1, { ...pending, status, checkType, connected, level: 1, isUnsettled: true })
          expect(judgeStanding([own, theirs], 2, null)).toMatchObject({ verifying: null, status })
          expect(judgeStanding([own, theirs], 2, 'kyc').verifying).toBeNull()
          expect(judgeStanding([{ ...own, isUnsettled: false }, theirs], 2, 'kyc').verifying).toBe(theirs)
        })
      }
    }
  }

  test('leaves the organization’s own verification to the organization', () => {
    const own = session(1, { isUnsettled: true })
    expect(judgeStanding([own, theirs], 1, null).verifying).toBe(own)
  })
})

describe('the proof of a contract wallet', () => {
  const [key, contract] = [session(1), session(2, { provenChain: 'base' })]
  const judgeOn = (sessions: readonly WalletSession[], chain: string | null) =>
    judgeStanding(sessionsOn(sessions, chain), 1, null)

  test('verifies on its own chain only, and identifies nobody elsewhere', () => {
    expect(judgeOn([contract], 'base')).toMatchObject({ verifying: contract, personId: 'person_2' })
    expect(judgeOn([contract], 'ethereum')).toEqual({ verifying: null, status: null, personId: null })
    expect(judgeOn([contract, key], 'ethereum').verifying).toEqual(key)
  })

  test('verifies if no chain is named', () => {
    expect(judgeOn([contract], null)).toMatchObject({ verifying: contract, personId: 'person_2' })
  })

  test('in a rejected session ends a verification on every chain: the address may have a key', () => {
    const refused = session(3, { ...rejected, provenChain: 'base' })
    for (const chain of ['ethereum', 'base', null]) expect(judgeOn([refused, key], chain).verifying).toBeNull()
    expect(judgeOn([{ ...refused, own: false }, key], 'ethereum').verifying).toEqual(key)
  })

  test('in an unsettled session outweighs others on every chain, and verifies on none but its own', () => {
    const theirs = session(3, { own: false })
    const unsettled = { ...contract, isUnsettled: true }
    expect(judgeOn([unsettled, theirs], 'ethereum').verifying).toBeNull()
    expect(judgeOn([unsettled, theirs], 'base').verifying).toEqual(unsettled)
    expect(judgeOn([contract, theirs], 'ethereum').verifying).toEqual(theirs)
  })
})

describe('the session with details for policies', () => {
  const [first, second, third] = [session(1), session(2), session(3)]

  test('is the organization’s own that verifies by itself, never another’s', () => {
    expect(findDetailedSession([], 1)).toBeNull()
    expect(findDetailedSession([first, second, { ...third, own: false }], 1)).toBe(second)
    expect(findDetailedSession([{ ...third, own: false }], 1)).toBeNull()
    expect(
      findDetailedSession(
        [
          { ...first, level: 1 },
          { ...third, own: false },
        ],
        2,
      ),
    ).toBeNull()
    expect(
      findDetailedSession(
        [
          { ...first, connected: false },
          { ...third, own: false },
        ],
        1,
      ),
    ).toBeNull()
    expect(findDetailedSession([first, { ...second, ...rejected }, { ...third, own: false }], 1)).toBeNull()
  })

  test('is none while the wallet is a business’s, or verified by nobody', () => {
    expect(findDetailedSession([first, { ...second, checkType: 'kyb' }], 1)).toBeNull()
    expect(findDetailedSession([{ ...first, checkType: 'kyb' }, second], 1)).toBe(second)
    expect(findDetailedSession([{ ...first, ...pending }], 1)).toBeNull()
  })
})

test('of two verifications, the session decided last counts, whichever was created first', () => {
  const [older, newer] = [session(1, { decidedSequence: 40 }), session(2, { decidedSequence: 30 })]
  for (const checkType of ['kyc', null] as const) {
    expect(judgeStanding([newer, older], 1, checkType).verifying).toBe(older)
    expect(judgeStanding([newer, { ...older, checkType: 'kyb' }], 1, null).verifying).toMatchObject({
      checkType: 'kyb',
    })
  }
  expect(findDetailedSession([newer, older], 1)).toBe(older)
})
